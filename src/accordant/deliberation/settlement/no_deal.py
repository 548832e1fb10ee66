"""`NoDeal`: whoever did not agree in the debate gets what was declared for that case."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.settlement import Settlement, Table, register


@register("no_deal")
@dataclass(frozen=True)
class NoDeal(Settlement):
    """The disagreement allocation. Concessions and utilities are not read."""

    def settle(self, table: Table) -> Settled:
        """Return the disagreement allocation."""
        return Settled(self.name, table.options.allocation(table.disagreement), agreed=False, gap=0.0)
