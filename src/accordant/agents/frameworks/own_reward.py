"""Speaking for oneself: a stakeholder of a decision problem who looks at nothing but its own expected reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from accordant.agents.frameworks.framework import Framework, read_numbers
from accordant.agents.parameters import text
from accordant.allocations import AdditiveUtility, Scenario


@dataclass(frozen=True)
class OwnReward(Framework):
    """Value of granting a claimant: one fact, what the grant brings to the stakeholder who is spoken for.

    Claimants are the actions of one decision, or rows that compete for one action. The framework is not registered: it
    holds for one stakeholder of a decision problem and is no standard by which an allocation among patients could be
    judged.

    Parameters
    ----------
    fact
        The fact of the claimants that is read, called after the stakeholder.

    Raises InputError if the fact is no text.
    """

    name: ClassVar[str] = "own_reward"
    title: ClassVar[str] = "Own expected reward"
    claim: ClassVar[str] = "Grant where that brings most to oneself."
    code: ClassVar[str] = "expected_reward"

    fact: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "sees", (text(self.fact, "fact"),))
        object.__setattr__(self, "title", f"Own expected reward of {self.fact}")
        claim = f"Grant where the fact {self.fact}, what a grant brings this stakeholder in expectation, is highest."
        object.__setattr__(self, "claim", claim)

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i e_i with e_i the fact of claimant i."""
        del seed
        return AdditiveUtility(read_numbers(scenario, self.fact))
