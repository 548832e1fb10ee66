"""What the tours do not say: days, capacities and who provides an attraction. A declared mapping of ours.

The data hold no capacities and no operators, and about one tour a day. What this file makes up is written down in
``docs/methods/tourism.md``; change it there and here together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError

LEAST_CAPACITY = 1.0  # visits a day of an attraction that hardly anybody visited
ROUNDING = 1e-12  # a share that is reached but for rounding is reached
FAMOUS, SMALL = "famous attractions", "small attractions"


def capacities(given: Values, popularity: Values, visitors_per_day: int, capacity_share: float) -> Values:
    """Return visits a day at most: max(1, capacity_share · visitors_per_day · share of past visits). Source: ours.

    Parameters
    ----------
    given
        As declared, shape (item,); NaN where nothing is.
    popularity
        Past visits, not all 0, shape (item,).
    visitors_per_day
        Visitors of a service day, each of whom makes one visit.
    capacity_share
        Above 0: at 1.5 an attraction takes half as many more visits as it has on a mean day.
    """
    if not (capacity_share > 0 and np.isfinite(capacity_share)):
        raise InputError(f"capacity_share is {capacity_share:g}; allowed: a number above 0")
    mean = visitors_per_day * popularity / popularity.sum()
    return np.where(np.isnan(given), np.maximum(LEAST_CAPACITY, capacity_share * mean), given)


def famous(popularity: Values, famous_share: float) -> NDArray[np.bool_]:
    """Return the fewest attractions that had at least a share of past visits, shape (item,); ties as declared.

    Parameters
    ----------
    popularity
        Past visits, shape (item,).
    famous_share
        Above 0 and below 1.
    """
    if not 0 < famous_share < 1:
        raise InputError(f"famous_share is {famous_share:g}; allowed: above 0 and below 1")
    order = np.argsort(-popularity, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(popularity[order])[:-1]])
    found = np.zeros(len(popularity), dtype=bool)
    found[order] = before < (famous_share - ROUNDING) * popularity.sum()
    return found


def providers(given: Sequence[str | None], popularity: Values, famous_share: float) -> tuple[str | None, ...]:
    """Return providers as declared; if none is, `FAMOUS` and `SMALL` stand for two groups of them. Source: ours."""
    if any(each is not None for each in given):
        return tuple(given)
    return tuple(FAMOUS if each else SMALL for each in famous(popularity, famous_share))
