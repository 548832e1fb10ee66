"""Worst-off outcome: the outcome of the patient who is left with the least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.measures.outcomes import outcomes
from accordant.allocations.scenario import Scenario


@register("worst_off_outcome")
@dataclass(frozen=True)
class WorstOffOutcome(Measure):
    """min_i o_i with o_i = p_without + x_i (p_with − p_without), in [0, 1] (Rawls 1971)."""

    name: ClassVar[str]
    goal: ClassVar[Goal] = "max"

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the lowest outcome of each allocation, shape (option,)."""
        return np.asarray(outcomes(scenario, shares).min(axis=1))
