"""Long-tail share: the attention that goes to items outside the popular ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue
from accordant.slates.measures.measure import SHARE, Goal, Range, SlateMeasure, ratio, register
from accordant.slates.serving import Served

ROUNDING = 1e-12  # shares of popularity this close are equal


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
