"""What else could have been decided: all feasible allocations, or what a search and random walks found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import AdditiveUtility, Allocation, Utility
from accordant.allocations.enumeration import MOST_OPTIONS, enumerate_options
from accordant.allocations.options import Options
from accordant.allocations.search import best, pool
from accordant.allocations.search import scaled as scaled_together
from accordant.allocations.search.candidate_options import SIZE
from accordant.deliberation.assessment.levels import lowest_at_level
from accordant.deliberation.assessment.random_allocations import at_level
from accordant.deliberation.record import Deliberation
from accordant.errors import InputError
from accordant.randomness import keyed_seed

DRAWN = 2_000  # allocations drawn for each agent: ten of each walk


@dataclass(frozen=True, eq=False)
class Alternatives:
    """What strategies and null hypotheses choose among; the joint decision is one of the options.

    Attributes
    ----------
    options
        Different allocations: all, or those that a search found.
    random
        Agent to what a random decision takes that leaves the agent its utility of the joint decision or more, each as
        likely, shape (draw, patient): shares of each such option once if all are listed, else of allocations that walks
        drew, in which one may repeat.
    """

    options: Options
    random: Mapping[str, NDArray[np.float64]]


def alternatives(
    deliberation: Deliberation, *, limit: int = MOST_OPTIONS, drawn: int = DRAWN, size: int = SIZE
) -> Alternatives:
    """Return what else could have been decided.

    Where there are more allocations than `limit`, a search looks for those worth comparing by the utilities that
    settlement read (`accordant.allocations.search.pool`). First, last and joint allocations, the disagreement, and an
    allocation with the largest sum of scaled utilities, which is exact for utilities that add up, are always among
    them. Settlement searched for itself, and its list is not on the record, but its choice is. The null hypothesis
    takes walks (`accordant.deliberation.assessment.random_allocations`), never that search.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    limit
        How many allocations are listed at most.
    drawn
        How many are drawn for each agent where there are more.
    size
        How many the search lists at most, besides what is on record.
    """
    scenario, joint = deliberation.scenario, deliberation.joint
    listed = enumerate_options(scenario, limit)
    if listed is not None:
        levels = {name: level(utility, listed, joint) for name, utility in deliberation.utilities.items()}
        return Alternatives(listed, {name: listed.shares[each] for name, each in levels.items()})
    random = {
        name: at_level(scenario, utility, joint, drawn, keyed_seed(deliberation.seed, f"walks {name}"))
        for name, utility in deliberation.utilities.items()
    }
    return Alternatives(_searched(deliberation, size), random)


def _searched(deliberation: Deliberation, size: int) -> Options:
    """Return what a search found, and everything on record; agents in the order of their names."""
    seed = keyed_seed(deliberation.seed, "alternatives")
    known = [deliberation.joint]
    for proposals in (deliberation.solo, deliberation.revised):
        known += [proposals[name].allocation for name in sorted(proposals)]
    if deliberation.disagreement is not None:
        known.append(deliberation.disagreement)
    utilities = [deliberation.utilities[name] for name in sorted(deliberation.utilities)]
    largest = largest_sum(deliberation)
    include = list(dict.fromkeys(known if largest is None else [*known, largest]))
    return pool(deliberation.scenario, utilities, include=include, seed=seed, size=size + len(include))


def largest_sum(deliberation: Deliberation) -> Allocation | None:
    """Return a feasible allocation with the largest sum of scaled utilities; None if one does not add up.

    Exact, see `accordant.allocations.search.greedy`.
    """
    utilities = [deliberation.utilities[name] for name in sorted(deliberation.utilities)]
    if not all(isinstance(each, AdditiveUtility) for each in utilities):
        return None
    values = scaled_together(deliberation.scenario, utilities).values
    assert values is not None
    return Allocation(deliberation.scenario, best(deliberation.scenario, values.sum(axis=0)))


def level(utility: Utility, options: Options, joint: Allocation) -> NDArray[np.bool_]:
    """Return which options are liked at least as much as the joint decision, shape (option,)."""
    return np.asarray(utility.of(options.shares) >= lowest_at_level(float(utility.of(joint.shares[None])[0])))


def scaled(utility: Utility, options: Options, seed: int = 0) -> NDArray[np.float64]:
    """Return the utility of each option, lowest 0 and highest 1 over all feasible allocations; all 1 if indifferent.

    Shape (option,). Where the options are not all and the utility is no sum over patients, a seeded search finds lowest
    and highest, and what it missed is cut off at 0 and 1.
    """
    together = scaled_together(options.scenario, [utility], options, seed)
    return np.asarray(np.clip(together.of(options.shares)[0], 0.0, 1.0))


def position(options: Options, allocation: Allocation) -> int:
    """Return where an allocation stands among the options.

    Raises
    ------
    InputError
        If it is not among them.
    """
    found = options.position(allocation)
    if found is None:
        raise InputError(f"an allocation of {options.scenario.name!r} is not among the {len(options)} options")
    return found
