"""Gini index of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.measures.outcomes import outcomes
from accordant.allocations.scenario import Scenario
from accordant.statistics import gini


@register("outcome_gini")
@dataclass(frozen=True)
class OutcomeGini(Measure):
    """Σ_i Σ_j |o_i − o_j| / (2 n² mean) with o_i = p_without + x_i (p_with − p_without) (Gini 1912).

    In [0, 1 − 1/n]; NaN if every outcome is 0.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "min"

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the index of each allocation, shape (option,)."""
        return gini(outcomes(scenario, shares))
