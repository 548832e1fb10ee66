"""Nash list: the product of normalised utilities (Nash 1950; Kaneko and Nakamura 1979)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Mask, Values
from accordant.slates.rule import register
from accordant.slates.rules.weights import even_weights
from accordant.slates.rules.welfare.greedy import GreedySlate
from accordant.slates.rules.welfare.normalised import NormalisedGains
from accordant.strategies.reductions import log_product

FLOOR = 1e-6  # ε, as in the strategy: while somebody has nothing, the logarithm is finite and others still count


@register("nash_slate")
@dataclass(frozen=True)
class NashSlate(GreedySlate):
    """Maximise Σ_i w_i log(ε + max(0, normalised utility of i)), ε = 1e-6.

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
