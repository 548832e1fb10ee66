"""`NashProduct`: the largest product of scaled utilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bands import largest
from accordant.deliberation.settlement.gaps import product_gap
from accordant.deliberation.settlement.settlement import Settlement, Table, register


@register("nash_product")
@dataclass(frozen=True)
class NashProduct(Settlement):
    """Π_k u_k is largest, with u_k scaled to [0, 1] over all feasible allocations; ties go to the lowest index.

    The product of Nash (1950), with everybody's worst feasible allocation as the point of reference. Where every option
    is somebody's worst, all products are 0, everything ties, and the record says so. Concessions are not read.
    """

    def settle(self, table: Table) -> Settled:
        """Return the joint decision; `gap` is in units of the product."""
        products = table.utilities.prod(axis=0)
        best = largest(products, np.ones(len(products), dtype=bool))
        chosen = int(best.argmax())
        product = float(products[chosen])
        return Settled(
            self.name,
            table.options.allocation(chosen),
            agreed=True,
            tied=int(best.sum()) > 1,
            gap=product_gap(table, product),
            details={"product": product},
        )
