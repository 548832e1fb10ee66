"""Exposure Gini: how unequal the attention is that open items get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from accordant.arrays import Values
from accordant.slates.measures.measure import SHARE, Goal, Range, SlateMeasure, register
from accordant.slates.serving import Served
from accordant.statistics import gini


@register("exposure_gini")
@dataclass(frozen=True)
class ExposureGini(SlateMeasure):
    """Gini coefficient over open items of Σ_u 1 / log2(1 + rank); items that are never shown count with 0.

    Formula of `accordant.statistics.gini`; attention as in `accordant.slates.slates.attention`.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "inequality of the attention that open items get: 0 is equal, below 1"
    range: ClassVar[Range | None] = SHARE

    def columns(self, served: Served) -> Values:
        """Return the attention that each open item gets from each request, shape (open item, request)."""
        return served.slates.exposure()[served.market.catalogue.open]

    def value(self, sums: Values, served: Served) -> Values:
        """Return the Gini coefficient; NaN if nothing was shown."""
        del served
        return gini(sums)
