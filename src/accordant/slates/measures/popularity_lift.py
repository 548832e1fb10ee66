"""Popularity lift: how much more popular what is shown is than what users chose by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import UnknownNameError
from accordant.slates.measures.measure import Goal, SlateMeasure, ratio, register
from accordant.slates.serving import Served

Against = Literal["history", "targets"]


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
        means = [_mean(served, served.slates.shown()), _mean(served, consumed)]
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


def _mean(served: Served, counts: NDArray[np.bool_] | Values) -> Values:
    times = counts.astype(np.float64)
    return ratio(served.market.catalogue.popularity @ times, times.sum(axis=0))
