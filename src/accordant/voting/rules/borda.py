"""Borda: a point for every alternative that a voter puts below (Borda 1784)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import register
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.tally import Tally


def borda_scores(margins: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """Return Borda's points, shape (alternative, context).

    Per voter, one point for each alternative put below and half a point for each tied. This is (Σ_b margin(a, b) +
    (m − 1) W) / 2, the symmetric Borda score up to a constant (Terzopoulou and Endriss 2021, "The Borda class").

    Parameters
    ----------
    margins
        Shape (a, b, context).
    total
        W, the sum of the weights.
    """
    points = margins.sum(axis=1)
    points += (len(margins) - 1) * total
    points /= 2
    return np.asarray(points)


@register("borda")
@dataclass(frozen=True)
class Borda(VotingRule):
    """Choose the most points, one for each alternative that a voter puts below and half for each that is tied."""

    def score(self, tally: Tally) -> Scored:
        """Return Borda's points."""
        points = tally.unit * borda_scores(tally.margins, tally.total)
        return Scored(points, tally.condorcet_flag)
