"""From deliberations to expected rewards, so that everything that reads E can read what agents said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np

from accordant.agents import Proposal
from accordant.allocations import AdditiveUtility
from accordant.allocations.allocation import Options
from accordant.allocations.enumeration import enumerate_options
from accordant.deliberation.assessment.alternatives import alternatives, scaled
from accordant.deliberation.record import Deliberation
from accordant.errors import InputError
from accordant.utilities import ExpectedRewards

GRANTING = ("Grant", "Not grant")


def expected_rewards(deliberations: Sequence[Deliberation], *, options: Options | None = None) -> ExpectedRewards:
    """Return E[agent, allocation, deliberation]: the utility that settlement read, scaled to [0, 1] over the options.

    Parameters
    ----------
    deliberations
        With the same agents by name, and scenarios with the same ids, demands and capacities: their facts and seeds
        may differ, so that actions mean the same in every context.
    options
        The actions; None for all feasible allocations or, for a single deliberation with too many, those that a search
        found.

    Returns
    -------
    Expected rewards with agents as stakeholders, and actions called after the patients who are granted anything; where
    that names two allocations alike, the amounts follow.

    Raises
    ------
    InputError
        If there is no deliberation, or they do not share agents, patients, demands and capacities.
    """
    if not deliberations:
        raise InputError("expected rewards need at least one deliberation")
    first = deliberations[0]
    for each in deliberations:
        _check_alike(first, each)
    if options is None and len(deliberations) > 1:
        options = enumerate_options(first.scenario)
        if options is None:
            raise InputError("allocations are too many to list; give the options that all deliberations share")
    elif options is None:
        options = alternatives(first).options
    values = [[scaled(each.utilities[name], options) for each in deliberations] for name in first.utilities]
    return ExpectedRewards(
        np.moveaxis(np.array(values), 1, 2), stakeholders=tuple(first.utilities), actions=names_of(options)
    )


def patient_rewards(deliberation: Deliberation, *, last: bool = True) -> ExpectedRewards:
    """Return E[agent, Grant or Not grant, patient] from the values that agents state for patients.

    The value v of a patient becomes E = ½ + ½ v / max |v| for Grant and ½ − ½ v / max |v| for Not grant, with the
    maximum over the agent's patients: an agent without opinion is indifferent. A strategy under a budget of Grant then
    allocates units. The mapping is ours; it loses nothing where utilities are additive and every demand is one unit.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    last
        Whether to read the last proposals; otherwise the first ones.

    Raises
    ------
    InputError
        If an agent's utility is not a sum of values of patients.
    """
    proposals = deliberation.revised if last else deliberation.solo
    grant = np.array([_relative_values(name, each) for name, each in proposals.items()])
    values = np.stack([(1 + grant) / 2, (1 - grant) / 2], axis=1)
    return ExpectedRewards(values, stakeholders=tuple(proposals), actions=GRANTING)


def names_of(options: Options) -> tuple[str, ...]:
    """Return a name for each option: the ids of those who are granted anything, with amounts if that is not enough."""
    ids = options.scenario.ids
    given = options.granted.sum(axis=2) > 0
    names = [" + ".join(compress(ids, row)) or "nobody" for row in given.tolist()]
    if len(set(names)) == len(names):
        return tuple(names)
    return tuple(
        " + ".join(
            f"{ids[place]} {'/'.join(map(str, granted[place].tolist()))}"
            for place in np.flatnonzero(granted.sum(axis=1))
        )
        or "nobody"
        for granted in options.granted
    )


def _check_alike(first: Deliberation, other: Deliberation) -> None:
    a, b = first.scenario, other.scenario
    if tuple(first.utilities) != tuple(other.utilities):
        raise InputError(f"agents are {', '.join(other.utilities)} in one and {', '.join(first.utilities)} in another")
    if a.ids != b.ids or not np.array_equal(a.demand, b.demand) or not np.array_equal(a.capacity, b.capacity):
        raise InputError(f"scenarios {a.name!r} and {b.name!r} differ in patients, demands or capacities")


def _relative_values(name: str, proposal: Proposal) -> np.ndarray:
    if not isinstance(proposal.utility, AdditiveUtility):
        raise InputError(f"the utility of agent {name!r} is no sum of values of patients")
    values = proposal.utility.values
    largest = float(np.abs(values).max())
    return values / largest if largest > 0 else values
