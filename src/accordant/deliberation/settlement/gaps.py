"""How much better a decision could be by its rule, where a search listed only some allocations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accordant.allocations.search import earliest_bound, product_bound
from accordant.deliberation.settlement.settlement import Table


def product_gap(table: Table, found: float) -> float | None:
    """Return by how much a product of utilities could be larger, at least 0.

    0 if all feasible allocations were compared, None if no bound is known: utilities that are not additive.
    """
    if table.options.complete:
        return 0.0
    if table.values is None or table.floors is None:
        return None
    return max(0.0, float(product_bound(table.options.scenario, table.values, table.floors)) - found)


def time_gap(table: Table, found: float, exponents: Sequence[float], steps: int) -> float | None:
    """Return by how much a common option could appear earlier, on the grid of times, at least 0; None as above."""
    if table.options.complete:
        return 0.0
    if table.values is None or table.floors is None:
        return None
    bound = float(earliest_bound(table.options.scenario, table.values, table.floors, exponents))
    on_grid = np.ceil(max(0.0, bound) * steps - 1e-9) / steps  # rules look at times of the grid only
    return max(0.0, found - float(on_grid))


def no_deal_gap(table: Table, exponents: Sequence[float], widening: float = 0.0) -> float | None:
    """Return 0 if it is certain that no feasible allocation is acceptable to everybody at any time; None otherwise.

    Parameters
    ----------
    table
        Whose options have nothing that is acceptable to everybody up to time 1.
    exponents
        e of the band 1 − t^e of each agent.
    widening
        How far below its band each agent accepts.
    """
    if table.options.complete:
        return 0.0
    if table.values is None or table.floors is None:
        return None
    bound = earliest_bound(table.options.scenario, table.values, table.floors + widening, exponents)
    return 0.0 if np.isinf(bound) else None
