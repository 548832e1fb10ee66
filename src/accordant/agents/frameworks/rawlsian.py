"""`Rawlsian`: those who are worst off come first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from accordant.agents.frameworks.fact_values import read_numbers
from accordant.agents.frameworks.framework import Framework, register
from accordant.agents.frameworks.outcomes import Outcomes
from accordant.agents.parameters import number
from accordant.allocations import AdditiveUtility, Scenario, Utility
from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError

FORMS = ("severity", "leximin")


@dataclass(frozen=True, eq=False)
class WorstFirst:
    """The outcome that, if everybody had it, would be as good: −(1/κ) ln mean_i exp(−κ o_i) (Kolm 1976; Pollak 1971).

    Leximin compares the lowest outcomes, where they are level the second lowest, and so on. No number per allocation
    expresses that order for every set of outcomes, so this one approximates it from above: κ → ∞ gives the lowest
    outcome. Where outcomes sorted from the lowest first differ by more than ln(n)/κ, the order is that of leximin:
    the term exp(−κ o) of the lower one then outweighs those of all n patients from there on in the other allocation.
    Smaller differences may be traded among patients, and outcomes more than 36/κ above the lowest are lost in rounding.

    Attributes
    ----------
    outcomes
        Of the patients.
    aversion
        κ above 0.
    """

    outcomes: Outcomes
    aversion: float

    def of(self, shares: Values) -> Values:
        """Return the equivalent outcome of each allocation, shape (option,), in [0, 1]."""
        reached = self.outcomes.under(np.asarray(shares, dtype=np.float64))
        lowest = reached.min(axis=1, keepdims=True)
        return np.asarray(
            lowest[:, 0] - np.log(np.exp(self.aversion * (lowest - reached)).mean(axis=1)) / self.aversion
        )

    def to_json(self) -> Any:
        """Return the form, and the outcomes that it reads."""
        return {
            "form": "worst first",
            "aversion": self.aversion,
            "without": self.outcomes.without.tolist(),
            "whole": self.outcomes.whole.tolist(),
        }


@register("rawlsian")
@dataclass(frozen=True)
class Rawlsian(Framework):
    """Put those first who are worst off (Rawls 1971; leximin: Sen 1970).

    Parameters
    ----------
    form
        ``severity``: value of granting a patient is the fact ``severity``; the greedy form, which looks at how badly
        off somebody is and not at what a grant changes. ``leximin``: of outcomes, see `WorstFirst`.
    aversion
        κ of `WorstFirst`; 50 tells outcomes of 12 patients apart from a difference of .05 on.

    Raises
    ------
    UnknownNameError
        If there is no such form.
    InputError
        If the aversion is not above 0.
    """

    title: ClassVar[str] = "Rawlsian"
    claim: ClassVar[str] = "Grant first to those who are worst off, whatever that costs the others."
    code: ClassVar[str] = "severity"
    sees = ("severity",)

    form: Literal["severity", "leximin"] = "severity"
    aversion: float = 50.0

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UnknownNameError("form of the framework 'rawlsian'", self.form, FORMS)
        if not 0 < number(self.aversion, "aversion") < np.inf:
            raise InputError(f"aversion is {self.aversion}; allowed: above 0")
        if self.form == "leximin":
            object.__setattr__(self, "sees", ("p_with", "p_without"))
            object.__setattr__(self, "code", "worst_off")

    def utility(self, scenario: Scenario, seed: int) -> Utility:
        """Return Σ_i x_i severity_i, or the outcome that stands for those of all under a steep aversion."""
        del seed
        if self.form == "leximin":
            return WorstFirst(Outcomes.of(scenario), self.aversion)
        return AdditiveUtility(read_numbers(scenario, "severity"))
