"""Long tail: how many items are more popular."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.state import State

ALONE = 0.5  # a single item is neither head nor tail


@register("long_tail")
@dataclass(frozen=True)
class LongTail(Objective):
    """The share of other items that are more popular, equally popular ones counting one half [ours].

    Ranks, unlike counts, do not depend on how famous the most famous item is. Equal popularity of all gives ½ for all.

    Parameters
    ----------
    tail
        None for the share itself. Else the part of the catalogue that counts as tail, in (0, 1]: 1 for items with a
        share of at least 1 − tail, 0 for others.
    """

    about: ClassVar[str] = "the least popular item; the share of other items that are more popular"
    tail: float | None = None

    def __post_init__(self) -> None:
        if self.tail is not None and not 0 < self.tail <= 1:
            raise InputError(f"tail is {self.tail}; allowed: above 0 and at most 1, or nothing")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return the share, or whether an item is in the tail, shape (item, 1)."""
        del requests, state
        shares = more_popular(catalogue.popularity)
        return (shares if self.tail is None else (shares >= 1.0 - self.tail).astype(np.float64))[:, None]


def more_popular(popularity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of other items that are more popular, ties counting one half, shape (item,)."""
    n_items = len(popularity)
    if n_items < 2:
        return np.full(n_items, ALONE)
    ordered = np.sort(popularity)
    above = n_items - np.searchsorted(ordered, popularity, side="right")
    level = np.searchsorted(ordered, popularity, side="right") - np.searchsorted(ordered, popularity, side="left") - 1
    return np.asarray((above + 0.5 * level) / (n_items - 1))
