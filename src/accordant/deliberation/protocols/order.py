"""Order effects: what changes if the agents stand in another order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.agents import Agent
from accordant.allocations import Allocation
from accordant.allocations.search import scaled
from accordant.deliberation.record import Deliberation
from accordant.errors import InputError
from accordant.randomness import keyed_uniform


@dataclass(frozen=True, eq=False)
class OrderEffects:
    """Joint decisions under several orders of the same agents.

    Attributes
    ----------
    orders
        Names in each order; the first is the one given, the second its reverse.
    joints
        The joint decision under each.
    changed
        Number of patients who are treated differently from the first order, one number per order; the first is 0.
    utilities
        Agent to its utility of each joint decision, as stated last under the first order and scaled so that over all
        feasible allocations the lowest is 0 and the highest 1.
    """

    orders: tuple[tuple[str, ...], ...]
    joints: tuple[Allocation, ...]
    changed: tuple[int, ...]
    utilities: Mapping[str, tuple[float, ...]]

    @property
    def spread(self) -> dict[str, float]:
        """Agent to the difference between its best and its worst order, in [0, 1]."""
        return {name: max(each) - min(each) for name, each in self.utilities.items()}

    @property
    def any(self) -> bool:
        """Whether some order led to another joint decision."""
        return any(self.changed)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "orders": [list(order) for order in self.orders],
            "joints": [joint.to_json() for joint in self.joints],
            "changed": list(self.changed),
            "utilities": {name: list(each) for name, each in self.utilities.items()},
            "spread": self.spread,
        }


def order_effects(
    run: Callable[[Sequence[Agent]], Deliberation], agents: Sequence[Agent], *, shuffles: int = 0, seed: int = 0
) -> OrderEffects:
    """Run a deliberation under several orders of its agents, and compare the joint decisions.

    Parameters
    ----------
    run
        From agents in an order to a finished deliberation, with everything else fixed, the seed included.
    agents
        At least one. The order given and its reverse are always run.
    shuffles
        How many further orders are drawn, at least 0; an order drawn twice is run once.
    seed
        Of the shuffles.

    Raises
    ------
    InputError
        If there is no agent, or the number of shuffles is negative.
    """
    if not agents or shuffles < 0:
        raise InputError(f"{len(agents)} agents and {shuffles} shuffles; allowed: at least 1 agent and 0 shuffles")
    names = [agent.name for agent in agents]
    drawn = [
        np.argsort(keyed_uniform(seed, (f"{shuffle}:{name}" for name in names)), kind="stable").tolist()
        for shuffle in range(shuffles)
    ]
    positions = dict.fromkeys(map(tuple, [range(len(agents)), range(len(agents) - 1, -1, -1), *drawn]))
    held = [run([agents[position] for position in order]) for order in positions]
    joints = tuple(each.joint for each in held)
    first = held[0]
    scale = scaled(first.scenario, [first.utilities[name] for name in names], first.options, seed)
    utilities = scale.of(np.array([joint.shares for joint in joints]))
    return OrderEffects(
        orders=tuple(tuple(names[position] for position in order) for order in positions),
        joints=joints,
        changed=tuple(int((joint.granted != joints[0].granted).any(axis=1).sum()) for joint in joints),
        utilities={name: tuple(row.tolist()) for name, row in zip(names, utilities, strict=True)},
    )
