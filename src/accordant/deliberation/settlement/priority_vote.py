"""`PriorityVote`: agents rank patients, points are added, resources go down the list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import Allocation
from accordant.allocations.allocation import shares_of
from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bands import EQUAL
from accordant.deliberation.settlement.serial_allocation import served
from accordant.deliberation.settlement.settlement import Settlement, Table, register


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
