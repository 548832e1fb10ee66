"""`Bargain`: everybody gives way with time; what everybody accepts first is decided."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bands import STEPS, first_common, largest
from accordant.deliberation.settlement.gaps import no_deal_gap, product_gap, time_gap
from accordant.deliberation.settlement.settlement import Table, register
from accordant.deliberation.settlement.time_based import TimeBased, checked_steps, exponents_of, told


@register("bargain")
@dataclass(frozen=True)
class Bargain(TimeBased):
    """At t = 0, 1/60, …, 1 agent k accepts utilities of at least 1 − t^{e_k}; decides at the first common option.

    Of the options that everybody accepts then, the one with the largest product of utilities; ties go to the lowest
    index. Without a common option up to t = 1 the disagreement allocation is taken.

    Parameters
    ----------
    steps
        Parts of the grid of times, at least 1.
    """

    steps: int = STEPS

    def __post_init__(self) -> None:
        checked_steps(self.steps)

    def settle(self, table: Table) -> Settled:
        """Return the joint decision; `gap` is in units of time, the details have that of the product.

        Without a common option the gap is 0 if it is certain that no feasible allocation is one, else None.
        """
        exponents = exponents_of(self.name, table.names, table.concessions)
        found = first_common(table.utilities, exponents, self.steps)
        if found.time is None:
            allocation = table.options.allocation(table.disagreement)
            return Settled(
                self.name, allocation, agreed=False, gap=no_deal_gap(table, exponents), details=told(table, found)
            )
        products = table.utilities.prod(axis=0)
        best = largest(products, found.acceptable)
        chosen = int(best.argmax())
        details = {
            **told(table, found),
            "product": float(products[chosen]),
            "product_gap": product_gap(table, float(products[chosen])),
        }
        return Settled(
            self.name,
            table.options.allocation(chosen),
            agreed=True,
            time=found.time,
            tied=int(best.sum()) > 1,
            gap=time_gap(table, found.time, exponents, self.steps),
            details=details,
        )
