"""Leximin list: the smallest normalised utility counts, among level lists the second smallest, … (Sen 1970)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Mask, Values
from accordant.compiled import compiled
from accordant.slates.rule import register
from accordant.slates.rules.welfare.greedy import GreedySlate
from accordant.slates.rules.welfare.maximin_slate import out_of_reach, smallest_after
from accordant.slates.rules.welfare.normalised import NormalisedGains


@compiled
def drop_leximin_worse(gains: Values, running: Values, tolerance: float, smallest: Values) -> None:
    """Write −inf for items that are level in the smallest utility and worse in a later rank.

    Rank after rank, only items within the tolerance (relative to max(1, |best|)) of the best one are kept.

    Parameters
    ----------
    gains, running
        Shapes (stakeholder, item, user) and (stakeholder, user); inf for whom all lists are alike.
    tolerance
        Utilities this close are level.
    smallest
        The first rank, shape (item, user); −inf for items that may not be added.
    """
    n_stakeholders, n_items, n_users = gains.shape
    level = np.empty(n_items, dtype=np.intp)
    ranked = np.empty((n_items, n_stakeholders))
    for u in range(n_users):
        best = -np.inf
        for c in range(n_items):
            best = max(best, smallest[c, u])
        if best == -np.inf:
            continue
        bound, n_level = best - tolerance * max(1.0, abs(best)), 0
        for c in range(n_items):
            if smallest[c, u] >= bound:
                level[n_level] = c
                n_level += 1
        if n_level < 2:
            continue
        for k in range(n_level):
            for i in range(n_stakeholders):
                value, rank = running[i, u] + gains[i, level[k], u], i
                while rank > 0 and ranked[k, rank - 1] > value:
                    ranked[k, rank] = ranked[k, rank - 1]
                    rank -= 1
                ranked[k, rank] = value
        for rank in range(1, n_stakeholders):
            best = -np.inf
            for k in range(n_level):
                best = max(best, ranked[k, rank])
            if best == np.inf:
                break
            bound, kept = best - tolerance * max(1.0, abs(best)), 0
            for k in range(n_level):
                if ranked[k, rank] >= bound:
                    level[kept] = level[k]
                    ranked[kept, :] = ranked[k]
                    kept += 1
                else:
                    smallest[level[k], u] = -np.inf
            n_level = kept


@register("leximin_slate")
@dataclass(frozen=True)
class LeximinSlate(GreedySlate):
    """Maximise the smallest normalised utility, among level lists the second smallest, and so on.

    Weights have no effect, except that weight 0 leaves somebody out.
    """

    def scores(self, gains: NormalisedGains, running: Values, free: Mask) -> Values:
        """Return the smallest utility with each item, and −inf for items that a later rank rules out."""
        compared = out_of_reach(gains, running)
        smallest = np.empty(free.shape)
        smallest_after(gains.values, compared, free, smallest)
        drop_leximin_worse(gains.values, compared, gains.tolerance, smallest)
        return smallest

    def worth(self, gains: NormalisedGains, reached: Values) -> Values:
        """Return utilities from the worst off to the best off, shape (rank, user)."""
        return np.sort(out_of_reach(gains, reached), axis=0)
