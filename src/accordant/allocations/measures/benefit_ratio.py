"""Benefit ratio: the benefit of an allocation over the best that is feasible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import shares_of
from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.measures.outcomes import benefits, chance
from accordant.allocations.scenario import Scenario
from accordant.allocations.search.greedy import best

ROUNDING = 1e-14  # a benefit smaller than this, relative to the chances that it adds up, is rounding


@register("benefit_ratio")
@dataclass(frozen=True)
class BenefitRatio(Measure):
    """Σ_i x_i (p_with − p_without)_i over its maximum among all feasible allocations.

    At most 1, and negative where harm prevails; NaN if no feasible allocation has a benefit above 0.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "max"

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ratio of each allocation, shape (option,)."""
        benefit = benefits(scenario)
        most = float(shares_of(scenario, best(scenario, benefit)) @ benefit)
        slack = ROUNDING * float((chance(scenario, "p_with") + chance(scenario, "p_without")).sum())
        return np.asarray(shares @ benefit / most) if most > slack else np.full(len(shares), np.nan)
