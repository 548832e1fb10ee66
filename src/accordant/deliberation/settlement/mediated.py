"""`Mediated`: where bargaining ends, a mediator may go a little further to meet more of the declared criteria."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bands import EQUAL, STEPS, first_common, largest
from accordant.deliberation.settlement.gaps import no_deal_gap
from accordant.deliberation.settlement.settlement import Table, register
from accordant.deliberation.settlement.time_based import TimeBased, checked_steps, exponents_of, told
from accordant.errors import InputError

WIDENING = 0.1  # share of an agent's whole range of utility that a mediator may ask of it


@register("mediated")
@dataclass(frozen=True)
class Mediated(TimeBased):
    """Bargain up to the first common time, widen all bands by 0.1, take the option that meets most declared criteria.

    Ties go to the largest product of utilities, then to the lowest index. If nothing is common up to t = 1, the bands
    of t = 1 are widened; if still nothing is common, the disagreement allocation is taken. Without criteria it is
    bargaining with wider bands.

    Parameters
    ----------
    widening
        How far below their bands the agents are asked to go, in [0, 1].
    steps
        Parts of the grid of times, at least 1.
    """

    widening: float = WIDENING
    steps: int = STEPS

    def __post_init__(self) -> None:
        if not 0 <= self.widening <= 1:
            raise InputError(f"widening is {self.widening}; allowed: 0 to 1")
        checked_steps(self.steps)

    def settle(self, table: Table) -> Settled:
        """Return the joint decision; no bound is known on what a search missed.

        Where nothing is within the widened bands the gap is 0 if it is certain that no feasible allocation is.
        """
        exponents = exponents_of(self.name, table.names, table.concessions)
        found = first_common(table.utilities, exponents, self.steps)
        lowest = found.bands - self.widening - EQUAL
        within = (table.utilities >= lowest[:, None]).all(axis=0)
        details = {**told(table, found), "within": int(np.count_nonzero(within)), "criteria": len(table.met)}
        if not within.any():
            allocation = table.options.allocation(table.disagreement)
            gap = no_deal_gap(table, exponents, self.widening)
            return Settled(self.name, allocation, agreed=False, gap=gap, details=details)
        met = table.met.sum(axis=0)
        most = within & (met == met[within].max())
        best = largest(table.utilities.prod(axis=0), most)
        chosen = int(best.argmax())
        return Settled(
            self.name,
            table.options.allocation(chosen),
            agreed=True,
            time=1.0 if found.time is None else found.time,
            tied=int(best.sum()) > 1,
            gap=0.0 if table.options.complete else None,
            details={**details, "met": int(met[chosen])},
        )
