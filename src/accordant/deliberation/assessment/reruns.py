"""Reruns: what changes under other protected facts, or if the agents stand in another order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from accordant.agents import Agent
from accordant.allocations import Allocation, Scenario
from accordant.allocations.search import scaled
from accordant.deliberation.assessment.ledger import EQUAL
from accordant.deliberation.assessment.regrets import recorded
from accordant.deliberation.record import Deliberation
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import generator, keyed_seed, keyed_uniform
from accordant.statistics import Estimate, mean_estimate

PERMUTATIONS = 20


@dataclass(frozen=True)
class FlipTest:
    """What changed when protected facts were permuted among claimants and nothing else was.

    Attributes
    ----------
    facts
        Which facts were permuted, together: a claimant gets all of them from one other claimant.
    permutations
        How many permutations.
    touched
        Mean share of claimants whose facts really changed.
    rates
        ``solo NAME``, ``revised NAME`` and ``joint`` to the share of claimants whose share of demand changed, mean over
        permutations. Exactly 0 for a first proposal that cannot see these facts. Not defined if the test is empty.
    empty
        Whether no permutation changed a fact of anybody, so that nothing was tested.
    """

    facts: tuple[str, ...]
    permutations: int
    touched: float
    rates: Mapping[str, Estimate]
    empty: bool


def flip_test(
    scenario: Scenario,
    deliberate: Callable[[Scenario], Deliberation],
    *,
    facts: Sequence[str] | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> FlipTest:
    """Permute protected facts, deliberate again with the same seed, and count the claimants who get another share.

    Parameters
    ----------
    scenario
        With all facts.
    deliberate
        Runs the whole deliberation on a scenario; must use one seed throughout.
    facts
        Which to permute; None for the protected ones.
    permutations
        At least 1.
    seed
        Of the permutations; they depend on it and on claimants' ids alone.

    Raises
    ------
    InputError
        If there is no fact or no permutation.
    UnknownNameError
        If a fact does not exist.
    """
    names = tuple(scenario.protected if facts is None else facts)
    for name in names:
        if name not in scenario.facts:
            raise UnknownNameError("fact", name, scenario.facts)
    if not names or permutations < 1:
        raise InputError(f"{len(names)} facts and {permutations} permutations are given; allowed: at least 1 of each")
    before = {name: allocation.shares for name, allocation in recorded(deliberate(scenario)).items()}
    changed: dict[str, list[float]] = {name: [] for name in before}
    touched = []
    for number in range(permutations):
        other = permuted(scenario, names, keyed_seed(seed, f"flip {number}"))
        touched.append(
            np.mean([a.facts != b.facts for a, b in zip(scenario.claimants, other.claimants, strict=True)])
        )  # fmt: skip
        for name, allocation in recorded(deliberate(other)).items():
            changed[name].append(float((np.abs(allocation.shares - before[name]) > EQUAL).mean()))
    known = any(touched)
    rates = {
        name: mean_estimate(shares if known else (), generator(keyed_seed(seed, name), "resamples"), within=(0, 1))
        for name, shares in changed.items()
    }
    return FlipTest(names, permutations, float(np.mean(touched)), rates, empty=not known)


def permuted(scenario: Scenario, facts: Sequence[str], seed: int) -> Scenario:
    """Return the scenario with some facts handed on among claimants, all of them by one permutation."""
    order = np.argsort(keyed_uniform(seed, scenario.ids), kind="stable")
    for name in facts:
        scenario = scenario.with_facts(name, list(scenario.column(name)[order]))
    return scenario


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
        Number of claimants who are treated differently from the first order, one number per order; the first is 0.
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
        return {name: max(utilities) - min(utilities) for name, utilities in self.utilities.items()}

    @property
    def any(self) -> bool:
        """Whether some order led to another joint decision."""
        return any(self.changed)


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
    joints = tuple(deliberation.joint for deliberation in held)
    first = held[0]
    scale = scaled(first.scenario, [first.utilities[name] for name in names], first.options, seed)
    utilities = scale.of(np.array([joint.shares for joint in joints]))
    return OrderEffects(
        orders=tuple(tuple(names[position] for position in order) for order in positions),
        joints=joints,
        changed=tuple(int((joint.granted != joints[0].granted).any(axis=1).sum()) for joint in joints),
        utilities={name: tuple(row.tolist()) for name, row in zip(names, utilities, strict=True)},
    )
