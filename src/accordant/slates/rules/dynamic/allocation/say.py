"""`SayAllocation`: from fairness and compatibility to shares of the say, and the registry of such mechanisms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.registry import Registry
from accordant.strategies.selection import TIE_TOLERANCE

say_allocations: Registry[SayAllocation] = Registry(
    "say allocation", group="accordant.say_allocations", packages=("accordant.slates.rules.dynamic.allocation",)
)


@dataclass(frozen=True)
class SayAllocation(ABC):
    """A mechanism with its parameters, a frozen dataclass.

    Class attributes
    ----------------
    name
        Registered name.
    reads_compatibility
        Whether shares depend on it.
    """

    name: ClassVar[str]
    reads_compatibility: ClassVar[bool] = False

    def check(self, stakeholders: Sequence[str]) -> None:
        """Stop if a parameter names somebody who does not exist; nothing is named here."""
        del stakeholders

    @abstractmethod
    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return the share of each stakeholder, at least 0, with sum at most 1; what is missing goes to nobody.

        Parameters
        ----------
        names
            Of the stakeholders who may be given a say, at least one.
        fairness, compatibility
            m and c in [0, 1], shape (stakeholder,).
        weights
            Above 0, shape (stakeholder,); mechanisms with scores multiply by them [ours].
        """


register = say_allocations.named


def normalised(scores: Values) -> Values:
    """Return scores over their sum; 0 for all, so that nobody is served, if all scores are 0."""
    total = scores.sum()
    return np.asarray(scores / total if total > 0 else np.zeros_like(scores))


def only(position: int, size: int) -> Values:
    """Return the shares that give one stakeholder everything."""
    shares = np.zeros(size)
    shares[position] = 1.0
    return shares


def first_largest(scores: Values) -> int:
    """Return the position of the largest score; ties, but for rounding, go to the stakeholder declared first."""
    return int(np.flatnonzero(scores >= scores.max() - TIE_TOLERANCE)[0])
