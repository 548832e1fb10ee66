"""`Framework`: what an ethical framework values, what it forbids, and what it may look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import Scenario, Utility
from accordant.allocations.scenario import Fact
from accordant.arrays import Values
from accordant.errors import InputError
from accordant.registry import Registry

frameworks: Registry[Framework] = Registry(
    "framework", group="accordant.frameworks", packages=("accordant.agents.frameworks",)
)


@dataclass(frozen=True)
class Grounds:
    """What speaks for one claimant.

    Attributes
    ----------
    code
        Which consideration, see `accordant.agents.moves.Reason`.
    facts
        Names of the facts that it reads.
    text
        The numbers of this claimant, such as ``severity 0.83``.
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

        Draws, where there are any, depend on the seed and a claimant's id alone.
        """

    def violations(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how many hard constraints each allocation breaks, shape (option,), from shares (option, claimant)."""
        del scenario
        return np.zeros(len(shares), dtype=np.int64)

    def binds(self, scenario: Scenario) -> bool:
        """Return whether a hard constraint can be broken here; False where there are none."""
        del scenario
        return False

    def grounds(self, scenario: Scenario, seed: int, claimant: int) -> Grounds:
        """Return what speaks for the claimant at a position; reads only the facts in `sees`."""
        del seed
        facts = scenario.claimants[claimant].facts
        return Grounds(self.code, self.sees, ", ".join(f"{name} {fact_text(facts[name])}" for name in self.sees))


def fact_text(value: Fact) -> str:
    """Return a fact as texts write it: numbers that are not whole with two decimals."""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:.2f}"
    return str(value)


register = frameworks.named


RANGES = {"acuity": (1.0, 5.0), "severity": (0.0, 1.0), "p_with": (0.0, 1.0), "p_without": (0.0, 1.0)}
"""Facts that mean nothing outside a range; see `accordant.allocations.Claimant`."""


def read_numbers(scenario: Scenario, name: str) -> NDArray[np.float64]:
    """Return a fact of every claimant, shape (claimant,), within its range in `RANGES`.

    Raises UnknownNameError if the fact does not exist, or may not be seen by whoever holds the scenario; InputError if
    a value is missing, no number, true or false, or out of range; the message names the claimant.
    """
    for claimant, value in zip(scenario.ids, scenario.column(name).tolist(), strict=True):
        if isinstance(value, bool | np.bool_):
            raise InputError(f"the fact {name!r} of patient {claimant!r} is {value}; allowed: a number")
    values = scenario.numbers(name)
    low, high = RANGES.get(name, (-np.inf, np.inf))
    wrong = np.flatnonzero((values < low) | (values > high))
    if len(wrong):
        claimant = scenario.ids[int(wrong[0])]
        raise InputError(
            f"the fact {name!r} of patient {claimant!r} is {values[wrong[0]]:g}; allowed: {low:g} to {high:g}"
        )
    return values


@dataclass(frozen=True, eq=False)
class Guarded:
    """A framework's utility, less for each broken hard constraint than anything else could make up for.

    So the constraints stay known where only utilities are read, as in settlement: they are given up last.

    Attributes
    ----------
    framework
        Whose constraints they are.
    scenario
        Whose claimants they are for.
    utility
        Without constraints.
    loss
        What a broken constraint costs: more than the range of the utility over feasible allocations.
    """

    framework: Framework
    scenario: Scenario
    utility: Utility
    loss: float

    def of(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the utility less the losses, shape (option,)."""
        return np.asarray(self.utility.of(shares) - self.loss * self.framework.violations(self.scenario, shares))

    def to_json(self) -> Any:
        """Return the utility without constraints, and what breaking one costs."""
        return {"form": "guarded", "utility": self.utility.to_json(), "loss": self.loss}


def guarded_utility(framework: Framework, scenario: Scenario, seed: int) -> Utility:
    """Return the utility of a framework, guarded where one of its hard constraints can be broken."""
    from accordant.allocations.search import utility_range

    utility = framework.utility(scenario, seed)
    if not framework.binds(scenario):
        return utility
    return Guarded(framework, scenario, utility, 1.0 + utility_range(scenario, utility, seed=seed).width)


def order_values(*keys: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of claimants whom each one does not come after, in (0, 1], shape (claimant,).

    Claimants are ordered by the first key, highest first, where that is level by the second, and so on. The value
    falls strictly along that order and is the same for those who are level: if i comes before j, then i comes after
    nobody whom j does not come after, and j comes after i.

    `keys`: shape (claimant,) each.
    """
    rows = np.column_stack(keys)
    _, places = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(places.ravel())
    return np.asarray(np.cumsum(counts)[places.ravel()] / len(rows), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Chances of a good outcome, in [0, 1].

    `without`, `whole`: with nothing granted, and with the whole demand granted, shape (claimant,).
    """

    without: Values
    whole: Values

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """Read the facts ``p_without`` and ``p_with``.

        Raises UnknownNameError if a fact is not there; InputError if a chance is missing or outside [0, 1].
        """
        return cls(read_numbers(scenario, "p_without"), read_numbers(scenario, "p_with"))

    @property
    def benefit(self) -> Values:
        """What the whole demand adds, shape (claimant,)."""
        return self.whole - self.without

    def under(self, shares: Values) -> Values:
        """Return p_without + x (p_with − p_without), shape (option, claimant), from shares x of that shape."""
        return self.without + shares * self.benefit
