"""Outcomes: the chance of a good outcome that an allocation leaves each patient with."""

from __future__ import annotations

import numpy as np

from accordant.allocations.allocation import Allocation
from accordant.allocations.scenario import Scenario
from accordant.arrays import Values
from accordant.errors import InputError


def chance(scenario: Scenario, name: str) -> Values:
    """Return a fact that is a probability, shape (patient,).

    Raises
    ------
    InputError
        If it is missing, or outside [0, 1] for somebody.
    """
    values = scenario.numbers(name)
    outside = (values < 0) | (values > 1)
    if outside.any():
        worst = int(np.argmax(outside))
        raise InputError(f"{name} of patient {scenario.ids[worst]!r} is {values[worst]:g}; allowed: 0 to 1")
    return values


def benefits(scenario: Scenario) -> Values:
    """Return p_with − p_without, shape (patient,)."""
    return np.asarray(chance(scenario, "p_with") - chance(scenario, "p_without"))


def outcomes(scenario: Scenario, shares: Values) -> Values:
    """Return p_without + x (p_with − p_without), shape (option, patient) from shares (option, patient)."""
    without = chance(scenario, "p_without")
    return np.asarray(without + shares * (chance(scenario, "p_with") - without))


def own_shares(scenario: Scenario, allocation: Allocation) -> Values:
    """Return the shares of an allocation for the patients of a scenario, shape (patient,).

    Raises
    ------
    InputError
        If it is for other patients or other demands.
    """
    theirs = allocation.scenario
    if theirs is not scenario and (theirs.ids != scenario.ids or not np.array_equal(theirs.demand, scenario.demand)):
        raise InputError(
            f"the allocation is for the scenario {theirs.name!r} of {len(theirs.ids)} patients; "
            f"allowed: the patients and demands of {scenario.name!r}"
        )
    return allocation.shares


def leximin_vector(scenario: Scenario, allocation: Allocation) -> Values:
    """Return the outcomes of all patients, worst first, shape (patient,).

    Of two allocations leximin prefers the one whose vector is larger at the first place where they differ (Sen 1970).
    """
    return np.sort(outcomes(scenario, own_shares(scenario, allocation)[None])[0])
