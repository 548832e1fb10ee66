"""Overload: the share of visits that an item gets beyond its capacity of the day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.slates.measures.daily import DailyMeasure
from accordant.slates.measures.measure import SHARE, Goal, Range, ratio, register
from accordant.slates.serving import Served


@register("overload")
@dataclass(frozen=True)
class Overload(DailyMeasure):
    """Σ_{day, c} max(0, visits − capacity_c) / Σ_{day, c} visits [ours].

    Visits are those that the market expects of the lists, summed over all requests of a day.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "share of expected visits beyond the capacity of an item on a day, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def daily(self, served: Served) -> Values:
        """Return the visits of each request, shape (item, request)."""
        return served.visits

    def parts(self, sums: Values, served: Served) -> Values:
        """Return visits beyond capacity, and visits."""
        beyond = np.maximum(sums - served.market.catalogue.capacity, 0.0)
        return np.stack([beyond.sum(axis=-1), sums.sum(axis=-1)], axis=-1)

    def whole(self, parts: Values) -> Values:
        """Return the share; NaN if nobody visits anything."""
        return ratio(parts[..., 0], parts[..., 1])
