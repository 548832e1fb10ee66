"""Kalai–Smorodinsky: equal shares of what each stakeholder could gain at best (Kalai and Smorodinsky 1975)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.strategies.bargaining.rationality import rank_irrational_last
from accordant.strategies.block import Block
from accordant.strategies.compromise import PointCompromise, Scored
from accordant.strategies.reference_points import INDIFFERENT, per_context
from accordant.strategies.strategy import register


@compiled
def smallest_relative_gain(
    values: NDArray[np.float64],
    disagreement: NDArray[np.float64],
    ideal: NDArray[np.float64],
    indifferent: float,
    smallest: NDArray[np.float64],
) -> None:
    """Write min_i (E[i, a, t] − d[i, t]) / (u*[i, t] − d[i, t]), shape (action, context).

    Stakeholders who cannot gain (u* − d of at most `indifferent`: indifferent, or below d whatever is done) are left
    out of the minimum; where that leaves nobody, every action has score 0. Values are not capped at 1.
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    smallest[:] = np.inf
    scale, never = np.empty(n_contexts), np.empty(n_contexts)
    for i in range(n_stakeholders):
        low, high = disagreement[i], ideal[i]
        for t in range(n_contexts):
            room = high[t] - low[t]
            scale[t] = 1.0 / room if room > indifferent else 0.0
            never[t] = 0.0 if room > indifferent else np.inf
        for a in range(n_actions):
            out, row = smallest[a], values[i, a]
            for t in range(n_contexts):
                relative, reached = (row[t] - low[t]) * scale[t] + never[t], out[t]
                out[t] = relative if relative < reached else reached
    for a in range(n_actions):
        out = smallest[a]
        for t in range(n_contexts):
            out[t] = 0.0 if out[t] == np.inf else out[t]


@register("kalai_smorodinsky")
@dataclass(frozen=True)
class KalaiSmorodinsky(PointCompromise):
    """Maximise the smallest relative gain between disagreement and ideal point.

    With the context minimum as disagreement point and two actions on which stakeholders disagree, both
    actions score 0: the context is tied. With a status quo, an action that leaves somebody below it ranks
    last. A stakeholder with weight 0 is left out; other weights have no effect.
    """

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return the smallest relative gains."""
        disagreement, ideal = self.disagreement_point(block), self.ideal_point(block)
        say = weights > 0
        low, high = per_context(disagreement, block, say), per_context(ideal, block, say)
        scores = block.scores()
        smallest_relative_gain(block.heard(weights).values, low, high, INDIFFERENT, scores)
        flags = {}
        if self.disagreement == "status_quo":
            flags["irrational"] = rank_irrational_last(scores, block, disagreement, self.status_quo, say)
        return Scored(scores, flags, {"disagreement": disagreement, "ideal": ideal})
