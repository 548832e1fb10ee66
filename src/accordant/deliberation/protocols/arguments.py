"""What is given to a protocol, checked before anybody is asked."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import SupportsIndex

from accordant.agents import Agent, check_allowed
from accordant.allocations import Allocation, Scenario
from accordant.allocations.allocation import unlike
from accordant.errors import InputError


def checked_agents(agents: Iterable[Agent], *, allow_adversarial: bool) -> tuple[Agent, ...]:
    """Return the agents as a tuple.

    Raises
    ------
    InputError
        If there is none, a name is no text, two share a name, or one is adversarial without leave.
    """
    taking_part = tuple(agents)
    if not taking_part:
        raise InputError("a deliberation needs at least one agent")
    names = [agent.name for agent in taking_part]
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"an agent is called {name!r}; allowed: a text")
        if names.count(name) > 1:
            raise InputError(f"two agents are called {name!r}; allowed: a name of its own for each")
    for agent in taking_part:
        check_allowed(agent, allow_adversarial=allow_adversarial)
    return taking_part


def checked_disagreement(given: Allocation, scenario: Scenario) -> Allocation:
    """Return the same grants to the patients with all facts.

    Raises
    ------
    InputError
        If it is for other patients, demands or resources, or infeasible here.
    """
    differs = unlike(given.scenario, scenario)
    if differs is not None:
        raise InputError(f"the disagreement allocation {differs}")
    return Allocation(scenario, given.granted)


def whole(number: int, what: str) -> int:
    """Return a whole number as Python's own, whatever its type: records and hashes know no other.

    Raises
    ------
    InputError
        If it is none; a truth value is none either.
    """
    if isinstance(number, bool) or not isinstance(number, SupportsIndex):
        raise InputError(f"{what} is {number!r}; allowed: a whole number")
    return operator.index(number)
