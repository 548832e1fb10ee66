"""Measures about items and providers: how exposure is spread, what is full, and what popularity has to do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.catalogue import Catalogue
from accordant.slates.market import Served
from accordant.slates.measures.measure import SHARE, DailyMeasure, Goal, Range, SlateMeasure, ratio, register
from accordant.statistics import gini

Between = Literal["provider", "category"]
Target = Literal["items", "popularity", "equal"]
ROUNDING = 1e-12  # shares of popularity this close are equal
Against = Literal["history", "targets"]


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


@register("long_tail_share")
@dataclass(frozen=True)
class LongTailShare(SlateMeasure):
    """Exposure of the tail over all exposure; the head is the fewest items with a share of popularity.

    The head is filled from the most popular item on, equals in declared order, until it holds the share (Abdollahpouri,
    Burke and Mobasher 2017 with 0.8).

    Parameters
    ----------
    head
        Share of all popularity that the head holds, in (0, 1).
    """

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "share of attention that goes to items outside the most popular ones, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    head: float = 0.8

    def __post_init__(self) -> None:
        if not 0 < self.head < 1:
            raise InputError(f"the share of the head is {self.head}; allowed: above 0 and below 1")

    def columns(self, served: Served) -> Values:
        """Return the attention that the tail and all items get from each request, shape (2, request)."""
        exposure = served.slates.exposure()
        return np.stack([exposure[tail(served.market.catalogue, self.head)].sum(axis=0), exposure.sum(axis=0)])

    def value(self, sums: Values, served: Served) -> Values:
        """Return the share; NaN if nothing was shown, or nothing was ever consumed."""
        if not served.market.catalogue.popularity.any():
            return np.full(sums.shape[:-1], np.nan)
        return ratio(sums[..., 0], sums[..., 1])


def tail(catalogue: Catalogue, head: float) -> NDArray[np.bool_]:
    """Return whether an item is outside the fewest most popular ones with a share `head` of popularity, shape (item,).

    Closed items count as well: which items are famous does not depend on a scenario.
    """
    popularity = catalogue.popularity
    order = np.argsort(-popularity, kind="stable")
    before = np.cumsum(popularity[order]) - popularity[order]
    outside = np.empty(len(order), dtype=bool)
    outside[order] = before >= head * popularity.sum() * (1 - ROUNDING)
    return outside


@register("popularity_lift")
@dataclass(frozen=True)
class PopularityLift(SlateMeasure):
    """Mean popularity of items shown over mean popularity of what users consumed.

    Means over each user's items first, then over requests: 1 plus the ΔGAP of Abdollahpouri, Mansoury, Burke and
    Mobasher 2019. Above 1, lists push what is popular already. Requests with nothing consumed or shown do not count.

    Parameters
    ----------
    against
        What was consumed before, ``history``, each item as often as it was, or afterwards, ``targets``.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "popularity of what is shown over that of what users chose; above 1 adds to popularity"

    against: Against = "history"

    def __post_init__(self) -> None:
        if self.against not in get_args(Against):
            raise UnknownNameError(f"reference of {self.name}:", self.against, get_args(Against))

    def columns(self, served: Served) -> Values:
        """Return the mean popularity of what is shown, and of what was consumed, shape (2, request)."""
        consumed = served.history if self.against == "history" else served.targets
        if consumed is None:
            return np.zeros((2, served.slates.n_users))
        means = [_mean_popularity(served, served.slates.shown()), _mean_popularity(served, consumed)]
        known = ~np.isnan(means).any(axis=0)
        return np.where(known, means, 0.0)

    def value(self, sums: Values, served: Served) -> Values:
        """Return the lift; NaN if no request counts, or what was consumed had no popularity."""
        del served
        return ratio(sums[..., 0], sums[..., 1])

    def requests(self, served: Served) -> int:
        """Return how many requests have something shown and something consumed."""
        consumed = served.history if self.against == "history" else served.targets
        return 0 if consumed is None else int((consumed.any(axis=0) & (served.slates.lengths > 0)).sum())


def _mean_popularity(served: Served, counts: NDArray[np.bool_] | Values) -> Values:
    times = counts.astype(np.float64)
    return ratio(served.market.catalogue.popularity @ times, times.sum(axis=0))
