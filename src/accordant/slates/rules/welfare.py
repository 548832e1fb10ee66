"""Rules on sums of utilities over the list: what a whole list gives to each stakeholder, weighed in different ways.

| rule | maximises | how |
|---|---|---|
| ``utilitarian_slate`` | the weighted sum of expected rewards | exact |
| ``maximin_slate`` | the smallest normalised utility | greedy, then swaps |
| ``leximin_slate`` | the smallest, then the second smallest, … | greedy, then swaps |
| ``nash_slate`` | the product of normalised utilities | greedy, then swaps |

Normalised utilities are those that measures report, `accordant.slates.candidates.Gains.attained`: 0 is the worst
list of a stakeholder, 1 its ideal one. Who finds all lists alike is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Mask, Values
from accordant.kernels import compiled
from accordant.slates.candidates import Candidates, best_items, even_weights
from accordant.slates.rule import SlateRule, register
from accordant.slates.rules.greedy import GreedySlate, NormalisedGains
from accordant.slates.slates import Slates
from accordant.strategies.reductions import log_product, weighted_sum

FLOOR = 1e-6  # ε, as in the strategy: while somebody has nothing, the logarithm is finite and others still count


@compiled
def smallest_after(gains: Values, running: Values, free: Mask, smallest: Values) -> None:
    """Write min_i (running[i, u] + gains[i, c, u]), shape (item, user): 0 if every sum is inf, −inf if not free.

    smallest = (running[:, None] + gains).min(axis=0)
    np.where(free, np.where(smallest == np.inf, 0.0, smallest), -np.inf)
    """
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


def without_indifferent(gains: NormalisedGains, reached: Values) -> Values:
    """Return utilities with inf for whom all lists are alike: they are never worst off."""
    return np.where(gains.sided, reached, np.inf)


@register("maximin_slate")
@dataclass(frozen=True)
class MaximinSlate(GreedySlate):
    """Maximise the smallest normalised utility; lists that are level in it go by the sum of expected rewards.

    Source: Rawls 1971.

    Weights have no effect, except that weight 0 leaves somebody out.
    """

    def scores(self, gains: NormalisedGains, running: Values, free: Mask) -> Values:
        """Return the utility of whoever is worst off with each item."""
        smallest = np.empty(free.shape)
        smallest_after(gains.values, without_indifferent(gains, running), free, smallest)
        return smallest

    def worth(self, gains: NormalisedGains, reached: Values) -> Values:
        """Return the smallest utility, shape (1, user)."""
        return np.asarray(without_indifferent(gains, reached).min(axis=0, keepdims=True))


@compiled
def drop_leximin_worse(gains: Values, running: Values, tolerance: float, smallest: Values) -> None:
    """Write −inf for items that are level in the smallest utility and worse in a later rank.

    Rank after rank, only items within the tolerance (relative to max(1, |best|)) of the best one are kept. `running`,
    shape (stakeholder, user), is inf for whom all lists are alike; `smallest`, shape (item, user), is the first rank,
    −inf for items that may not be added.
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

    Source: Sen 1970.

    Weights have no effect, except that weight 0 leaves somebody out.
    """

    def scores(self, gains: NormalisedGains, running: Values, free: Mask) -> Values:
        """Return the smallest utility with each item, and −inf for items that a later rank rules out."""
        compared = without_indifferent(gains, running)
        smallest = np.empty(free.shape)
        smallest_after(gains.values, compared, free, smallest)
        drop_leximin_worse(gains.values, compared, gains.tolerance, smallest)
        return smallest

    def worth(self, gains: NormalisedGains, reached: Values) -> Values:
        """Return utilities from the worst off to the best off, shape (rank, user)."""
        return np.sort(without_indifferent(gains, reached), axis=0)


@register("nash_slate")
@dataclass(frozen=True)
class NashSlate(GreedySlate):
    """Maximise Σ_i w_i log(ε + max(0, normalised utility of i)), ε = 1e-6.

    Source: Nash 1950; Kaneko and Nakamura 1979.

    A list that leaves somebody with nothing has the product 0, whatever it gives to others, and so have most lists
    while they are short. ε tells such lists apart; it is so small that giving everybody something comes first.
    Utilities within the tolerance of 0 are 0, for ε would magnify their rounding. Only ratios of weights matter.
    """

    def scores(self, gains: NormalisedGains, running: Values, free: Mask) -> Values:
        """Return the logarithm of the product with each item; who finds all lists alike adds log ε to each."""
        scores = np.empty(free.shape)
        less, zero = -(running + FLOOR), FLOOR + gains.tolerance
        log_product(gains.values, less, even_weights(gains.weights), at_most=zero, count_as=FLOOR, out=scores)
        return np.where(free, scores, -np.inf)

    def worth(self, gains: NormalisedGains, reached: Values) -> Values:
        """Return the logarithm of the product, shape (1, user)."""
        logarithms = np.log(FLOOR + np.where(reached > gains.tolerance, reached, 0.0))
        return np.asarray((even_weights(gains.weights)[:, None] * logarithms).sum(axis=0, keepdims=True))


@register("utilitarian_slate")
@dataclass(frozen=True)
class UtilitarianSlate(SlateRule):
    """Maximise Σ_i w_i Σ_{c in S} E[i, c, u], with expected rewards as they are, not normalised.

    Source: Harsanyi 1955.

    The sum over the list is largest for the k items with the largest sums, so the list is the best one.
    """

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the best items by the weighted mean."""
        weights = candidates.weights
        scores = np.empty(candidates.available.shape)
        weighted_sum(candidates.values, weights / weights.sum(), scores)
        best = best_items(scores, candidates.totals, candidates.available, k, candidates.tolerance)
        return Slates(self.label, candidates.items, best.items, best.tied)
