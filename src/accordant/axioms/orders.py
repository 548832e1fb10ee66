"""Orders to try: all of them if there are few, else a spread of them."""

from __future__ import annotations

import itertools

import numpy as np

ALL_UP_TO = 4  # so many items have at most 24 orders, and all of them are tried
DRAWN = 12  # else so many random orders beside the exchanges of neighbours


def orders(n_items: int, generator: np.random.Generator) -> list[list[int]]:
    """Return orders of range(n_items) other than the given one: all, or neighbours exchanged and random ones."""
    given = list(range(n_items))
    if n_items <= ALL_UP_TO:
        return [list(order) for order in itertools.permutations(given) if list(order) != given]
    exchanged = [[*given[:k], given[k + 1], given[k], *given[k + 2 :]] for k in range(n_items - 1)]
    return exchanged + [generator.permutation(n_items).tolist() for _ in range(DRAWN)]
