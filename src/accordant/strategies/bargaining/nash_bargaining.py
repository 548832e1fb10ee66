"""Nash bargaining: the largest product of gains over the disagreement point (Nash 1950)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.bargaining.rationality import rank_irrational_last
from accordant.strategies.block import Block
from accordant.strategies.compromise import PointCompromise, Scored
from accordant.strategies.reductions import log_product
from accordant.strategies.reference_points import INDIFFERENT, per_context
from accordant.strategies.strategy import register


@register("nash_bargaining")
@dataclass(frozen=True)
class NashBargaining(PointCompromise):
    """Maximise the product of gains over the disagreement point, ∏_i (E[i, a, t] − d[i, t])^w_i.

    Scores are logarithms of the product, −inf where somebody gains nothing; a gain of at most 1e-12 is rounding and
    counts as nothing.

    If no action gives everybody a strict gain, all products are 0, the context is flagged ``no_agreement``,
    and the tie rule (utilitarian sum, then declared order) decides. With the context minimum as disagreement
    point and two actions that is the normal case. With a status quo, an action that leaves somebody below
    it ranks last, and contexts in which every alternative does so are flagged ``irrational``.
    """

    logarithmic: ClassVar[bool] = True
    uses: ClassVar[tuple[Literal["disagreement", "ideal"], ...]] = ("disagreement",)

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return logarithms of the products of gains."""
        disagreement, heard, say = self.disagreement_point(block), block.heard(weights), weights > 0
        points, scores = per_context(disagreement, block, say), block.scores()
        log_product(heard.values, points, weights[say], at_most=INDIFFERENT, count_as=0.0, out=scores)
        flags = {"no_agreement": np.asarray(np.isneginf(scores).all(axis=0))}
        if self.disagreement == "status_quo":
            flags["irrational"] = rank_irrational_last(scores, block, disagreement, self.status_quo, say)
        return Scored(scores, flags, {"disagreement": disagreement})
