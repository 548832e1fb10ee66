"""Relative utilitarianism with reference points that follow the reports."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.certificates.columns import BLUR
from accordant.certificates.method import certifies
from accordant.certificates.pairwise.comparison import AHEAD, BEHIND, LEVEL, SLACK, Contest, Marks
from accordant.certificates.pairwise.pairs import Pairwise
from accordant.certificates.pairwise.points import disagreement_of_rows, ideal_of_rows, status_quo
from accordant.certificates.pairwise.relative_bounds import (
    compare_mirrored,
    compare_row_by_row,
    sums_ahead_within,
)
from accordant.certificates.reports import Reports
from accordant.compiled import compiled
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Strategy
from accordant.strategies.welfare.relative_utilitarian import RelativeUtilitarian


class RelativeSums(Pairwise):
    """What rules have in common that stretch each row to [0, 1] before they add."""

    tailored = True

    def ideal_thirds(self, reports: Reports, action: int, rival: int) -> Values:
        """Return thirds between the two where the action can be above, which keeps the row narrow; else far apart.

        Far apart: those whose highest is above the middle of the two at their highest, the others at their lowest.
        """
        above, below = reports.highest[:, action][:, None], reports.lowest[:, rival][:, None]
        near = np.clip(below, reports.lowest, reports.highest)
        up = reports.highest - below >= above - reports.lowest
        return np.where(above > below, near, np.where(up, reports.highest, reports.lowest))


@certifies("relative_utilitarian")
class RelativeUtilitarianPairs(RelativeSums):
    """Sums of relative gains: exact for every pair if both points are those of the context, else bounded row by row."""

    made_for = RelativeUtilitarian

    def by_columns(self, rule: Strategy) -> bool:
        """Only where the ideal point is that of the context, and the disagreement point moves as well."""
        assert isinstance(rule, RelativeUtilitarian)
        return rule.ideal == "context" and rule.disagreement in ("context", "status_quo")

    def compare(self, rule: Strategy, contest: Contest, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        assert isinstance(rule, RelativeUtilitarian)
        shares = contest.weights / contest.weights.sum()
        if (rule.disagreement, rule.ideal) == ("context", "context"):
            return compare_stretched(contest, shares, INDIFFERENT)
        low, high = disagreement_of_rows(rule, contest, reports), ideal_of_rows(rule, contest, reports)
        shape = (len(shares), contest.lowest.shape[2])
        if rule.ideal == "context":
            below, above = (np.array(np.broadcast_to(end, shape)) for end in (low.low, low.high))
            anchor = status_quo(rule, reports)
            widening = 0.0 if anchor is not None else SLACK * contest.tolerance * (1.0 + np.abs(low.low).max())
            return compare_row_by_row(contest, shares, below, above, anchor=anchor, widening=widening)
        if rule.disagreement == "context":
            widening = SLACK * contest.tolerance * (1.0 + np.abs(high.low).max())
            return compare_mirrored(contest, shares, np.array(np.broadcast_to(high.low, shape)), widening)
        narrow, wide = (np.array(np.broadcast_to(room, shape)) for room in (high.low - low.high, high.high - low.low))
        farthest = np.maximum(contest.highest.max(axis=1) - low.low, low.high - contest.lowest.min(axis=1))
        scale = np.maximum(1.0, (shares[:, None] * farthest / np.maximum(narrow, INDIFFERENT)).sum(axis=0))
        marks = contest.marks()
        sums_ahead_within(
            contest.lowest, contest.highest, shares, narrow, wide, INDIFFERENT, SLACK * contest.tolerance * scale,
            BLUR * contest.tolerance, contest.n_rivals, marks,
        )  # fmt: skip
        return marks


def compare_stretched(contest: Contest, weights: Values, indifferent: float) -> Marks:
    """Return what each action can be beside each rival if rows are stretched from worst to best action, then added."""
    marks = contest.marks()
    scale = contest.tolerance * max(1.0, weights.sum())
    sums_ahead(
        contest.lowest, contest.highest, weights, indifferent, SLACK * scale, BLUR * contest.tolerance,
        contest.n_rivals, marks,
    )  # fmt: skip
    return marks


@compiled
def sums_ahead(
    lowest: Values, highest: Values, weights: Values, indifferent: float, tolerance: float, blur: float, n_rivals: int,
    marks: Marks,
) -> None:  # fmt: skip
    """Write the marks of every action beside the first `n_rivals` ones, by Σ_i w_i (e_i − min_c) / (max_c − min_c).

    Where the action is above its rival the row should be narrow, where it is below it wide; one third action can
    widen the row at one end only.

    Parameters
    ----------
    lowest, highest
        Ends of the box.
    weights
        Shape (stakeholder,).
    indifferent
        Rows no wider than this add nothing.
    tolerance, blur
        How close sums tie, and how close rounding brings equal ones.
    n_rivals
        Number of rivals.
    marks
        Where the result goes, shape (action, rival, context).
    """
    n_stakeholders, n_actions, n_contexts = lowest.shape
    for a in range(n_actions):
        for b in range(n_rivals):
            for t in range(n_contexts):
                lead = 0.0
                for i in range(n_stakeholders if a != b else 0):
                    x, y = highest[i, a, t], lowest[i, b, t]
                    if x > y:
                        top, bottom = x, y
                        for c in range(n_actions):
                            if c not in (a, b):
                                top = max(top, lowest[i, c, t])
                                bottom = min(bottom, highest[i, c, t])
                        lead += weights[i] * (x - y) / max(top - bottom, indifferent)
                    elif y - x > 1.01 * indifferent:  # else the row may add nothing
                        top, second, upper = y, y, -1
                        bottom, other, lower = x, x, -1
                        for c in range(n_actions):
                            if c not in (a, b):
                                high, low = highest[i, c, t], lowest[i, c, t]
                                if high > top:
                                    top, second, upper = high, top, c
                                elif high > second:
                                    second = high
                                if low < bottom:
                                    bottom, other, lower = low, bottom, c
                                elif low < other:
                                    other = low
                        room = top - bottom
                        if upper == lower and upper >= 0:
                            room = max(top - other, second - bottom)
                        lead -= weights[i] * (y - x) / room
                mark = AHEAD if lead > blur else (LEVEL if lead >= -tolerance else BEHIND)
                marks[a, b, t] = mark if a != b else BEHIND
