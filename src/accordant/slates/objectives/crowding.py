"""Crowding: how full a place is today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.exposure_claims import shares
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.state import State


@register("crowding")
@dataclass(frozen=True)
class Crowding(Objective):
    """min(1, (visits of today + visits of others) / capacity) [ours].

    Parameters
    ----------
    others
        Visits per day to all items by people who see no list, spread in proportion to popularity; at least 0.
    """

    about: ClassVar[str] = "visits of today reach the capacity, or the item is closed"
    others: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.others < np.inf:
            raise InputError(f"others is {self.others}; allowed: visits per day, at least 0")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return load over capacity, shape (item, 1): 0 without a limit, 1 without any capacity."""
        del requests
        known = catalogue.popularity.sum() > 0
        load = state.load + self.others * shares(catalogue.popularity if known else np.ones(catalogue.n_items))
        full = np.divide(load, catalogue.capacity, out=np.ones(catalogue.n_items), where=catalogue.open)
        return np.asarray(np.minimum(1.0, full))[:, None]
