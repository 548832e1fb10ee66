"""`Objective`: one function from items, users and what has happened so far to numbers in [0, 1], and its registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from accordant.arrays import Values
from accordant.registry import Registry
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.state import State

objectives: Registry[Objective] = Registry(
    "objective", group="accordant.objectives", packages=("accordant.slates.objectives",)
)


@dataclass(frozen=True)
class Objective(ABC):
    """A measurable property of showing an item to a user, a frozen dataclass of its parameters.

    Whether more of it is good is not its business: a stakeholder declares a direction.

    Class attributes
    ----------------
    name
        Registered name.
    about
        One phrase that says what 1 means: ``load of today over capacity, at most 1``.
    """

    name: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> Values:
        """Return the objective in [0, 1], shape (item, user) or (item, 1) if it is the same for all users.

        NaN where it is not known, such as the price of an item without one.
        """


register = objectives.named
