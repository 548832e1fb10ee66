"""Outcomes: the chances that an allocation leaves claimants with, how unequal they are, and who has reason for envy.

Envy is justified towards somebody who got more with less need and no more to gain (`envy_pairs`, `justified_envy`):
i envies j justifiably if x_i < x_j, severity_i > severity_j and benefit_i ≥ benefit_j, where x is the share of demand
that is met and benefit = p_with − p_without. For whole grants this is: i is not granted, j is. The term is that of
matching with priorities (Abdulkadiroğlu and Sönmez 2003), where the priority here asks for both facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import Allocation, shares_of
from accordant.allocations.enumeration import best
from accordant.allocations.measures.measure import register
from accordant.allocations.scenario import Scenario
from accordant.arrays import Values
from accordant.errors import InputError
from accordant.statistics import atkinson, gini

ROUNDING = 1e-14  # a benefit smaller than this, relative to the chances that it adds up, is rounding
MOST_AVERSE = 100.0  # beyond this the index is one minus lowest over mean to many digits
MOST_LEVELS = 16  # with more different shares, pairs are compared option by option


def chance(scenario: Scenario, name: str) -> Values:
    """Return a fact that is a probability, shape (claimant,).

    Raises InputError if it is missing, or outside [0, 1] for somebody.
    """
    values = scenario.numbers(name)
    outside = (values < 0) | (values > 1)
    if outside.any():
        worst = int(np.argmax(outside))
        raise InputError(f"{name} of patient {scenario.ids[worst]!r} is {values[worst]:g}; allowed: 0 to 1")
    return values


def benefits(scenario: Scenario) -> Values:
    """Return p_with − p_without, shape (claimant,)."""
    return np.asarray(chance(scenario, "p_with") - chance(scenario, "p_without"))


def outcomes(scenario: Scenario, shares: Values) -> Values:
    """Return p_without + x (p_with − p_without), shape (option, claimant) from shares (option, claimant)."""
    without = chance(scenario, "p_without")
    return np.asarray(without + shares * (chance(scenario, "p_with") - without))


def own_shares(scenario: Scenario, allocation: Allocation) -> Values:
    """Return the shares of an allocation for the claimants of a scenario, shape (claimant,).

    Raises InputError if it is for other claimants or other demands.
    """
    theirs = allocation.scenario
    if theirs is not scenario and (theirs.ids != scenario.ids or not np.array_equal(theirs.demand, scenario.demand)):
        raise InputError(
            f"the allocation is for the scenario {theirs.name!r} of {len(theirs.ids)} patients; "
            f"allowed: the patients and demands of {scenario.name!r}"
        )
    return allocation.shares


def leximin_vector(scenario: Scenario, allocation: Allocation) -> Values:
    """Return the outcomes of all claimants, worst first, shape (claimant,).

    Of two allocations leximin prefers the one whose vector is larger at the first place where they differ (Sen 1970).
    """
    return np.sort(outcomes(scenario, own_shares(scenario, allocation)[None])[0])


@register("max")
def benefit_ratio(scenario: Scenario, shares: Values) -> Values:
    """Return Σ_i x_i (p_with − p_without)_i over its maximum among all feasible allocations.

    At most 1, and negative where harm prevails; NaN if no feasible allocation has a benefit above 0.
    """
    benefit = benefits(scenario)
    most = float(shares_of(scenario, best(scenario, benefit)) @ benefit)
    slack = ROUNDING * float((chance(scenario, "p_with") + chance(scenario, "p_without")).sum())
    return np.asarray(shares @ benefit / most) if most > slack else np.full(len(shares), np.nan)


def _check_aversion(measure: str, epsilon: Any = 0.5) -> None:
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
        raise InputError(f"{measure}: epsilon is {epsilon!r}; allowed: a number")
    if not 0 < epsilon <= MOST_AVERSE:
        raise InputError(f"{measure}: epsilon is {epsilon}; allowed: above 0, at most {MOST_AVERSE:g}")


@register("min", _check_aversion)
def outcome_atkinson(scenario: Scenario, shares: Values, epsilon: float = 0.5) -> Values:
    """Return 1 − (mean o_i^{1−ε})^{1/(1−ε)} / mean o_i, for ε = 1 with the geometric mean (Atkinson 1970).

    With o_i = p_without + x_i (p_with − p_without), and the aversion to inequality ε above 0 and at most 100. In
    [0, 1], and 1 if ε ≥ 1 and somebody has an outcome of 0; NaN if every outcome is 0.
    """
    return atkinson(outcomes(scenario, shares), epsilon)


@register("min")
def outcome_gini(scenario: Scenario, shares: Values) -> Values:
    """Return Σ_i Σ_j |o_i − o_j| / (2 n² mean) (Gini 1912), in [0, 1 − 1/n]; NaN if every outcome is 0."""
    return gini(outcomes(scenario, shares))


@register("max")
def outcome_nash(scenario: Scenario, shares: Values) -> Values:
    """Return (Π_i o_i)^{1/n} (Kaneko and Nakamura 1979), in [0, 1], and 0 if anybody has an outcome of 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(np.log(outcomes(scenario, shares)).mean(axis=1)))


@register("max")
def worst_off_outcome(scenario: Scenario, shares: Values) -> Values:
    """Return min_i o_i, in [0, 1] (Rawls 1971)."""
    return np.asarray(outcomes(scenario, shares).min(axis=1))


@dataclass(frozen=True)
class EnvyPair:
    """A claimant who got less than another with less need and no more to gain.

    Attributes
    ----------
    claimant, other
        Ids of the one who has reason, and of the one who got more.
    shares, severities, benefits
        Of the two, in that order.
    """

    patient: str
    other: str
    shares: tuple[float, float]
    severities: tuple[float, float]
    benefits: tuple[float, float]


def stronger_claims(scenario: Scenario) -> NDArray[np.bool_]:
    """Return whether i has more need than j and no less to gain, shape (claimant, claimant), rows i."""
    severity, benefit = scenario.numbers("severity"), benefits(scenario)
    return np.asarray((severity[:, None] > severity) & (benefit[:, None] >= benefit))


def envy_pairs(scenario: Scenario, allocation: Allocation) -> tuple[EnvyPair, ...]:
    """Return all pairs with justified envy, by id of the one who has reason, then of the other.

    Raises
    ------
    InputError
        If a fact is missing, or the allocation is for other claimants.
    """
    shares = own_shares(scenario, allocation)
    severity, benefit = scenario.numbers("severity"), benefits(scenario)
    pairs = np.argwhere(stronger_claims(scenario) & (shares[:, None] < shares))
    return tuple(
        EnvyPair(
            scenario.ids[i],
            scenario.ids[j],
            (float(shares[i]), float(shares[j])),
            (float(severity[i]), float(severity[j])),
            (float(benefit[i]), float(benefit[j])),
        )
        for i, j in pairs.tolist()
    )


@register("min")
def justified_envy(scenario: Scenario, shares: Values) -> Values:
    """Return the number of pairs (i, j) with x_i < x_j, severity_i > severity_j and benefit_i ≥ benefit_j.

    A whole number from 0 to n(n − 1)/2; `envy_pairs` lists them. It is counted as Σ_ij c_ij [x_i < x_j]
    = Σ_ℓ Σ_ij c_ij [x_i < ℓ] [x_j = ℓ] over the different shares ℓ: one matrix product each.
    """
    claims = stronger_claims(scenario).astype(np.float64)
    levels = levels_of(shares)
    if levels is None:
        return np.array([(claims * (row[:, None] < row)).sum() for row in shares])
    counts = np.zeros(len(shares))
    for level in levels:
        counts += (((shares < level) @ claims) * (shares == level)).sum(axis=1)
    return counts


def levels_of(shares: NDArray[np.float64]) -> list[float] | None:
    """Return the different shares but the lowest, rising; None if there are more than a few."""
    levels: list[float] = []
    lowest = float(shares.min(initial=np.inf))
    left = shares > lowest
    while left.any():
        if len(levels) == MOST_LEVELS:
            return None
        levels.append(float(shares.min(where=left, initial=np.inf)))
        left = shares > levels[-1]
    return levels
