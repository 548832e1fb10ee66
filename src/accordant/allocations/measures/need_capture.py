"""Need capture: how much of what the most severe patients need they get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.cells import most_severe
from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.scenario import Scenario


@register("need_capture")
@dataclass(frozen=True)
class NeedCapture(Measure):
    """Mean share of the K most severe patients; for whole grants |granted ∩ top K| / K.

    K is the largest number of most severe patients whose joint demand fits the capacities, so 1 can be reached. Ties at
    the K-th place go to the lower id. In [0, 1]; NaN if not even the most severe patient's demand fits.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "max"

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the capture of each allocation, shape (option,)."""
        top = most_severe(scenario)
        return np.asarray(shares[:, top].mean(axis=1)) if top.any() else np.full(len(shares), np.nan)
