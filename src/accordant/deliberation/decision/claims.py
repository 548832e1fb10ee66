"""E as claims on something scarce: one decision to give to an action, or units of an action to give to rows.

Every feasible allocation gives all units away, so each of them takes exactly one action, or grants exactly as many rows
as there are units: nobody can hold out for less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.allocations import Allocation, Claimant, Resource, Scenario
from accordant.allocations.allocation import Options
from accordant.allocations.enumeration import enumerate_options
from accordant.arrays import Values
from accordant.utilities import ExpectedRewards

DECISION = "decision"  # the only unit that there is where actions are the claimants
DIGITS = 12  # of sums of expected rewards: what differs less is level


@dataclass(frozen=True, eq=False)
class Claims:
    """A scenario whose claimants know what they are worth to each stakeholder.

    Attributes
    ----------
    scenario
        Claimants, each with one fact per stakeholder.
    ids
        Claimants in the declared order.
    totals
        Utilitarian sum of what each is worth to those with positive weight, shape (claimant,), in the order of `ids`.
    """

    scenario: Scenario
    ids: tuple[str, ...]
    totals: Values

    @classmethod
    def of_actions(cls, expected: ExpectedRewards, with_weight: Sequence[str]) -> Claims:
        """Return the claims of actions on the decision of one context.

        `expected`: E of that context alone; `with_weight`: stakeholders with positive weight.
        """
        worth = dict(zip(expected.stakeholders, expected.values[:, :, 0], strict=True))
        return cls._of(expected.actions, worth, with_weight, Resource(DECISION, 1), "action")

    @classmethod
    def of_rows(
        cls, expected: ExpectedRewards, rows: Sequence[int], grant: str, otherwise: str, capacity: int,
        with_weight: Sequence[str],
    ) -> Claims:  # fmt: skip
        """Return the claims of rows on an action: what it brings each stakeholder beyond the other action.

        `expected`: E of these rows alone; `rows`: their positions in the file; `capacity`: how many get the action.
        """
        granted, other = expected.actions.index(grant), expected.actions.index(otherwise)
        gains = expected.values[:, granted, :] - expected.values[:, other, :]
        worth = dict(zip(expected.stakeholders, gains, strict=True))
        return cls._of(row_names(rows), worth, with_weight, Resource(grant, capacity), "row")

    @classmethod
    def _of(
        cls, ids: Sequence[str], worth: dict[str, Values], with_weight: Sequence[str], resource: Resource, noun: str
    ) -> Claims:
        claimants = [
            Claimant(name, {who: float(values[place]) for who, values in worth.items()})
            for place, name in enumerate(ids)
        ]
        totals = np.sum([worth[who] for who in with_weight], axis=0)
        return cls(Scenario(claimants, [resource], name=resource.name, noun=noun), tuple(ids), np.round(totals, DIGITS))

    def options(self) -> Options | None:
        """Return all feasible allocations in the order of ties: the highest sum first, then as declared.

        None where they are too many to list.
        """
        listed = enumerate_options(self.scenario)
        if listed is None:
            return None
        granted = listed.granted[:, [self.scenario.index(name) for name in self.ids], 0].astype(np.float64)
        sums = np.round(granted @ self.totals, DIGITS)
        order = np.lexsort([*(-granted[:, ::-1].T), -sums])
        return Options(self.scenario, listed.granted[order], complete=True)

    def without_agreement(self) -> Allocation:
        """Return the allocation with the highest sum, the first as declared of several."""
        units = int(self.scenario.capacity[0])
        order = np.argsort(-self.totals, kind="stable")[:units]
        return Allocation.whole(self.scenario, [self.ids[place] for place in order])


def row_names(rows: Sequence[int]) -> list[str]:
    """Return what rows are called."""
    return [f"row {row}" for row in rows]
