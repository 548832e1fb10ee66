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
from accordant.json_values import field_values
from accordant.randomness import keyed_uniform


def serve(scenario: Scenario, order: Iterable[int]) -> NDArray[np.int64]:
    """Return portions, shape (claimant, resource): everybody in turn gets the demand, as far as something is left.

    Feasible, and nothing is left idle while somebody still demands it, if `order` holds every claimant.

    `scenario`: whose claimants they are; `order`: positions of claimants, the first served first.
    """
    left = scenario.capacity.copy()
    granted = np.zeros_like(scenario.demand)
    for claimant in order:
        granted[claimant] = np.minimum(scenario.demand[claimant], left)
        left -= granted[claimant]
    return granted


def procedural_lottery(scenario: Scenario, seed: int) -> Allocation:
    """Return the allocation by lot: claimants are served in the order of a number drawn for each.

    The number depends on the seed and the claimant's id alone, so no fact of any claimant is read.
    """
    drawn = keyed_uniform(seed, scenario.ids)
    return Allocation(scenario, serve(scenario, np.argsort(drawn, kind="stable").tolist()))


@register("priority_vote")
@dataclass(frozen=True)
class PriorityVote(Settlement):
    """Every agent gives a claimant a point for each claimant it cares for less, and half a point for each it ties with.

    Points (Borda 1784) are added over agents, and claimants are served in falling order of points; ties go to the lower
    id. Only the order of an agent's priorities counts, not their size. Concessions are not read.
    """

    def settle(self, table: Table) -> Settled:
        """Return the joint decision; tied if equal points and unequal shares leave the id to decide."""
        scenario = table.options.scenario
        points = np.sum([borda_points(row) for row in table.priorities], axis=0)
        granted = serve(scenario, np.argsort(-points, kind="stable").tolist())
        shares = shares_of(scenario, granted)
        tied = any(np.ptp(shares[points == level]) > EQUAL for level in np.unique(points))
        details = {"points": dict(zip(scenario.ids, points.tolist(), strict=True))}
        return Settled(self.name, Allocation(scenario, granted), agreed=True, tied=tied, gap=0.0, details=details)


def borda_points(priorities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many claimants have a lower priority, and half of how many others have the same, shape (claimant,)."""
    slack = EQUAL * float(np.abs(priorities).max())
    above = priorities[:, None] - priorities[None, :]
    return np.asarray((above > slack).sum(axis=1) + ((np.abs(above) <= slack).sum(axis=1) - 1) / 2.0)


@dataclass(frozen=True)
class Claim:
    """One turn: an agent takes for one claimant what its own proposal still claims, as far as it is left."""

    agent: str
    patient: str


@register("split_contested")
@dataclass(frozen=True)
class SplitContested(Settlement):
    """Portions that every last proposal grants are granted; for the others agents take turns, one claimant each time.

    A seeded toss over the names of the agents says who begins. An agent takes the claimant it cares for most of those
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
            claimant = int(level[-1][0])
            grant = np.clip(claims[agent, claimant] - granted[claimant], 0, left)
            granted[claimant] += grant
            left -= grant
            taken.append(Claim(table.names[agent], scenario.ids[claimant]))
        tied = any(np.ptp(shares_of(scenario, granted)[claimants]) > EQUAL for claimants in level)
        details = {"agreed_portions": agreed, "turns": list(map(field_values, taken))}
        return Settled(self.name, Allocation(scenario, granted), agreed=True, tied=tied, gap=0.0, details=details)


def wanted_most(priorities: NDArray[np.float64], open_claims: WholeNumbers) -> NDArray[np.intp]:
    """Return the claimants with the highest priority among those with an open claim, lowest position first.

    `priorities`: shape (claimant,); `open_claims`: portions that could be taken now, shape (claimant, resource).
    """
    claimed = np.where((open_claims > 0).any(axis=1), priorities, -np.inf)
    return np.flatnonzero(claimed == claimed.max())
