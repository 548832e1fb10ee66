"""Egalitarian bargaining with a disagreement point that follows the reports."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.certificates.method import certifies
from accordant.certificates.pairwise.comparison import BEHIND, SLACK, Contest, Marks
from accordant.certificates.pairwise.pairs import Pairwise
from accordant.certificates.pairwise.points import (
    anchor,
    disagreement_beside,
    ever_rational,
    reach_of_points,
    status_quo,
)
from accordant.certificates.pairwise.smallest import compare_smallest
from accordant.certificates.reports import Reports
from accordant.strategies.bargaining.egalitarian_equivalent import EgalitarianEquivalent
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Strategy, stakeholder_weights


@certifies("egalitarian_equivalent")
class EgalitarianPairs(Pairwise):
    """Smallest gains, divided by weights: exact for every pair with the worst action of the context, else sound."""

    made_for = EgalitarianEquivalent
    levelled = True

    def levels(self, rule: Strategy, reports: Reports, action: int) -> Values:
        """Return the highest worst reward that leaves the action its best score."""
        assert isinstance(rule, EgalitarianEquivalent)
        weights = stakeholder_weights(rule.weights, len(reports.lowest))[:, None]
        top = reports.highest[:, action]
        gains = top - np.minimum(top, np.delete(reports.lowest, action, axis=1).min(axis=1))
        score = (gains[weights[:, 0] > 0] / weights[weights[:, 0] > 0]).min(axis=0)
        return np.asarray(np.minimum(super().levels(rule, reports, action), (top - score * weights)[:, None]))

    def compare(self, rule: Strategy, contest: Contest, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        assert isinstance(rule, EgalitarianEquivalent)
        proportions = contest.weights[:, None, None]
        low = disagreement_beside(rule, contest, contest.highest, reports).low
        high = disagreement_beside(rule, contest, contest.lowest, reports).high
        most, least = (contest.highest - low) / proportions, (contest.lowest - high) / proportions
        action = status_quo(rule, reports)
        if action is not None:
            anchor(most, least, contest, action)
        reach = np.maximum(contest.weights, reach_of_points(rule, contest, reports))
        marks = compare_smallest(contest, most, least, 2 * INDIFFERENT + SLACK * contest.tolerance * reach)
        if action is not None:
            marks[np.broadcast_to(~ever_rational(contest, action)[:, None], marks.shape)] = BEHIND
        return marks
