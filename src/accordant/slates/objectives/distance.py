"""Distance: how far the item is from where the user is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.objectives.positions import ways
from accordant.slates.state import State


@register("distance")
@dataclass(frozen=True)
class Distance(Objective):
    """min(1, kilometres / reach) along a great circle [ours].

    Parameters
    ----------
    reach_km
        From here on everything is equally far, above 0. The default is what one walks in an hour.
    """

    about: ClassVar[str] = "as far as the reach, or further"
    reach_km: float = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.reach_km < np.inf:
            raise InputError(f"reach_km is {self.reach_km}; allowed: kilometres above 0")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return distance over reach, shape (item, user); NaN where a position is unknown."""
        del state
        return np.minimum(1.0, ways(catalogue, requests) / self.reach_km)
