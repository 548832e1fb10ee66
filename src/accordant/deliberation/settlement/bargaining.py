"""Settlement by utilities: bands that widen with time, a mediator, the largest product, no deal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.agents.concession import Concession, concessions
from accordant.allocations.search import earliest_bound, product_bound
from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bands import EQUAL, STEPS, FirstCommon, first_common, largest
from accordant.deliberation.settlement.settlement import Settlement, Table, register
from accordant.errors import InputError

WIDENING = 0.1  # share of an agent's whole range of utility that a mediator may ask of it


@dataclass(frozen=True)
class TimeBased(Settlement):
    """A rule that reads the exponents of concessions; any other concession is refused."""

    def check(self, names: Sequence[str], conceding: Sequence[Concession]) -> None:
        """Refuse concessions that do not depend on time alone."""
        exponents_of(self.name, names, conceding)


def checked_steps(steps: int) -> None:
    """Raise InputError unless steps are a whole number of at least 1."""
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise InputError(f"steps are {steps!r}; allowed: a whole number, at least 1")


def bands_details(table: Table, common: FirstCommon) -> dict[str, object]:
    """Return what a time-based rule says in a record."""
    return {
        "bands": {name: float(band) for name, band in zip(table.names, common.bands, strict=True)},
        "common": int(np.count_nonzero(common.acceptable)),
    }


def exponents_of(rule: str, names: Sequence[str], conceding: Sequence[Concession]) -> tuple[float, ...]:
    """Return the exponent of each concession.

    Raises InputError if one has none: its target is no function of time alone of the form 1 − t^e.
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


def product_gap(table: Table, product: float) -> float | None:
    """Return by how much a product of utilities could be larger, at least 0.

    0 if all feasible allocations were compared, None if no bound is known: utilities that are not additive.
    """
    if table.options.complete:
        return 0.0
    if table.values is None or table.floors is None:
        return None
    return max(0.0, float(product_bound(table.options.scenario, table.values, table.floors)) - product)


def time_gap(table: Table, time: float, exponents: Sequence[float], steps: int) -> float | None:
    """Return by how much a common option could appear earlier, on the grid of times, at least 0.

    0 and None as for `product_gap`.
    """
    if table.options.complete:
        return 0.0
    if table.values is None or table.floors is None:
        return None
    bound = float(earliest_bound(table.options.scenario, table.values, table.floors, exponents))
    on_grid = np.ceil(max(0.0, bound) * steps - 1e-9) / steps  # rules look at times of the grid only
    return max(0.0, time - float(on_grid))


def no_deal_gap(table: Table, exponents: Sequence[float], widening: float = 0.0) -> float | None:
    """Return 0 if it is certain that no feasible allocation is acceptable to everybody at any time; None otherwise.

    `table`: whose options have nothing that is acceptable to everybody up to time 1; `exponents`: e of the band 1 − t^e
    of each agent; `widening`: how far below its band each agent accepts.
    """
    if table.options.complete:
        return 0.0
    if table.values is None or table.floors is None:
        return None
    bound = earliest_bound(table.options.scenario, table.values, table.floors + widening, exponents)
    return 0.0 if np.isinf(bound) else None


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
        common = first_common(table.utilities, exponents, self.steps)
        if common.time is None:
            return self.not_agreed(table, gap=no_deal_gap(table, exponents), details=bands_details(table, common))
        products = table.utilities.prod(axis=0)
        best = largest(products, common.acceptable)
        chosen = int(best.argmax())
        details = {
            **bands_details(table, common),
            "product": float(products[chosen]),
            "product_gap": product_gap(table, float(products[chosen])),
        }
        gap, tied = time_gap(table, common.time, exponents, self.steps), int(best.sum()) > 1
        return self.agreed(table, chosen, time=common.time, tied=tied, gap=gap, details=details)


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
        common = first_common(table.utilities, exponents, self.steps)
        lowest = common.bands - self.widening - EQUAL
        within = (table.utilities >= lowest[:, None]).all(axis=0)
        details = {**bands_details(table, common), "within": int(np.count_nonzero(within)), "criteria": len(table.met)}
        if not within.any():
            return self.not_agreed(table, gap=no_deal_gap(table, exponents, self.widening), details=details)
        met = table.met.sum(axis=0)
        most = within & (met == met[within].max())
        best = largest(table.utilities.prod(axis=0), most)
        chosen = int(best.argmax())
        gap, time = 0.0 if table.options.complete else None, 1.0 if common.time is None else common.time
        details |= {"met": int(met[chosen])}
        return self.agreed(table, chosen, time=time, tied=int(best.sum()) > 1, gap=gap, details=details)


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
        gap, tied = product_gap(table, product), int(best.sum()) > 1
        return self.agreed(table, chosen, tied=tied, gap=gap, details={"product": product})


@register("no_deal")
@dataclass(frozen=True)
class NoDeal(Settlement):
    """The disagreement allocation. Concessions and utilities are not read."""

    def settle(self, table: Table) -> Settled:
        """Return the disagreement allocation."""
        return self.not_agreed(table, gap=0.0)
