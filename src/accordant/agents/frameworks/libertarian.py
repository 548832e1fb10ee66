"""`Libertarian`: a just procedure, and no ranking of persons: first come, first served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from accordant.agents.frameworks.fact_values import read_numbers
from accordant.agents.frameworks.framework import Framework, register
from accordant.agents.frameworks.orders import order_values
from accordant.allocations import AdditiveUtility, Scenario


@register("libertarian", aliases=("procedural",))
@dataclass(frozen=True)
class Libertarian(Framework):
    """Value of granting a patient: the share of patients who did not arrive earlier.

    What is just is how holdings came about, not who they go to (Nozick 1974); of procedures, first come, first served.
    """

    title: ClassVar[str] = "Libertarian"
    claim: ClassVar[str] = "Serve in order of arrival; do not rank persons."
    code: ClassVar[str] = "arrival"
    sees = ("arrival",)

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i v_i with v_i the share of patients who arrived no earlier than i, i included."""
        del seed
        return AdditiveUtility(order_values(-read_numbers(scenario, "arrival")))
