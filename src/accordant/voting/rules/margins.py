"""Pairwise margins: by how much weight each alternative is preferred to each other one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Integers, Values
from accordant.compiled import compiled
from accordant.voting.rules.layout import MANY_CONTEXTS
from accordant.voting.rules.sums import settled, whole


def weighted_margins(ranks: Integers, weights: Values, margins: Values) -> None:
    """Write Σ_i w_i ([i ranks a above b] − [i ranks b above a]), shape (a, b, context).

    Parameters
    ----------
    ranks
        Smaller is better, shape (voter, alternative, context).
    weights
        Shape (voter,).
    margins
        Where the result goes; free of rounding noise, so that equal margins are equal numbers.
    """
    _, n_alternatives, n_contexts = ranks.shape
    if n_contexts >= MANY_CONTEXTS:
        sum_margins(np.ascontiguousarray(ranks), weights, margins)
    else:
        by_alternative = np.ascontiguousarray(ranks.transpose(1, 0, 2))
        for a in range(n_alternatives):
            margins[a, a] = 0.0
            margins[a, a + 1 :] = weights @ np.sign(by_alternative[a + 1 :] - by_alternative[a]).astype(np.float64)
            margins[a + 1 :, a] = -margins[a, a + 1 :]
    if not whole(weights):
        settled(margins, weights)


def condorcet_winners(margins: Values) -> NDArray[np.bool_]:
    """Return whether each alternative beats every other one, shape (alternative, context)."""
    return np.asarray((margins > 0).sum(axis=1) == len(margins) - 1)


@compiled
def sum_margins(ranks: Integers, weights: Values, margins: Values) -> None:
    """Write the margins, whole rows of contexts at a time."""
    n_voters, n_alternatives, n_contexts = ranks.shape
    for a in range(n_alternatives):
        margins[a, a, :] = 0.0
        for b in range(a + 1, n_alternatives):
            margin, reverse = margins[a, b], margins[b, a]
            margin[:] = 0.0
            for i in range(n_voters):
                first, second, weight = ranks[i, a], ranks[i, b], weights[i]
                for t in range(n_contexts):
                    margin[t] += (weight if first[t] < second[t] else 0.0) - (weight if first[t] > second[t] else 0.0)
            for t in range(n_contexts):
                reverse[t] = -margin[t]
