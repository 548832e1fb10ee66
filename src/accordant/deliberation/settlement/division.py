"""Settlement by handing out: down a voted list, by lot, or contested units in turns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import Allocation, Scenario
from accordant.allocations.allocation import shares_of
from accordant.arrays import WholeNumbers
from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bands import EQUAL
from accordant.deliberation.settlement.settlement import Settlement, Table, register
from accordant.randomness import keyed_uniform


def served(scenario: Scenario, order: Iterable[int]) -> NDArray[np.int64]:
    """Return portions, shape (patient, resource): everybody in turn gets the demand, as far as something is left.

    Feasible, and nothing is left idle while somebody still demands it, if `order` holds every patient.

    `scenario`: whose patients they are; `order`: positions of patients, the first served first.
    """
    left = scenario.capacity.copy()
    granted = np.zeros_like(scenario.demand)
    for patient in order:
        granted[patient] = np.minimum(scenario.demand[patient], left)
        left -= granted[patient]
    return granted


def procedural_lottery(scenario: Scenario, seed: int) -> Allocation:
    """Return the allocation by lot: patients are served in the order of a number drawn for each.

    The number depends on the seed and the patient's id alone, so no fact of any patient is read.
    """
    drawn = keyed_uniform(seed, scenario.ids)
    return Allocation(scenario, served(scenario, np.argsort(drawn, kind="stable").tolist()))


@register("priority_vote")
@dataclass(frozen=True)
class PriorityVote(Settlement):
    """Every agent gives a patient a point for each patient it cares for less, and half a point for each it ties with.

    Points (Borda 1784) are added over agents, and patients are served in falling order of points; ties go to the lower
    id. Only the order of an agent's priorities counts, not their size. Concessions are not read.
    """

    def settle(self, table: Table) -> Settled:
        """Return the joint decision; tied if equal points and unequal shares leave the id to decide."""
        scenario = table.options.scenario
        points = np.sum([borda_points(row) for row in table.priorities], axis=0)
        granted = served(scenario, np.argsort(-points, kind="stable").tolist())
        shares = shares_of(scenario, granted)
        tied = any(np.ptp(shares[points == level]) > EQUAL for level in np.unique(points))
        return Settled(
            self.name,
            Allocation(scenario, granted),
            agreed=True,
            tied=tied,
            gap=0.0,
            details={"points": dict(zip(scenario.ids, points.tolist(), strict=True))},
        )


def borda_points(priorities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many patients have a lower priority, and half of how many others have the same, shape (patient,)."""
    slack = EQUAL * float(np.abs(priorities).max())
    above = priorities[:, None] - priorities[None, :]
    return np.asarray((above > slack).sum(axis=1) + ((np.abs(above) <= slack).sum(axis=1) - 1) / 2.0)


@dataclass(frozen=True)
class Claim:
    """One turn: an agent takes for one patient what its own proposal still claims, as far as it is left."""

    agent: str
    patient: str


@register("split_contested")
@dataclass(frozen=True)
class SplitContested(Settlement):
    """Portions that every last proposal grants are granted; for the others agents take turns, one patient each time.

    A seeded toss over the names of the agents says who begins. An agent takes the patient it cares for most of those
    for whom its own last proposal claims more; ties go to the lower id. As every proposal leaves nothing idle,
    whoever's turn it is has a claim while something is left, so the result is feasible and leaves nothing idle.
    Concessions are not read.
    """

    def settle(self, table: Table) -> Settled:
        """Return the joint decision; tied if equal priorities and unequal shares leave the id to decide."""
        scenario = table.options.scenario
        claims = table.options.granted[table.revised].astype(np.int64)
        granted = claims.min(axis=0)
        left = np.minimum(scenario.capacity, scenario.demand.sum(axis=0)) - granted.sum(axis=0)
        agreed = int(granted.sum())
        turns = np.argsort(keyed_uniform(table.seed, table.names), kind="stable").tolist()
        taken: list[Claim] = []
        level: list[NDArray[np.intp]] = []
        while left.any():
            agent = turns[len(taken) % len(turns)]
            level.append(wanted_most(table.priorities[agent], np.minimum(claims[agent] - granted, left)))
            patient = int(level[-1][0])
            grant = np.clip(claims[agent, patient] - granted[patient], 0, left)
            granted[patient] += grant
            left -= grant
            taken.append(Claim(table.names[agent], scenario.ids[patient]))
        return Settled(
            self.name,
            Allocation(scenario, granted),
            agreed=True,
            tied=any(np.ptp(shares_of(scenario, granted)[each]) > EQUAL for each in level),
            gap=0.0,
            details={
                "agreed_portions": agreed,
                "turns": [{"agent": claim.agent, "patient": claim.patient} for claim in taken],
            },
        )


def wanted_most(priorities: NDArray[np.float64], open_claims: WholeNumbers) -> NDArray[np.intp]:
    """Return the patients with the highest priority among those with an open claim, lowest position first.

    `priorities`: shape (patient,); `open_claims`: portions that could be taken now, shape (patient, resource).
    """
    claimed = np.where((open_claims > 0).any(axis=1), priorities, -np.inf)
    return np.flatnonzero(claimed == claimed.max())
