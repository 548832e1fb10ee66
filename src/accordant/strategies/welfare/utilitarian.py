"""Utilitarian: the weighted sum of expected rewards (Harsanyi 1955)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.strategy import register


@compiled
def weighted_sum(values: NDArray[np.float64], weights: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    """Write Σ_i w_i E[i, a, t], added in the order of i, shape (action, context)."""
    n_stakeholders, n_actions, n_contexts = values.shape
    for a in range(n_actions):
        out = total[a]
        out[:] = 0.0
        for i in range(n_stakeholders):
            row, weight = values[i, a], weights[i]
            for t in range(n_contexts):
                out[t] += weight * row[t]


@register("utilitarian")
@dataclass(frozen=True)
class Utilitarian(Compromise):
    """Maximise the weighted mean of expected rewards; weights are normalised to sum 1."""

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return the weighted means."""
        scores = block.scores()
        weighted_sum(block.values, weights / weights.sum(), scores)
        return Scored(scores)
