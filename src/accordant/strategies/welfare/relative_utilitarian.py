"""Relative utilitarian: expected rewards stretched to [0, 1] before they are added (Dhillon and Mertens 1999)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.strategies.block import Block
from accordant.strategies.compromise import PointCompromise, Scored
from accordant.strategies.reference_points import INDIFFERENT, per_context
from accordant.strategies.strategy import register


@compiled
def sum_of_relative_gains(
    values: NDArray[np.float64],
    disagreement: NDArray[np.float64],
    ideal: NDArray[np.float64],
    weights: NDArray[np.float64],
    indifferent: float,
    total: NDArray[np.float64],
) -> None:
    """Write Σ_i w_i (E[i, a, t] − d[i, t]) / (u*[i, t] − d[i, t]), shape (action, context).

    Whoever cannot gain (u* − d of at most `indifferent`) adds nothing.
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    total[:] = 0.0
    scale = np.empty(n_contexts)
    for i in range(n_stakeholders):
        low, high, weight = disagreement[i], ideal[i], weights[i]
        for t in range(n_contexts):
            room = high[t] - low[t]
            scale[t] = weight / room if room > indifferent else 0.0
        for a in range(n_actions):
            out, row = total[a], values[i, a]
            for t in range(n_contexts):
                out[t] += (row[t] - low[t]) * scale[t]


@register("relative_utilitarian")
@dataclass(frozen=True)
class RelativeUtilitarian(PointCompromise):
    """Maximise the weighted mean of relative gains between disagreement and ideal point.

    With the context's minimum and maximum, the default, this is the classical rule: rescaling or shifting the rewards
    of one stakeholder changes nothing, and neither does an indifferent stakeholder.
    """

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return the weighted means of relative gains."""
        disagreement, ideal = self.disagreement_point(block), self.ideal_point(block)
        points = per_context(disagreement, block), per_context(ideal, block)
        scores = block.scores()
        sum_of_relative_gains(block.values, *points, weights / weights.sum(), INDIFFERENT, scores)
        return Scored(scores, quantities={"disagreement": disagreement, "ideal": ideal})
