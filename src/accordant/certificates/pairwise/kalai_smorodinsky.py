"""Kalai–Smorodinsky with reference points that follow the reports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.certificates.method import certifies
from accordant.certificates.pairwise.comparison import BEHIND, SLACK, Contest, Marks
from accordant.certificates.pairwise.pairs import Pairwise
from accordant.certificates.pairwise.points import (
    Interval,
    anchor,
    disagreement_beside,
    disagreement_of_rows,
    ever_rational,
    ideal_beside,
    ideal_of_rows,
    reach_of_points,
    status_quo,
)
from accordant.certificates.pairwise.smallest import compare_smallest
from accordant.certificates.reports import Reports
from accordant.compiled import compiled
from accordant.strategies.bargaining.kalai_smorodinsky import KalaiSmorodinsky
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Strategy, stakeholder_weights


@certifies("kalai_smorodinsky")
class KalaiSmorodinskyPairs(Pairwise):
    """Smallest relative gains: exact for every pair if both points are those of the context, sound otherwise."""

    def by_columns(self, rule: Strategy) -> bool:
        """Not with a fixed disagreement point beside an ideal point that moves."""
        assert isinstance(rule, KalaiSmorodinsky)
        return rule.disagreement in ("context", "status_quo")

    made_for = KalaiSmorodinsky
    levelled = True

    def levels(self, rule: Strategy, reports: Reports, action: int) -> Values:
        """Return the highest worst reward that leaves the action its best score."""
        assert isinstance(rule, KalaiSmorodinsky)
        say = stakeholder_weights(rule.weights, len(reports.lowest)) > 0
        top, others = reports.highest[:, action], np.delete(reports.lowest, action, axis=1)
        high = np.maximum(top, others.max(axis=1)) if rule.ideal == "context" else rule.ideal_point(reports.honest)
        low = np.minimum(top, others.min(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(high - low > INDIFFERENT, (top - low) / (high - low), np.inf)
            score = relative[say].min(axis=0)
            level = np.where(score < 1, (top - score * high) / (1 - score), np.inf)
        return np.asarray(np.minimum(super().levels(rule, reports, action), np.nan_to_num(level, nan=np.inf)[:, None]))

    def compare(self, rule: Strategy, contest: Contest, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        assert isinstance(rule, KalaiSmorodinsky)
        most, least = np.empty_like(contest.lowest), np.empty_like(contest.lowest)
        for entries, highest, out in ((contest.highest, True, most), (contest.lowest, False, least)):
            low = disagreement_beside(rule, contest, entries, reports)
            high = ideal_beside(rule, contest, entries, reports)
            relative_gains(entries, low.low, low.high, high.low, high.high, INDIFFERENT, highest, out)
        rows, tops = disagreement_of_rows(rule, contest, reports), ideal_of_rows(rule, contest, reports)
        silent = may_be_left_out(rows, tops)
        most[np.broadcast_to(silent[:, None], most.shape)] = np.inf
        action = status_quo(rule, reports)
        if action is not None:
            anchor(most, least, contest, action)
        gaps = 2 * INDIFFERENT + SLACK * contest.tolerance * reach_of_points(rule, contest, reports)
        marks = compare_smallest(contest, most, least, gaps)
        if action is not None:
            marks[np.broadcast_to(~ever_rational(contest, action)[:, None], marks.shape)] = BEHIND
        return marks


def may_be_left_out(disagreement: Interval, ideal: Interval) -> NDArray[np.bool_]:
    """Return where a stakeholder may be left unable to gain, shape (stakeholder, context) or (stakeholder, 1)."""
    return np.asarray(ideal.low - disagreement.high <= SLACK * INDIFFERENT)


@compiled
def relative_gains(
    entries: Values, d_low: Values, d_high: Values, u_low: Values, u_high: Values, indifferent: float, highest: bool,
    out: Values,
) -> None:  # fmt: skip
    """Write the largest or smallest (e − d) / (u − d) over d and u in intervals, shape (stakeholder, action, context).

    For one of d and u given it rises or falls in the other, so the four ends are enough.

    Parameters
    ----------
    entries
        e.
    d_low, d_high, u_low, u_high
        Ends of the intervals, same shape.
    indifferent
        u − d is not smaller, or the stakeholder is left out.
    highest
        Whether the largest is wanted.
    out
        Where the result goes.
    """
    n_stakeholders, n_actions, n_contexts = entries.shape
    sign = 1.0 if highest else -1.0
    for i in range(n_stakeholders):
        for a in range(n_actions):
            for t in range(n_contexts):
                e = entries[i, a, t]
                best = -np.inf
                for d in (d_low[i, a, t], d_high[i, a, t]):
                    for u in (u_low[i, a, t], u_high[i, a, t]):
                        value = sign * (e - d) / max(u - d, indifferent)
                        best = value if value > best else best
                out[i, a, t] = sign * best
