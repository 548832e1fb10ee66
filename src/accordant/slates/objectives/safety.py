"""Safety: how safe an item is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.state import State


@register("safety")
@dataclass(frozen=True)
class Safety(Objective):
    """`Catalogue.safety` as it is declared."""

    about: ClassVar[str] = "declared to be safe"

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return declared safety, shape (item, 1); NaN where it is unknown."""
        del requests, state
        return catalogue.safety[:, None]
