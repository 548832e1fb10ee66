"""Utilitarian rule: the largest weighted sum of expected rewards (Harsanyi 1955)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise.rule import Compromise, Scored
from accordant.strategies.strategy import Scores, register
from accordant.utilities import ExpectedRewards


def weighted_sum(values: NDArray[np.floating], weights: NDArray[np.float64]) -> Scores:
    """Return Σ_i w_i E[i, a, t] with weights divided by their sum, shape (action, context)."""
    return np.asarray(np.tensordot(weights / weights.sum(), values, axes=1))


@register("utilitarian")
@dataclass(frozen=True)
class Utilitarian(Compromise):
    """Maximise the weighted sum of expected rewards. Named, without a formula, in the framework's set 𝒟."""

    def score(self, expected: ExpectedRewards, weights: NDArray[np.float64]) -> Scored:
        """Return the weighted sums."""
        return Scored(weighted_sum(expected.values, weights))
