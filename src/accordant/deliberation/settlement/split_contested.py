"""`SplitContested`: what all proposals grant stays, the rest is claimed in turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import Allocation
from accordant.allocations.allocation import shares_of
from accordant.arrays import WholeNumbers
from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bands import EQUAL
from accordant.deliberation.settlement.settlement import Settlement, Table, register
from accordant.randomness import keyed_uniform


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

    Parameters
    ----------
    priorities
        Shape (patient,).
    open_claims
        Portions that could be taken now, shape (patient, resource).
    """
    claimed = np.where((open_claims > 0).any(axis=1), priorities, -np.inf)
    return np.flatnonzero(claimed == claimed.max())
