"""Regret under every framework, and how well each agent is served by its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from accordant.agents import Agent
from accordant.agents.frameworks.framework import Framework, Guarded, frameworks
from accordant.allocations import AdditiveUtility, Allocation, Scenario, Utility
from accordant.allocations.search import utility_range
from accordant.deliberation.assessment.alternatives import Alternatives, alternatives, relative_utility
from accordant.deliberation.protocols.views import seed_of
from accordant.deliberation.record import Deliberation
from accordant.errors import UnknownNameError

EQUAL_CHANCE = 0.5  # the mean of a lot that is uniform in [0, 1)


@dataclass(frozen=True, eq=False)
class RegretMatrix:
    """Regrets, each in [0, 1].

    Attributes
    ----------
    allocations
        Rows: ``solo NAME`` and ``revised NAME`` of every agent, and ``joint``.
    frameworks
        Columns.
    regrets
        (best − this) / (best − worst) by the framework's utility over all feasible allocations, shape (row, column);
        0 where the framework is indifferent. A broken hard constraint, such as that of ``rights``, costs one more than
        the range of the utility, so whatever breaks fewer constraints has less regret.
    followed
        For each column, the agents that follow the framework. Then the column is by their standards: their parameters,
        and the lots that they drew. The rows of such an agent are by its own, all other rows by the mean over these
        agents. Where nobody follows a framework that does nothing but draw lots (it has ``lots``), every lot counts ½,
        its mean: nobody drew one, and the framework is indifferent between claimants. Other draws of a framework that
        nobody follows come from the seed of the deliberation.
    exact
        Whether best and worst were found by listing all feasible allocations. Otherwise they are still exact for
        utilities that add up over claimants; for others a search found them, and true regrets may differ.
    missing
        Frameworks left out because the scenario lacks facts they see, with these facts.
    """

    allocations: tuple[str, ...]
    frameworks: tuple[str, ...]
    regrets: NDArray[np.float64]
    followed: tuple[tuple[str, ...], ...]
    exact: bool
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, allocation: str, framework: str) -> float:
        """Return one regret; of an agent's first proposal by the framework that it follows it is the lack of fidelity.

        Raises
        ------
        UnknownNameError
            If there is no such row or column.
        """
        for kind, name, known in (
            ("allocation", allocation, self.allocations),
            ("framework", framework, self.frameworks),
        ):
            if name not in known:
                raise UnknownNameError(kind, name, known)
        return float(self.regrets[self.allocations.index(allocation), self.frameworks.index(framework)])


def regrets(
    deliberation: Deliberation, *, by: Sequence[Framework] | None = None, among: Alternatives | None = None
) -> RegretMatrix:
    """Return the regret of every allocation on record under every framework.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    by
        Frameworks; None for all that are registered, with default parameters. Those that an agent follows are taken
        with the agent's parameters.
    among
        Over what best and worst are taken, if that was already made.
    """
    standards = [frameworks.create(name) for name in frameworks.names()] if by is None else list(by)
    options = (alternatives(deliberation) if among is None else among).options
    scenario, rows = deliberation.scenario, recorded(deliberation)
    places = [options.position(allocation) for allocation in rows.values()]
    owners = [*deliberation.solo, *deliberation.revised, None]
    columns, followed, missing = {}, [], {}
    for standard in standards:
        own = {agent.name: kept for agent in deliberation.agents if (kept := _kept(agent, standard)) is not None}
        lacking = _lacking(scenario, [standard, *own.values()])
        if lacking:
            missing[standard.name] = lacking
            continue
        regret = {
            name: 1.0 - relative_utility(_utility(kept, scenario, seed_of(deliberation.seed, name)), options)[places]
            for name, kept in own.items()
        }
        others = (
            np.mean(list(regret.values()), axis=0)
            if regret
            else 1.0 - relative_utility(_utility(standard, scenario, deliberation.seed, drawn=False), options)[places]
        )
        columns[standard.name] = [regret.get(owner or "", others)[row] for row, owner in enumerate(owners)]
        followed.append(tuple(own))
    matrix = np.array(list(columns.values()), dtype=np.float64).reshape(len(columns), len(rows)).T
    return RegretMatrix(tuple(rows), tuple(columns), matrix, tuple(followed), options.complete, missing)


def _kept(agent: Agent, framework: Framework) -> Framework | None:
    """Return the framework that an agent follows, with its parameters, if it is of this name."""
    own = getattr(agent, "framework", None)
    return own if isinstance(own, Framework) and own.name == framework.name else None


def _lacking(scenario: Scenario, standards: Sequence[Framework]) -> tuple[str, ...]:
    """Return the facts that some framework sees and the scenario lacks."""
    known = set(scenario.facts)
    return tuple(dict.fromkeys(fact for standard in standards for fact in standard.sees if fact not in known))


def _utility(framework: Framework, scenario: Scenario, seed: int, *, drawn: bool = True) -> Utility:
    """Return the utility of a framework under its hard constraints, shown what it sees.

    Where nobody drew the lots of a framework whose values are its `lots` and nothing else, each counts its mean.
    """
    seen = scenario.seen(framework.sees)
    utility = framework.utility(seen, seed)
    if not drawn and _by_lot(framework, utility, seen, seed):
        utility = AdditiveUtility(np.full(len(seen.ids), EQUAL_CHANCE))
    if not framework.binds(seen):
        return utility
    return Guarded(framework, seen, utility, 1.0 + utility_range(seen, utility, seed=seed).width)


def _by_lot(framework: Framework, utility: Utility, seen: Scenario, seed: int) -> bool:
    """Return whether the values of claimants are lots and nothing else."""
    lots = getattr(framework, "lots", None)
    return (
        lots is not None and isinstance(utility, AdditiveUtility) and np.array_equal(utility.values, lots(seen, seed))
    )


def recorded(deliberation: Deliberation) -> dict[str, Allocation]:
    """Return every allocation on record: ``solo NAME`` and ``revised NAME`` of every agent, and ``joint``."""
    rows = {f"solo {name}": proposal.allocation for name, proposal in deliberation.solo.items()}
    rows |= {f"revised {name}": proposal.allocation for name, proposal in deliberation.revised.items()}
    return rows | {"joint": deliberation.joint}


@dataclass(frozen=True)
class Satisfaction:
    """Utilities as the agents stated them, each scaled to [0, 1] over the alternatives.

    Attributes
    ----------
    solo, revised
        Agent to the utility that its first and its last proposal has by its own first and last stated utility. What
        is missing to 1 is lack of fidelity: the agent did not propose what it said it likes best.
    joint
        Agent to its utility of the joint decision, by the utility that settlement used.
    drift
        Value drift: agent to the mean of |first − last stated utility| over the alternatives; 0 if it did not
        change its mind about any of them.
    gap
        Decision gap: largest minus smallest of `joint`.
    exact
        Whether all feasible allocations were compared. Otherwise `drift` is over those that a search found, and the
        scales of utilities that do not add up over claimants come from a search.
    """

    solo: Mapping[str, float]
    revised: Mapping[str, float]
    joint: Mapping[str, float]
    drift: Mapping[str, float]
    gap: float
    exact: bool


def satisfaction(deliberation: Deliberation, *, among: Alternatives | None = None) -> Satisfaction:
    """Return how well each agent is served by its own standard.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    among
        What utilities are scaled over, if that was already made.
    """
    options = (alternatives(deliberation) if among is None else among).options
    first = {name: relative_utility(proposal.utility, options) for name, proposal in deliberation.solo.items()}
    last = {name: relative_utility(proposal.utility, options) for name, proposal in deliberation.revised.items()}
    joint_at = options.position(deliberation.joint)
    joint = {
        name: float(relative_utility(utility, options)[joint_at]) for name, utility in deliberation.utilities.items()
    }
    return Satisfaction(
        solo={name: float(first[name][options.position(deliberation.solo[name].allocation)]) for name in first},
        revised={name: float(last[name][options.position(deliberation.revised[name].allocation)]) for name in last},
        joint=joint,
        drift={name: float(np.abs(first[name] - last[name]).mean()) for name in first},
        gap=max(joint.values()) - min(joint.values()),
        exact=options.complete,
    )
