"""Lay the table: from the utilities last stated to what a settlement rule reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from accordant.agents import Agent, Proposal
from accordant.allocations import AdditiveUtility, Allocation, Scenario, Utility
from accordant.allocations.allocation import Options
from accordant.allocations.measures.measure import Criterion, met
from accordant.allocations.search import pool, scaled
from accordant.allocations.search.utility_scale import numbers_of
from accordant.deliberation.settlement import Table
from accordant.deliberation.settlement.bands import EQUAL
from accordant.errors import InputError, InvalidMoveError


def laid_table(
    scenario: Scenario,
    agents: Sequence[Agent],
    proposals: Mapping[str, Proposal],
    disagreement: Allocation,
    *,
    options: Options | None,
    criteria: Sequence[Criterion] = (),
    seed: int = 0,
) -> Table:
    """Return the table of a deliberation.

    Rows stand in the order of the agents' names, whatever the order of `agents`.

    Parameters
    ----------
    scenario
        With all facts: criteria may need facts that agents do not see.
    agents
        Who takes part.
    proposals
        Agent to its last proposal, whose utility is read.
    disagreement
        What happens without an agreement.
    options
        All feasible allocations; None if they are too many, then a search finds some.
    criteria
        Declared beforehand.
    seed
        Of tosses and of the search.

    Raises InvalidMoveError if a utility does not give one finite number for each option.
    """
    ordered = sorted(agents, key=lambda agent: agent.name)
    names = tuple(agent.name for agent in ordered)
    stated = [proposals[name].utility for name in names]
    fixed = [proposals[name].allocation for name in names] + [disagreement]
    alone = np.concatenate([np.eye(len(scenario.ids)), [each.shares for each in fixed]])
    for name, utility in zip(names, stated, strict=True):
        checked(name, utility, alone)
    if options is None:
        options = pool(scenario, stated, include=fixed, seed=seed)
    try:
        scale = scaled(scenario, stated, options, seed)
    except InputError:
        for name, utility in zip(names, stated, strict=True):
            checked(name, utility, options.shares)
        raise
    utilities = np.clip(scale.of(options.shares), 0.0, 1.0)
    utilities[utilities < EQUAL] = 0.0  # an agent's worst is 0, not rounding
    utilities.setflags(write=False)
    positions = [position_of(each, options) for each in fixed]
    return Table(
        options=options,
        utilities=utilities,
        priorities=np.array([priorities_of(utility, scenario) for utility in stated]),
        values=scale.values,
        floors=scale.floors,
        concessions=tuple(agent.concession for agent in ordered),
        revised=np.array(positions[:-1], dtype=np.intp),
        disagreement=positions[-1],
        met=met(criteria, scenario, options.shares) if criteria else np.zeros((0, len(options)), dtype=bool),
        seed=seed,
        names=names,
    )


def checked(name: str, utility: Utility, shares: NDArray[np.float64]) -> None:
    """Refuse a utility that does not give one finite number for each allocation, or numbers too far apart.

    `name`: of the agent; `utility`: what it stated; `shares`: allocations that are tried, shape (option, patient).

    Raises
    ------
    InvalidMoveError
        With the name of the agent.
    """
    try:
        found = numbers_of(utility, shares)
        with np.errstate(over="ignore"):
            wide = not np.isfinite(np.ptp(found))
    except (InputError, ValueError, TypeError, IndexError) as error:
        raise InvalidMoveError(f"agent {name!r}: its utility cannot be read: {error}") from error
    if wide:
        raise InvalidMoveError(
            f"agent {name!r}: its utility is between {found.min():g} and {found.max():g}; "
            "allowed: a difference below 1e308"
        )


def priorities_of(utility: Utility, scenario: Scenario) -> NDArray[np.float64]:
    """Return how much an agent likes to meet the whole demand of one patient and nobody else's, shape (patient,)."""
    if isinstance(utility, AdditiveUtility):
        return utility.values
    return np.asarray(utility.of(np.eye(len(scenario.ids))), dtype=np.float64)


def position_of(allocation: Allocation, options: Options) -> int:
    """Return where an allocation stands among the options.

    Raises InputError if it is not there.
    """
    position = options.position(allocation)
    if position is None:
        raise InputError(f"the allocation {allocation.to_json()} is not among the {len(options)} options")
    return position
