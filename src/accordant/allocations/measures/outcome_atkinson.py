"""Atkinson index of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.measures.outcomes import outcomes
from accordant.allocations.scenario import Scenario
from accordant.errors import InputError
from accordant.statistics import atkinson

MOST_AVERSE = 100.0  # beyond this the index is one minus lowest over mean to many digits


@register("outcome_atkinson")
@dataclass(frozen=True)
class OutcomeAtkinson(Measure):
    """1 − (mean o_i^{1−ε})^{1/(1−ε)} / mean o_i, and 1 − geometric over arithmetic mean for ε = 1 (Atkinson 1970).

    With o_i = p_without + x_i (p_with − p_without). In [0, 1], and 1 if ε ≥ 1 and somebody has an outcome of 0; NaN if
    every outcome is 0.

    Parameters
    ----------
    epsilon
        Aversion to inequality, above 0 and at most 100.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "min"

    epsilon: float = 0.5

    def __post_init__(self) -> None:
        if isinstance(self.epsilon, bool) or not isinstance(self.epsilon, int | float):
            raise InputError(f"{self.name}: epsilon is {self.epsilon!r}; allowed: a number")
        if not 0 < self.epsilon <= MOST_AVERSE:
            raise InputError(f"{self.name}: epsilon is {self.epsilon}; allowed: above 0, at most {MOST_AVERSE:g}")

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the index of each allocation, shape (option,)."""
        return atkinson(outcomes(scenario, shares), self.epsilon)
