"""Minimax regret: the best reward of every row follows the reports."""

from __future__ import annotations

import numpy as np

from accordant.certificates.method import certifies
from accordant.certificates.pairwise.comparison import SLACK, Contest, Marks, beside
from accordant.certificates.pairwise.pairs import Pairwise
from accordant.certificates.pairwise.smallest import compare_smallest
from accordant.certificates.reports import Reports
from accordant.strategies.distance.minimax_regret import MinimaxRegret
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Strategy


@certifies("minimax_regret")
class RegretPairs(Pairwise):
    """Largest weighted regrets, exact for every pair."""

    made_for = MinimaxRegret

    def compare(self, rule: Strategy, contest: Contest, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        del rule, reports
        return compare_largest_shortfalls(contest)


def compare_largest_shortfalls(contest: Contest) -> Marks:
    """Return what each action can be beside each rival if −max_i w_i (max_c E[i, c] − E[i, a]) is its score."""
    factors = contest.weights[:, None, None]
    best, worst = beside(contest.lowest, True), beside(contest.highest, True)
    most = factors * (contest.highest - np.maximum(contest.highest, best, out=best))
    least = factors * (contest.lowest - np.maximum(contest.lowest, worst, out=worst))
    with np.errstate(over="ignore"):  # of a weight near 0
        gaps = SLACK * contest.tolerance * np.maximum(1.0, contest.weights.max()) / contest.weights
    return compare_smallest(contest, most, least, 2 * INDIFFERENT + gaps)
