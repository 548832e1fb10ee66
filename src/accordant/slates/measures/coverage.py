"""Coverage: the share of open items that anybody is ever shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.slates.measures.measure import SHARE, Goal, Range, SlateMeasure, ratio, register
from accordant.slates.serving import Served


@register("coverage")
@dataclass(frozen=True)
class Coverage(SlateMeasure):
    """Open items shown at least once over open items (catalogue coverage, Herlocker et al. 2004).

    A resample holds fewer different users than the data, so resamples cover less: the interval lies low, and may lie
    below the value.
    """

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "share of open items that are shown to anybody, in [0, 1]; resamples cover less"
    range: ClassVar[Range | None] = SHARE

    def columns(self, served: Served) -> Values:
        """Return whether each open item is shown to each request, shape (open item, request)."""
        return served.slates.shown()[served.market.catalogue.open].astype(np.float64)

    def value(self, sums: Values, served: Served) -> Values:
        """Return the share; NaN if every item is closed."""
        del served
        return ratio((sums > 0).sum(axis=-1).astype(np.float64), np.array(float(sums.shape[-1])))
