"""`Settlement`: from the utilities on the table to the joint decision, by a named rule; and how the table is laid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.agents import Agent, Proposal
from accordant.agents.concession import Concession
from accordant.allocations import AdditiveUtility, Allocation, Scenario, Utility
from accordant.allocations.allocation import Options
from accordant.allocations.measures.measure import Criterion, met
from accordant.allocations.search import pool, scaled
from accordant.allocations.search.utility_scale import numbers_of
from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bands import EQUAL
from accordant.errors import InputError, InvalidMoveError
from accordant.registry import Registry

settlements: Registry[Settlement] = Registry(
    "settlement rule", group="accordant.settlements", packages=("accordant.deliberation.settlement",)
)


@dataclass(frozen=True, eq=False)
class Table:
    """What a settlement rule reads.

    Attributes
    ----------
    options
        Allocations to choose from.
    utilities
        Of each agent, scaled so that over all feasible allocations the lowest is 0 and the highest 1 (all 1 where an
        agent is indifferent), shape (agent, option).
    priorities
        How much each agent cares for meeting the whole demand of each claimant alone, in any units, shape
        (agent, claimant).
    values
        The same as `utilities` per claimant where every utility is additive, shape (agent, claimant), so that
        ``utilities = floors[:, None] + values @ shares.T``; None otherwise. Bounds on what a search missed read them.
    floors
        See `values`, shape (agent,).
    concessions
        Of each agent.
    revised
        Position of each agent's last proposal in `options`, shape (agent,).
    disagreement
        Position of the allocation without an agreement in `options`.
    met
        Whether each option meets each declared criterion, shape (criterion, option).
    seed
        Of tosses.
    names
        Of the agents; tosses are keyed by them, so that the order of the agents does not matter.
    """

    options: Options
    utilities: NDArray[np.float64]
    priorities: NDArray[np.float64]
    values: NDArray[np.float64] | None
    floors: NDArray[np.float64] | None
    concessions: tuple[Concession, ...]
    revised: NDArray[np.intp]
    disagreement: int
    met: NDArray[np.bool_]
    seed: int
    names: tuple[str, ...]


class Settlement(ABC):
    """A settlement rule with its parameters, a frozen dataclass."""

    name: ClassVar[str]

    def check(self, names: Sequence[str], conceding: Sequence[Concession]) -> None:
        """Refuse agents that the rule cannot read; asked before the deliberation begins.

        Raises
        ------
        InputError
            For example, if a time-based rule meets a concession that is not.
        """
        del names, conceding

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that rebuild the rule: ``settlements.create(name, parameters)``."""
        return {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}  # type: ignore[arg-type]

    def agreed(self, table: Table, option: int, **others: Any) -> Settled:
        """Return an option as the joint decision."""
        return Settled(self.name, table.options.allocation(option), agreed=True, **others)

    def not_agreed(self, table: Table, **others: Any) -> Settled:
        """Return the disagreement allocation."""
        return Settled(self.name, table.options.allocation(table.disagreement), agreed=False, **others)

    @abstractmethod
    def settle(self, table: Table) -> Settled:
        """Return the joint decision; the same for every order of the agents, except where a toss is named.

        Raises
        ------
        InputError
            If the rule cannot read these agents, such as a time-based rule for a concession that is not.
        """


register = settlements.named


def lay_table(
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
    alone = np.concatenate([np.eye(len(scenario.ids)), [allocation.shares for allocation in fixed]])
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
    positions = [options.position(allocation) for allocation in fixed]
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

    `name`: of the agent; `utility`: what it stated; `shares`: allocations that are tried, shape (option, claimant).

    Raises
    ------
    InvalidMoveError
        With the name of the agent.
    """
    try:
        numbers = numbers_of(utility, shares)
        with np.errstate(over="ignore"):
            wide = not np.isfinite(np.ptp(numbers))
    except (InputError, ValueError, TypeError, IndexError) as error:
        raise InvalidMoveError(f"agent {name!r}: its utility cannot be read: {error}") from error
    if wide:
        raise InvalidMoveError(
            f"agent {name!r}: its utility is between {numbers.min():g} and {numbers.max():g}; "
            "allowed: a difference below 1e308"
        )


def priorities_of(utility: Utility, scenario: Scenario) -> NDArray[np.float64]:
    """Return how much an agent likes to meet the whole demand of one claimant and nobody else's, shape (claimant,)."""
    if isinstance(utility, AdditiveUtility):
        return utility.values
    return np.asarray(utility.of(np.eye(len(scenario.ids))), dtype=np.float64)
