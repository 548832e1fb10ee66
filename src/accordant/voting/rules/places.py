"""First and last places: the weight that puts each of the remaining alternatives first, or last."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.compiled import compiled
from accordant.voting.rules.layout import MANY_CONTEXTS
from accordant.voting.rules.sums import settled, whole


def first_places(ranks: Integers, weights: Values, remaining: Mask | None = None, *, shared: bool) -> Values:
    """Return the weight of the voters who put each alternative first among those that remain.

    Parameters
    ----------
    ranks
        Smaller is better, shape (voter, alternative, context).
    weights
        Shape (voter,).
    remaining
        Which alternatives count, shape (alternative, context), at least one per context; None means all.
    shared
        Whether a voter with k alternatives tied for the first place gives each 1/k of the weight; otherwise each gets
        all of it.

    Returns
    -------
    Shape (alternative, context), 0 for those that do not remain; equal sums are equal numbers.
    """
    _, n_alternatives, n_contexts = ranks.shape
    if n_contexts < MANY_CONTEXTS:
        first = _first(ranks, remaining)
        sizes = first.sum(axis=1, keepdims=True) if shared else np.ones(1)
        parts = (first / sizes).reshape(len(ranks), -1)
        return settled((weights @ parts).reshape(n_alternatives, n_contexts), weights)
    sums = np.empty((n_alternatives, n_contexts))
    kept = np.ones((n_alternatives, n_contexts), dtype=bool) if remaining is None else remaining
    sum_first_places(np.ascontiguousarray(ranks), weights, kept, shared, np.iinfo(ranks.dtype).max, sums)
    return sums if whole(weights) and not shared else settled(sums, weights)


def last_places(ranks: Integers, weights: Values, remaining: Mask | None = None, *, shared: bool) -> Values:
    """Return the weight of the voters who put each alternative last among those that remain; see `first_places`."""
    return first_places(np.negative(ranks), weights, remaining, shared=shared)


def _first(ranks: Integers, remaining: Mask | None) -> Mask:
    """Return which alternatives each voter puts first, shape (voter, alternative, context)."""
    if remaining is None:
        return np.asarray(ranks == ranks.min(axis=1, keepdims=True))
    kept = np.where(remaining, ranks, np.iinfo(ranks.dtype).max)
    return np.asarray((kept == kept.min(axis=1, keepdims=True)) & remaining)


@compiled
def sum_first_places(
    ranks: Integers, weights: Values, remaining: Mask, shared: bool, worse_than_any: int, sums: Values
) -> None:
    """Write the weight of first places, whole rows of contexts at a time."""
    n_voters, n_alternatives, n_contexts = ranks.shape
    best, parts = np.empty(n_contexts, dtype=ranks.dtype), np.empty(n_contexts)
    sums[:] = 0.0
    for i in range(n_voters):
        weight = weights[i]
        best[:] = worse_than_any
        for a in range(n_alternatives):
            rank, kept = ranks[i, a], remaining[a]
            for t in range(n_contexts):
                best[t] = rank[t] if kept[t] and rank[t] < best[t] else best[t]
        parts[:] = weight
        if shared:
            parts[:] = 0.0
            for a in range(n_alternatives):
                rank, kept = ranks[i, a], remaining[a]
                for t in range(n_contexts):
                    parts[t] += 1.0 if kept[t] and rank[t] == best[t] else 0.0
            for t in range(n_contexts):
                parts[t] = weight / parts[t]
        for a in range(n_alternatives):
            rank, kept, total = ranks[i, a], remaining[a], sums[a]
            for t in range(n_contexts):
                total[t] += parts[t] if kept[t] and rank[t] == best[t] else 0.0
