"""Kalai–Smorodinsky: equal shares of what each stakeholder could gain at best (Kalai and Smorodinsky 1975)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise.rationality import rank_irrational_last
from accordant.strategies.compromise.rule import PointCompromise, Scored
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Scores, register
from accordant.utilities import ExpectedRewards


def smallest_relative_gain(
    values: NDArray[np.floating], disagreement: NDArray[np.floating], ideal: NDArray[np.floating]
) -> Scores:
    """Return min_i (E[i, a, t] − d[i, t]) / (u*[i, t] − d[i, t]), shape (action, context).

    Stakeholders who cannot gain (u* − d ≤ 1e-12: indifferent, or below d whatever is done) are left out
    of the minimum; where that leaves nobody, every action has score 0. Values are not capped at 1.
    """
    room = ideal - disagreement
    can_gain = room > INDIFFERENT
    relative = (values - disagreement[:, None]) / np.where(can_gain, room, 1.0)[:, None]
    smallest = np.where(can_gain[:, None], relative, np.inf).min(axis=0)
    return np.where(np.isposinf(smallest), 0.0, smallest)


@register("kalai_smorodinsky")
@dataclass(frozen=True)
class KalaiSmorodinsky(PointCompromise):
    """Maximise the smallest relative gain between disagreement and ideal point.

    With the context minimum as disagreement point and two actions on which stakeholders disagree, both
    actions score 0: the context is tied. With a status quo, an action that leaves somebody below it ranks
    last. A stakeholder with weight 0 is left out; other weights have no effect.
    """

    def score(self, expected: ExpectedRewards, weights: NDArray[np.float64]) -> Scored:
        """Return the smallest relative gains."""
        disagreement, ideal = self.disagreement_point(expected), self.ideal_point(expected)
        say = weights > 0
        scores = smallest_relative_gain(expected.values[say], disagreement[say], ideal[say])
        flags = {}
        if self.disagreement == "status_quo":
            flags["irrational"] = rank_irrational_last(scores, expected, disagreement, self.status_quo, say)
        return Scored(scores, flags, {"disagreement": disagreement, "ideal": ideal})
