"""Relative utilitarianism with reference points that follow the reports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.certificates.columns import BLUR
from accordant.certificates.method import certifies
from accordant.certificates.pairwise.comparison import AHEAD, BEHIND, LEVEL, SLACK, Marks, PairwiseComparison
from accordant.certificates.pairwise.pairs import Pairwise
from accordant.certificates.pairwise.points import disagreement_of_rows, ideal_of_rows, status_quo
from accordant.certificates.reports import Reports
from accordant.kernels import compiled
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Strategy
from accordant.strategies.welfare import RelativeUtilitarian
from accordant.voting.rules.graded import Range

ROUNDING = 1e-14  # of the terms of a sum, some of which may be large and cancel
THIRD, RIVAL, ACTION = 0, 1, 2  # whose entry d is


def compare_row_by_row(
    pairs: PairwiseComparison, weights: Values, below: Values, above: Values, *, anchor: int | None = None,
    widening: float = 0.0,
) -> Marks:  # fmt: skip
    """Return what each action can be beside each rival if rows are stretched from d to the best action.

    No relative gain is above 1, so no sum is. The highest sum is not below 0 with a status quo; with fixed points it
    may be, and then ties are wider: as wide as if every action were raised a little.

    Parameters
    ----------
    weights
        Shape (stakeholder,), with sum 1.
    below, above
        Where d lies, shape (stakeholder, context).
    anchor
        The action that is d, if one is.
    widening
        How much an action is raised where ties are wider.
    """
    marks = pairs.marks()
    for a in range(pairs.lowest.shape[1]):
        for b in range(pairs.n_rivals):
            pair = (pairs, a, b, anchor, below, above, weights)
            marks[a, b] = BEHIND if a == b else marks_of_pair(*pair, widening)
    return marks


def compare_mirrored(pairs: PairwiseComparison, weights: Values, ideal: Values, widening: float) -> Marks:
    """Return the same if rows are stretched from the worst action to a fixed ideal point, shape (stakeholder, context).

    (e_a − e_b) / (u − min_c e_c) is the other case for −e, with the two actions exchanged and −u in the place of d.
    """
    marks = pairs.marks()
    negated = replace(pairs, lowest=-pairs.highest, highest=-pairs.lowest)
    for a in range(pairs.lowest.shape[1]):
        for b in range(pairs.n_rivals):
            pair = (negated, b, a, None, -ideal, -ideal, weights)
            marks[a, b] = BEHIND if a == b else marks_of_pair(*pair, widening)
    return marks


def marks_of_pair(
    pairs: PairwiseComparison, action: int, rival: int, anchor: int | None,
    below: Values, above: Values, weights: Values, widening: float,
) -> NDArray[np.uint8]:  # fmt: skip
    """Return what an action can be beside a rival, shape (context,); see `compare_row_by_row`."""
    thirds = [c for c in range(pairs.lowest.shape[1]) if c not in (action, rival, anchor)]
    low = pairs.lowest[:, thirds].max(axis=1, initial=-np.inf)
    high = pairs.highest[:, thirds].max(axis=1, initial=-np.inf)
    role = RIVAL if rival == anchor else ACTION if action == anchor else THIRD
    ends, bounds = (pairs.lowest, pairs.highest, low, high, below, above), np.empty(low.shape)
    leads_of_rows(*ends, action, rival, role, 0.0, INDIFFERENT, bounds)
    lead, noise = weights @ bounds, ROUNDING * (weights @ np.abs(bounds))
    if widening:
        leads_of_rows(*ends, action, rival, role, widening, INDIFFERENT, bounds)
    level = weights @ bounds >= -SLACK * pairs.tolerance - noise
    mark = np.where(lead > BLUR * pairs.tolerance, AHEAD, np.where(level, LEVEL, BEHIND))
    return mark.astype(np.uint8)


@compiled
def leads_of_rows(
    lowest: Values, highest: Values, low: Values, high: Values, below: Values, above: Values, action: int, rival: int,
    role: int, widening: float, indifferent: float, bounds: Values,
) -> None:  # fmt: skip
    """Write the largest (E[a] − E[b]) / (max_c E[c] − d) of every row, shape (stakeholder, context).

    Parameters
    ----------
    lowest, highest
        Ends of the box, shape (stakeholder, action, context).
    low, high
        How low and how high the best of the other actions can be kept, shape (stakeholder, context).
    below, above
        Ends of d.
    action, rival
        a and b.
    role
        Whether d is the rival's entry, the action's, or neither.
    widening
        How much the action is raised above its highest.
    indifferent
        Rows no wider than this add nothing.
    bounds
        Where the result goes.
    """
    n_stakeholders, _, n_contexts = lowest.shape
    narrowest, out = 0.99 * indifferent, 1.01 * indifferent  # rows may count from here, and may not count up to there
    for i in range(n_stakeholders):
        for t in range(n_contexts):
            x, y, top, far = highest[i, action, t] + widening, lowest[i, rival, t], low[i, t], high[i, t]
            least, most = below[i, t], above[i, t]
            bound = 0.0
            if x > y and role == RIVAL:
                bound = (x - y) / max(max(x, top) - y, narrowest)
            elif x > y and role == ACTION:
                bound = (x - y) / max(top - x, narrowest) if far > least else 0.0
            elif x > y and max(x, far) > least:
                kept = min(max(top, most + narrowest, lowest[i, action, t]), x)
                bound = (x - y) / max(max(x, top) - most, narrowest)
                bound = max(bound, (kept - y) / max(max(kept, top) - most, narrowest))
            elif x <= y and role == RIVAL and most < top - out:
                bound = (x - y) / (far - y)
            elif x <= y and role == ACTION and y - x > out:
                bound = (x - y) / (max(y, far) - x)
            elif x <= y and role == THIRD and most < max(y, top) - out:
                raised = highest[i, rival, t]
                bound = max((x - y) / (max(y, far) - least), (x - raised) / (max(raised, far) - least))
            bounds[i, t] = bound


@compiled
def sums_ahead_within(
    lowest: Values, highest: Values, weights: Values, narrow: Values, wide: Values, indifferent: float,
    tolerances: Values, blur: float, n_rivals: int, marks: Marks,
) -> None:  # fmt: skip
    """Write bounds of the marks if rows are stretched from d to u*, which are anywhere in intervals.

    In NumPy::

        ahead = highest[:, :, None] - lowest[:, None, :n_rivals]
        narrow, wide = narrow[:, None, None], wide[:, None, None]
        gains = np.where(wide > indifferent, ahead / np.maximum(narrow, indifferent), 0.0)
        losses = np.where(narrow > SLACK * indifferent, ahead / np.where(wide > 0, wide, 1.0), 0.0)
        lead = np.tensordot(weights, np.where(ahead > 0, gains, losses), axes=1)
        marks[:] = np.where(lead > blur, AHEAD, np.where(lead >= -tolerances, LEVEL, BEHIND))
        marks[np.eye(*marks.shape[:2], dtype=bool)] = BEHIND

    Parameters
    ----------
    lowest, highest
        Ends of the box.
    weights
        Shape (stakeholder,).
    narrow, wide
        Smallest and largest u* − d, shape (stakeholder, context).
    indifferent
        Rows no wider than this add nothing.
    tolerances, blur
        How close sums tie, shape (context,), and how close rounding brings equal ones.
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
                for i in range(n_stakeholders):
                    ahead = highest[i, a, t] - lowest[i, b, t]
                    if ahead > 0.0 and wide[i, t] > indifferent:
                        lead += weights[i] * ahead / max(narrow[i, t], indifferent)
                    elif ahead < 0.0 and narrow[i, t] > SLACK * indifferent:
                        lead += weights[i] * ahead / wide[i, t]
                mark = AHEAD if lead > blur else (LEVEL if lead >= -tolerances[t] else BEHIND)
                marks[a, b, t] = mark if a != b else BEHIND


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

    def compare(self, rule: Strategy, pairs: PairwiseComparison, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        assert isinstance(rule, RelativeUtilitarian)
        shares = pairs.weights / pairs.weights.sum()
        if (rule.disagreement, rule.ideal) == ("context", "context"):
            return compare_stretched(pairs, shares, INDIFFERENT)
        low, high = disagreement_of_rows(rule, pairs, reports), ideal_of_rows(rule, pairs, reports)
        shape = (len(shares), pairs.lowest.shape[2])
        if rule.ideal == "context":
            below, above = (np.array(np.broadcast_to(end, shape)) for end in (low.low, low.high))
            anchor = status_quo(rule, reports)
            widening = 0.0 if anchor is not None else SLACK * pairs.tolerance * (1.0 + np.abs(low.low).max())
            return compare_row_by_row(pairs, shares, below, above, anchor=anchor, widening=widening)
        if rule.disagreement == "context":
            widening = SLACK * pairs.tolerance * (1.0 + np.abs(high.low).max())
            return compare_mirrored(pairs, shares, np.array(np.broadcast_to(high.low, shape)), widening)
        narrow, wide = (np.array(np.broadcast_to(room, shape)) for room in (high.low - low.high, high.high - low.low))
        farthest = np.maximum(pairs.highest.max(axis=1) - low.low, low.high - pairs.lowest.min(axis=1))
        scale = np.maximum(1.0, (shares[:, None] * farthest / np.maximum(narrow, INDIFFERENT)).sum(axis=0))
        marks = pairs.marks()
        sums_ahead_within(
            pairs.lowest, pairs.highest, shares, narrow, wide, INDIFFERENT, SLACK * pairs.tolerance * scale,
            BLUR * pairs.tolerance, pairs.n_rivals, marks,
        )  # fmt: skip
        return marks


def compare_stretched(pairs: PairwiseComparison, weights: Values, indifferent: float) -> Marks:
    """Return what each action can be beside each rival if rows are stretched from worst to best action, then added."""
    marks = pairs.marks()
    scale = pairs.tolerance * max(1.0, weights.sum())
    sums_ahead(
        pairs.lowest, pairs.highest, weights, indifferent, SLACK * scale, BLUR * pairs.tolerance,
        pairs.n_rivals, marks,
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


@certifies("range")
class RangePairs(RelativeSums):
    """Sums of stretched grades, exact for every pair."""

    made_for = Range

    def compare(self, rule: Strategy, pairs: PairwiseComparison, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        del rule, reports
        return compare_stretched(pairs, pairs.weights / min(1.0, pairs.weights.sum()), pairs.tolerance)
