"""`Utilitarian`: the greatest good in total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from accordant.agents.frameworks.fact_values import read_numbers
from accordant.agents.frameworks.framework import Framework, register
from accordant.agents.frameworks.outcomes import Outcomes
from accordant.agents.parameters import truth
from accordant.allocations import AdditiveUtility, Scenario


@register("utilitarian")
@dataclass(frozen=True)
class Utilitarian(Framework):
    """Value of granting a patient: p_with − p_without, the good that the grant adds (Bentham 1789; Mill 1861).

    Parameters
    ----------
    life_years
        Whether the good is weighted by the fact ``life_years``, the years that a good outcome would give. Off by
        default: it puts the old and the disabled last, which is a choice that somebody has to answer for.

    Raises
    ------
    InputError
        If `life_years` is neither true nor false.
    """

    title: ClassVar[str] = "Utilitarian"
    claim: ClassVar[str] = (
        "Grant where the grant adds most to the chance of a good outcome; everybody's good counts alike."
    )
    code: ClassVar[str] = "benefit"
    sees = ("p_with", "p_without")

    life_years: bool = False

    def __post_init__(self) -> None:
        if truth(self.life_years, "life_years"):
            object.__setattr__(self, "sees", (*type(self).sees, "life_years"))

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i (p_with_i − p_without_i), times life years if they count."""
        del seed
        benefit = Outcomes.of(scenario).benefit
        return AdditiveUtility(benefit * read_numbers(scenario, "life_years") if self.life_years else benefit)
