"""`Framework`: what an ethical framework values, what it forbids, and what it may look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import Scenario, Utility
from accordant.registry import Registry

frameworks: Registry[Framework] = Registry(
    "framework", group="accordant.frameworks", packages=("accordant.agents.frameworks",)
)


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
        Facts that it reads; an agent aligned to it is shown these and no others.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    claim: ClassVar[str]
    code: ClassVar[str]
    sees: ClassVar[tuple[str, ...]]

    @abstractmethod
    def utility(self, scenario: Scenario, seed: int) -> Utility:
        """Return how much the framework likes allocations; reads only the facts in `sees`.

        Draws, where there are any, depend on the seed and a patient's id alone.
        """

    def violations(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how many hard constraints each allocation breaks, shape (option,), from shares (option, patient)."""
        del scenario
        return np.zeros(len(shares), dtype=np.int64)


Rule = TypeVar("Rule", bound=type[Framework])


def register(name: str, *, aliases: tuple[str, ...] = ()) -> Callable[[Rule], Rule]:
    """Return a class decorator that names a framework and registers it."""

    def decorate(rule: Rule) -> Rule:
        """Name and register one framework."""
        registered: Any = frameworks.register(name, aliases=aliases)(rule)
        registered.name = name
        return rule

    return decorate
