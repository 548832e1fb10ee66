"""Outcomes of patients: the chance of a good outcome under the share of the demand that is met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from accordant.agents.frameworks.fact_values import read_numbers
from accordant.allocations import Scenario
from accordant.arrays import Values


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Chances of a good outcome, in [0, 1].

    Attributes
    ----------
    without, whole
        With nothing granted, and with the whole demand granted, shape (patient,).
    """

    without: Values
    whole: Values

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """Read the facts ``p_without`` and ``p_with``.

        Raises
        ------
        UnknownNameError
            If a fact is not there.
        InputError
            If a chance is missing or outside [0, 1].
        """
        return cls(read_numbers(scenario, "p_without"), read_numbers(scenario, "p_with"))

    @property
    def benefit(self) -> Values:
        """What the whole demand adds, shape (patient,)."""
        return self.whole - self.without

    def under(self, shares: Values) -> Values:
        """Return p_without + x (p_with − p_without), shape (option, patient), from shares x of that shape."""
        return self.without + shares * self.benefit
