"""Exposure share: how far an item is behind the attention that it should have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.exposure_claims import behind, check_power, item_claims
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.state import State


@register("exposure_share")
@dataclass(frozen=True)
class ExposureShare(Objective):
    """claim / (claim + share of attention so far) of an item [ours]; see `accordant.slates.objectives.exposure_claims`.

    Parameters
    ----------
    power
        Claims are in proportion to popularity^power: 0 is the same for every open item, 1 is merit by popularity.
    """

    about: ClassVar[str] = "an item that had no attention so far, though it has a claim; one half is on target"
    power: float = 0.0

    def __post_init__(self) -> None:
        check_power(self.power)

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return how far each item is behind, shape (item, 1)."""
        del requests
        return behind(item_claims(catalogue, self.power), state.exposure)[:, None]
