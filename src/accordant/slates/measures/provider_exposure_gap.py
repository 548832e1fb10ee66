"""Provider exposure gap: how far apart providers, or categories, are in attention for what they offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from accordant.arrays import Values
from accordant.errors import UnknownNameError
from accordant.slates.catalogue import Catalogue
from accordant.slates.measures.measure import Goal, SlateMeasure, ratio, register
from accordant.slates.serving import Served

Between = Literal["provider", "category"]
Target = Literal["items", "popularity", "equal"]


@register("provider_exposure_gap")
@dataclass(frozen=True)
class ProviderExposureGap(SlateMeasure):
    """max_g r_g − min_g r_g with r_g the share of exposure of g over its share of the target [ours].

    r_g = 1 is exposure in proportion to the target (Singh and Joachims 2018 for exposure in proportion to merit). Items
    without a group, closed items and groups with no share of the target do not count.

    Parameters
    ----------
    between
        ``provider`` or ``category``.
    target
        What exposure should be in proportion to: open ``items``, their ``popularity``, or the same for each group,
        ``equal``.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = (
        "exposure over the due share of the group that gets most, less that of the one that gets least; 0 is in "
        "proportion, no upper limit"
    )

    between: Between = "provider"
    target: Target = "items"

    def __post_init__(self) -> None:
        for kind, given, allowed in (("groups", self.between, Between), ("target", self.target, Target)):
            if given not in get_args(allowed):
                raise UnknownNameError(f"{kind} of {self.name}:", given, get_args(allowed))

    def columns(self, served: Served) -> Values:
        """Return the attention that each group gets from each request, shape (group, request)."""
        return np.asarray(self._members(served.market.catalogue) @ served.slates.exposure())

    def value(self, sums: Values, served: Served) -> Values:
        """Return the gap; NaN for fewer than two groups, or if nothing was shown."""
        due = self._due(served.market.catalogue)
        counted = due > 0
        if counted.sum() < 2:
            return np.full(sums.shape[:-1], np.nan)
        exposure = sums[..., counted]
        ratios = ratio(exposure, exposure.sum(axis=-1, keepdims=True)) / (due[counted] / due[counted].sum())
        return np.asarray(ratios.max(axis=-1) - ratios.min(axis=-1))

    def _members(self, catalogue: Catalogue) -> Values:
        """Return 1 where an open item belongs to a group, shape (group, item)."""
        provider = self.between == "provider"
        codes = catalogue.provider_codes if provider else catalogue.category_codes
        names = catalogue.providers if provider else catalogue.categories
        return np.asarray(np.equal.outer(np.arange(len(names)), codes) & catalogue.open, dtype=np.float64)

    def _due(self, catalogue: Catalogue) -> Values:
        members = self._members(catalogue)
        if self.target == "popularity":
            return np.asarray(members @ catalogue.popularity)
        sizes: Values = members.sum(axis=1)
        return sizes if self.target == "items" else np.sign(sizes)
