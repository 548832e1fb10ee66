"""Nash bargaining: the largest product of gains over the disagreement point (Nash 1950)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise.rationality import rank_irrational_last
from accordant.strategies.compromise.rule import PointCompromise, Scored
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Scores, register
from accordant.utilities import ExpectedRewards


def log_gain_product(
    values: NDArray[np.floating], disagreement: NDArray[np.floating], weights: NDArray[np.float64]
) -> Scores:
    """Return Σ_i w_i log max(0, E[i, a, t] − d[i, t]), shape (action, context); −inf where somebody gains nothing.

    A gain of at most 1e-12 is rounding and counts as nothing.

    Parameters
    ----------
    values
        E, shape (stakeholder, action, context).
    disagreement
        d, shape (stakeholder, context) or (stakeholder, 1).
    weights
        Bargaining powers, shape (stakeholder,); a stakeholder with weight 0 has no say.
    """
    say = weights > 0
    gains = values[say] - disagreement[say][:, None]
    gains = np.where(gains > INDIFFERENT, gains, 0.0)  # rounding is no gain
    with np.errstate(divide="ignore"):
        return np.asarray(np.tensordot(weights[say], np.log(gains), axes=1))


@register("nash_bargaining")
@dataclass(frozen=True)
class NashBargaining(PointCompromise):
    """Maximise the product of gains over the disagreement point; scores are its logarithm.

    If no action gives everybody a strict gain, all products are 0, the context is flagged ``no_agreement``,
    and the tie rule (utilitarian sum, then declared order) decides. With the context minimum as disagreement
    point and two actions that is the normal case. With a status quo, an action that leaves somebody below
    it ranks last, and contexts in which every alternative does so are flagged ``irrational``.
    """

    uses: ClassVar[tuple[Literal["disagreement", "ideal"], ...]] = ("disagreement",)

    def score(self, expected: ExpectedRewards, weights: NDArray[np.float64]) -> Scored:
        """Return logarithms of the products of gains."""
        disagreement = self.disagreement_point(expected)
        scores = log_gain_product(expected.values, disagreement, weights)
        flags = {"no_agreement": np.asarray(np.isneginf(scores).all(axis=0))}
        if self.disagreement == "status_quo":
            flags["irrational"] = rank_irrational_last(scores, expected, disagreement, self.status_quo, weights > 0)
        return Scored(scores, flags, {"disagreement": disagreement})
