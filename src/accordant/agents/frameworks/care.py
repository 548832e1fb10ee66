"""`Care`: those who depend on others come first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from accordant.agents.frameworks.fact_values import read_numbers
from accordant.agents.frameworks.framework import Framework, register
from accordant.agents.frameworks.orders import order_values
from accordant.allocations import AdditiveUtility, Scenario


@register("care")
@dataclass(frozen=True)
class Care(Framework):
    """Dependency first, arrival where that is level (ethics of care: Gilligan 1982; Tronto 1993; Kittay 1999).

    Value of granting a patient: the share of patients whom that one does not come after in the order of (dependency
    falling, arrival rising). It falls strictly along that order (`order_values`), so with places for K patients of
    one unit each the greatest sum is that of the first K: exchanging one of them for a later patient only lowers it.
    """

    title: ClassVar[str] = "Ethics of care"
    claim: ClassVar[str] = "Answer first to those who depend most on others' help."
    code: ClassVar[str] = "dependency"
    sees = ("dependency", "arrival")

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i v_i."""
        del seed
        return AdditiveUtility(order_values(read_numbers(scenario, "dependency"), -read_numbers(scenario, "arrival")))
