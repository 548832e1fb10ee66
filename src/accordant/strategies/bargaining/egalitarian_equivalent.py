"""Egalitarian bargaining: everybody gains the same, or in stated proportions, and as much as possible (Kalai 1977)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.strategies.bargaining.rationality import rank_irrational_last
from accordant.strategies.block import Block
from accordant.strategies.compromise import PointCompromise, Scored
from accordant.strategies.reference_points import per_context
from accordant.strategies.strategy import register


@compiled
def smallest_gain(
    values: NDArray[np.float64],
    disagreement: NDArray[np.float64],
    proportions: NDArray[np.float64],
    smallest: NDArray[np.float64],
) -> None:
    """Write min_i (E[i, a, t] − d[i, t]) / p_i, shape (action, context)."""
    n_stakeholders, n_actions, n_contexts = values.shape
    for a in range(n_actions):
        out = smallest[a]
        out[:] = np.inf
        for i in range(n_stakeholders):
            row, low, scale = values[i, a], disagreement[i], 1.0 / proportions[i]
            for t in range(n_contexts):
                gain, reached = (row[t] - low[t]) * scale, out[t]
                out[t] = gain if gain < reached else reached


@register("egalitarian_equivalent", aliases=("egalitarian", "kalai_proportional"))
@dataclass(frozen=True)
class EgalitarianEquivalent(PointCompromise):
    """Maximise the smallest gain over the disagreement point, each gain divided by the stakeholder's weight.

    Equal weights give Kalai's egalitarian solution, others his proportional solution: a stakeholder with weight 2 is
    to gain twice as much as one with weight 1. The score is the gain that, given to everybody in these proportions,
    would be as good. With a status quo, an action that leaves somebody below it ranks last. A stakeholder with
    weight 0 is left out.
    """

    uses: ClassVar[tuple[Literal["disagreement", "ideal"], ...]] = ("disagreement",)

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return the smallest gains."""
        disagreement = self.disagreement_point(block)
        say = weights > 0
        points = per_context(disagreement, block, say)
        scores = block.scores()
        smallest_gain(block.heard(weights).values, points, weights[say], scores)
        flags = {}
        if self.disagreement == "status_quo":
            flags["irrational"] = rank_irrational_last(scores, block, disagreement, self.status_quo, say)
        return Scored(scores, flags, {"disagreement": disagreement})
