"""`Prioritarian`: a good matters more, the worse off the person is who gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.agents.frameworks.framework import Framework, register
from accordant.agents.frameworks.outcomes import Outcomes
from accordant.agents.parameters import number
from accordant.allocations import AdditiveUtility, Scenario
from accordant.errors import InputError


@register("prioritarian")
@dataclass(frozen=True)
class Prioritarian(Framework):
    """Value of granting a patient: φ(p_with) − φ(p_without) with φ(p) = p^c, concave (Parfit 1997).

    Parameters
    ----------
    power
        c in (0, 1]; 1/2 is the square root, 1 is the utilitarian value, towards 0 only the worst off count.

    Raises
    ------
    InputError
        If the power is not in (0, 1].
    """

    title: ClassVar[str] = "Prioritarian"
    claim: ClassVar[str] = "Grant where it helps most, and count help to those worse off for more."
    code: ClassVar[str] = "worst_off"
    sees = ("p_with", "p_without")

    power: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < number(self.power, "power") <= 1:
            raise InputError(f"power is {self.power}; allowed: above 0, at most 1")

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i (p_with_i^c − p_without_i^c)."""
        del seed
        outcomes = Outcomes.of(scenario)
        return AdditiveUtility(np.power(outcomes.whole, self.power) - np.power(outcomes.without, self.power))
