"""Nash welfare of outcomes: their geometric mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.measures.outcomes import outcomes
from accordant.allocations.scenario import Scenario


@register("outcome_nash")
@dataclass(frozen=True)
class OutcomeNash(Measure):
    """(Π_i o_i)^{1/n} with o_i = p_without + x_i (p_with − p_without) (Kaneko and Nakamura 1979).

    In [0, 1], and 0 if anybody has an outcome of 0.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "max"

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the geometric mean of each allocation, shape (option,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(np.log(outcomes(scenario, shares)).mean(axis=1)))
