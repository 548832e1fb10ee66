"""`Bargain`: everybody gives way with time; what everybody accepts first is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.agents.concession import Concession, concessions
from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bands import STEPS, FirstCommon, first_common, largest
from accordant.deliberation.settlement.gaps import product_gap, time_gap
from accordant.deliberation.settlement.settlement import Settlement, Table, register
from accordant.errors import InputError


@register("bargain")
@dataclass(frozen=True)
class Bargain(Settlement):
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
        if self.steps < 1:
            raise InputError(f"steps are {self.steps}; allowed: at least 1")

    def check(self, names: Sequence[str], conceding: Sequence[Concession]) -> None:
        """Refuse concessions that do not depend on time alone."""
        exponents_of(self.name, names, conceding)

    def settle(self, table: Table) -> Settled:
        """Return the joint decision; `gap` is in units of time, the details have that of the product."""
        exponents = exponents_of(self.name, table.names, table.concessions)
        found = first_common(table.utilities, exponents, self.steps)
        if found.time is None:
            allocation = table.options.allocation(table.disagreement)
            return Settled(self.name, allocation, agreed=False, details=told(table, found))
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


def told(table: Table, found: FirstCommon) -> dict[str, object]:
    """Return what a time-based rule says in a record."""
    return {
        "bands": {name: float(band) for name, band in zip(table.names, found.bands, strict=True)},
        "common": int(np.count_nonzero(found.acceptable)),
    }


def exponents_of(rule: str, names: Sequence[str], conceding: Sequence[Concession]) -> tuple[float, ...]:
    """Return the exponent of each concession.

    Raises
    ------
    InputError
        If one has none: its target is no function of time alone of the form 1 − t^e.
    """
    exponents = []
    for name, concession in zip(names, conceding, strict=True):
        exponent = concession.exponent
        if exponent is None:
            raise InputError(
                f"settlement rule {rule!r} needs concessions of the form 1 − t^e; agent {name!r} concedes by "
                f"{concession.name!r}; allowed: {', '.join(with_exponent())}, or the rule 'alternating_offers'"
            )
        exponents.append(exponent)
    return tuple(exponents)


def with_exponent() -> tuple[str, ...]:
    """Return the names of registered concession strategies that have an exponent."""
    return tuple(name for name in concessions.names() if concessions.create(name).exponent is not None)
