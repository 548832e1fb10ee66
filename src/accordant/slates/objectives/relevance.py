"""Relevance: what is predicted that the user wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.state import State


@register("relevance")
@dataclass(frozen=True)
class Relevance(Objective):
    """`Requests.relevance` as it is: learned by a recommender, or stated."""

    about: ClassVar[str] = "predicted to be what the user wants most"

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return predicted relevance, shape (item, user)."""
        del catalogue, state
        return requests.relevance
