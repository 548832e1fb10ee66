"""Novelty: whether the user never had the item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.state import State


@register("novelty")
@dataclass(frozen=True)
class Novelty(Objective):
    """1 if the item is not in the user's history, else 0. To a user without a history everything is new."""

    about: ClassVar[str] = "the user never consumed the item"

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return whether an item is new to a user, shape (item, user)."""
        del catalogue, state
        return np.asarray(requests.history == 0, dtype=np.float64)
