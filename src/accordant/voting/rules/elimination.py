"""Rules that eliminate: round by round the losers go, and whoever stays longest wins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from accordant.arrays import Mask, Values


def rounds_survived(losers_of: Callable[[Mask], Mask], n_alternatives: int, n_contexts: int) -> Values:
    """Return how many eliminations each alternative survives, shape (alternative, context).

    A context is finished when its losers are all that remain: they tie and win.

    Parameters
    ----------
    losers_of
        From which alternatives remain to which of them lose, both of shape (alternative, context); at least one loses
        in each context.
    n_alternatives, n_contexts
        Shape of the result.
    """
    remaining = np.ones((n_alternatives, n_contexts), dtype=bool)
    survived = np.zeros((n_alternatives, n_contexts))
    for _ in range(n_alternatives - 1):
        losers = losers_of(remaining)
        staying = remaining & ~losers
        goes_on = staying.any(axis=0)
        if not goes_on.any():
            break
        survived += staying
        remaining = np.where(goes_on, staying, remaining)
    return survived
