"""Floor violations: how often a list gives a stakeholder less than the share it has a right to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.slates.gains import ALIKE
from accordant.slates.measures.measure import SHARE, Goal, MeanMeasure, Range, register
from accordant.slates.measures.stakeholder import position
from accordant.slates.serving import Served


@register("floor_violations")
@dataclass(frozen=True)
class FloorViolations(MeanMeasure):
    """Share of requests in which normalised utility is below the floor of the market by more than rounding.

    A request counts if at least one of those asked about has a floor and is not indifferent between all lists.

    Parameters
    ----------
    stakeholder
        Whose floor; None for anybody's, with or without a weight.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "share of requests in which somebody gets less than its declared floor, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    stakeholder: str | None = None

    def of_requests(self, served: Served) -> Values:
        """Return 1 for a request with a violation, else 0."""
        if self.stakeholder is not None:
            position(self.stakeholder, served)
        asked = [name for name in served.market.floors if self.stakeholder in (None, name)]
        rows = [served.market.stakeholders.index(name) for name in asked]
        floors = np.array([served.market.floors[name] for name in asked])
        attained = served.moment.attained[rows]
        known = ~np.isnan(attained)
        broken = (known & (attained < floors[:, None] - ALIKE)).any(axis=0)
        return np.where(known.any(axis=0), broken, np.nan)
