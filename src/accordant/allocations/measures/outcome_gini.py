"""Gini index of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.measures.outcomes import outcomes
from accordant.allocations.scenario import Scenario


@register("outcome_gini")
@dataclass(frozen=True)
class OutcomeGini(Measure):
    """Σ_i Σ_j |o_i − o_j| / (2 n² mean) with o_i = p_without + x_i (p_with − p_without) (Gini 1912).

    In [0, 1 − 1/n]; NaN if every outcome is 0.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "min"

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the index of each allocation, shape (option,).

        With outcomes sorted upwards, Σ_i Σ_j |o_i − o_j| = 2 Σ_i (2 i − n − 1) o_(i).
        """
        ranked = np.sort(outcomes(scenario, shares), axis=1)
        n = ranked.shape[1]
        total = ranked.sum(axis=1)
        spread = np.maximum(0.0, ranked @ (2.0 * np.arange(1, n + 1) - n - 1))
        return np.asarray(np.where(total > 0, spread / (n * np.where(total > 0, total, 1.0)), np.nan))
