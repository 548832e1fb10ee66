"""Popularity: how often an item was consumed before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.state import State


@register("popularity")
@dataclass(frozen=True)
class Popularity(Objective):
    """log(1 + times consumed) over that of the most popular item [ours]: 1 is the most popular.

    The logarithm keeps one famous item from making all others look alike.
    """

    about: ClassVar[str] = "the most popular item; logarithmic in how often items were consumed"

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return popularity, shape (item, 1); 0 for all where nothing was consumed."""
        del requests, state
        logs = np.log1p(catalogue.popularity)
        return np.asarray(logs / max(float(logs.max(initial=0.0)), 1e-12))[:, None]
