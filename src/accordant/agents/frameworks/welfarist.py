"""Welfarist frameworks, which look at outcomes only: the sum, the worse off, enough, the worst off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from accordant.agents.frameworks.framework import Framework, Outcomes, read_numbers, register
from accordant.agents.parameters import number, truth
from accordant.allocations import AdditiveUtility, Scenario, Utility
from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.json_values import field_values


@register("utilitarian")
@dataclass(frozen=True)
class Utilitarian(Framework):
    """Value of granting a claimant: p_with − p_without, the good that the grant adds (Bentham 1789; Mill 1861).

    Parameters
    ----------
    life_years
        Whether the good is weighted by the fact ``life_years``, the years that a good outcome would give. Off by
        default: it puts the old and the disabled last, which is a choice that somebody has to answer for.

    Raises InputError if `life_years` is neither true nor false.
    """

    title: ClassVar[str] = "Utilitarian"
    claim: ClassVar[str] = (
        "Grant where the grant adds most to the chance of a good outcome; everybody's good counts alike."
    )
    code: ClassVar[str] = "benefit"
    sees = ("p_with", "p_without")

    life_years: bool = False

    def __post_init__(self) -> None:
        if truth(self.life_years, "life_years"):
            object.__setattr__(self, "sees", (*type(self).sees, "life_years"))

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i (p_with_i − p_without_i), times life years if they count."""
        del seed
        benefit = Outcomes.of(scenario).benefit
        return AdditiveUtility(benefit * read_numbers(scenario, "life_years") if self.life_years else benefit)


@register("prioritarian")
@dataclass(frozen=True)
class Prioritarian(Framework):
    """Value of granting a claimant: φ(p_with) − φ(p_without) with φ(p) = p^c, concave (Parfit 1997).

    Parameters
    ----------
    power
        c in (0, 1]; 1/2 is the square root, 1 is the utilitarian value, towards 0 only the worst off count.

    Raises InputError if the power is not in (0, 1].
    """

    title: ClassVar[str] = "Prioritarian"
    claim: ClassVar[str] = "Grant where it helps most, and count help to those worse off for more."
    code: ClassVar[str] = "worst_off"
    sees = ("p_with", "p_without")

    power: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < number(self.power, "power") <= 1:
            raise InputError(f"power is {self.power}; allowed: above 0, at most 1")

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i (p_with_i^c − p_without_i^c)."""
        del seed
        outcomes = Outcomes.of(scenario)
        return AdditiveUtility(np.power(outcomes.whole, self.power) - np.power(outcomes.without, self.power))


ROUNDING = 1e-12  # an outcome this little below the threshold has reached it


@dataclass(frozen=True, eq=False)
class Lifted:
    """How many claimants are lifted to a threshold θ: p_without < θ ≤ outcome.

    `outcomes`: of the claimants; `threshold`: θ in (0, 1].
    """

    outcomes: Outcomes
    threshold: float

    def of(self, shares: Values) -> Values:
        """Return how many are lifted, shape (option,)."""
        enough = self.threshold - ROUNDING
        lifted = (self.outcomes.without < enough) & (self.outcomes.under(shares) >= enough)
        return np.asarray(lifted.sum(axis=1), dtype=np.float64)

    def to_json(self) -> Any:
        """Return the form, and the outcomes that it reads."""
        return {"form": "lifted", "threshold": self.threshold} | field_values(self.outcomes)


@register("sufficientarian")
@dataclass(frozen=True)
class Sufficientarian(Framework):
    """Lift as many as possible over a threshold of the chance of a good outcome (Frankfurt 1987; Crisp 2003).

    Parts of a demand count for nothing unless they lift, so the utility is not additive in shares.

    Parameters
    ----------
    threshold
        θ in (0, 1].

    Raises InputError if θ is not in (0, 1].
    """

    title: ClassVar[str] = "Sufficientarian"
    claim: ClassVar[str] = "See that as many as possible have enough, before anybody has more."
    code: ClassVar[str] = "threshold"
    sees = ("p_with", "p_without")

    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < number(self.threshold, "threshold") <= 1:
            raise InputError(f"threshold is {self.threshold}; allowed: above 0, at most 1")

    def utility(self, scenario: Scenario, seed: int) -> Lifted:
        """Return how many claimants are lifted."""
        del seed
        return Lifted(Outcomes.of(scenario), self.threshold)


FORMS = ("severity", "leximin")


@dataclass(frozen=True, eq=False)
class WorstFirst:
    """The outcome that, if everybody had it, would be as good: −(1/κ) ln mean_i exp(−κ o_i) (Kolm 1976; Pollak 1971).

    Leximin compares the lowest outcomes, where they are level the second lowest, and so on. No number per allocation
    expresses that order for every set of outcomes, so this one approximates it from above: κ → ∞ gives the lowest
    outcome. Where outcomes sorted from the lowest first differ by more than ln(n)/κ, the order is that of leximin:
    the term exp(−κ o) of the lower one then outweighs those of all n claimants from there on in the other allocation.
    Smaller differences may be traded among claimants, and outcomes more than 36/κ above the lowest are lost in
    rounding.

    `outcomes`: of the claimants; `aversion`: κ above 0.
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
        return {"form": "worst first", "aversion": self.aversion} | field_values(self.outcomes)


@register("rawlsian")
@dataclass(frozen=True)
class Rawlsian(Framework):
    """Put those first who are worst off (Rawls 1971; leximin: Sen 1970).

    Parameters
    ----------
    form
        ``severity``: value of granting a claimant is the fact ``severity``; the greedy form, which looks at how badly
        off somebody is and not at what a grant changes. ``leximin``: of outcomes, see `WorstFirst`.
    aversion
        κ of `WorstFirst`; 50 tells outcomes of 12 claimants apart from a difference of .05 on.

    Raises UnknownNameError if there is no such form; InputError if the aversion is not above 0.
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
