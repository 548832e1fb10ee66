"""`Framework`: what an ethical framework values, what it forbids, and what it may look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import Scenario, Utility
from accordant.allocations.scenario import Fact
from accordant.registry import Registry

frameworks: Registry[Framework] = Registry(
    "framework", group="accordant.frameworks", packages=("accordant.agents.frameworks",)
)


@dataclass(frozen=True)
class Grounds:
    """What speaks for one patient.

    Attributes
    ----------
    code
        Which consideration, see `accordant.agents.moves.Reason`.
    facts
        Names of the facts that it reads.
    text
        The numbers of this patient, such as ``severity 0.83``.
    """

    code: str
    facts: tuple[str, ...]
    text: str


class Framework(ABC):
    """An ethical framework with its parameters, a frozen dataclass.

    Class attributes
    ----------------
    name, title
        Registered name, and what people call it.
    claim
        One sentence: what it holds.
    code
        Code of its reasons, see `accordant.agents.moves.Reason`.
    sees
        Facts that it reads; an agent aligned to it is shown these and no others. Where a parameter decides which,
        those of the instance count.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    claim: ClassVar[str]
    code: ClassVar[str]
    sees: tuple[str, ...]

    @abstractmethod
    def utility(self, scenario: Scenario, seed: int) -> Utility:
        """Return how much the framework likes allocations; reads only the facts in `sees`.

        Draws, where there are any, depend on the seed and a patient's id alone.
        """

    def violations(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how many hard constraints each allocation breaks, shape (option,), from shares (option, patient)."""
        del scenario
        return np.zeros(len(shares), dtype=np.int64)

    def binds(self, scenario: Scenario) -> bool:
        """Return whether a hard constraint can be broken here; False where there are none."""
        del scenario
        return False

    def grounds(self, scenario: Scenario, seed: int, patient: int) -> Grounds:
        """Return what speaks for the patient at a position; reads only the facts in `sees`."""
        del seed
        facts = scenario.patients[patient].facts
        return Grounds(self.code, self.sees, ", ".join(f"{name} {said(facts[name])}" for name in self.sees))


def said(value: Fact) -> str:
    """Return a fact as texts write it: numbers that are not whole with two decimals."""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:.2f}"
    return str(value)


register = frameworks.named
