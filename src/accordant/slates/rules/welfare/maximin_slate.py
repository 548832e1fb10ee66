"""Maximin list: the stakeholder with the smallest normalised utility should have as much as possible (Rawls 1971)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Mask, Values
from accordant.compiled import compiled
from accordant.slates.rule import register
from accordant.slates.rules.welfare.greedy import GreedySlate
from accordant.slates.rules.welfare.normalised import NormalisedGains


@compiled
def smallest_after(gains: Values, running: Values, free: Mask, smallest: Values) -> None:
    """Write min_i (running[i, u] + gains[i, c, u]), shape (item, user): 0 if every sum is inf, −inf if not free."""
    n_stakeholders, n_items, n_users = gains.shape
    for c in range(n_items):
        out, may = smallest[c], free[c]
        out[:] = np.inf
        for i in range(n_stakeholders):
            row, so_far = gains[i, c], running[i]
            for u in range(n_users):
                value, reached = so_far[u] + row[u], out[u]
                out[u] = value if value < reached else reached
        for u in range(n_users):
            value = 0.0 if out[u] == np.inf else out[u]
            out[u] = value if may[u] else -np.inf


def out_of_reach(gains: NormalisedGains, reached: Values) -> Values:
    """Return utilities with inf for whom all lists are alike: they are never worst off."""
    return np.where(gains.sided, reached, np.inf)


@register("maximin_slate")
@dataclass(frozen=True)
class MaximinSlate(GreedySlate):
    """Maximise the smallest normalised utility; lists that are level in it go by the sum of expected rewards.

    Weights have no effect, except that weight 0 leaves somebody out.
    """

    def scores(self, gains: NormalisedGains, running: Values, free: Mask) -> Values:
        """Return the utility of whoever is worst off with each item."""
        smallest = np.empty(free.shape)
        smallest_after(gains.values, out_of_reach(gains, running), free, smallest)
        return smallest

    def worth(self, gains: NormalisedGains, reached: Values) -> Values:
        """Return the smallest utility, shape (1, user)."""
        return np.asarray(out_of_reach(gains, reached).min(axis=0, keepdims=True))
