"""Sums of relative gains whose points are a status quo, or partly fixed: bounds for every row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.certificates.columns import BLUR
from accordant.certificates.pairwise.comparison import AHEAD, BEHIND, LEVEL, SLACK, Contest, Marks
from accordant.compiled import compiled
from accordant.strategies.reference_points import INDIFFERENT

ROUNDING = 1e-14  # of the terms of a sum, some of which may be large and cancel
THIRD, RIVAL, ACTION = 0, 1, 2  # whose entry d is


def compare_row_by_row(
    contest: Contest, weights: Values, below: Values, above: Values, *, anchor: int | None = None, widening: float = 0.0
) -> Marks:
    """Return what each action can be beside each rival if rows are stretched from d to the best action.

    No relative gain is above 1, so no sum is. The highest sum is not below 0 with a status quo; with fixed points it
    may be, and then ties are wider: as wide as if every action were raised a little.

    Parameters
    ----------
    contest
        The box.
    weights
        Shape (stakeholder,), with sum 1.
    below, above
        Where d lies, shape (stakeholder, context).
    anchor
        The action that is d, if one is.
    widening
        How much an action is raised where ties are wider.
    """
    marks = contest.marks()
    for a in range(contest.lowest.shape[1]):
        for b in range(contest.n_rivals):
            pair = (contest, a, b, anchor, below, above, weights)
            marks[a, b] = BEHIND if a == b else marks_of_pair(*pair, widening)
    return marks


def compare_mirrored(contest: Contest, weights: Values, ideal: Values, widening: float) -> Marks:
    """Return the same if rows are stretched from the worst action to a fixed ideal point, shape (stakeholder, context).

    (e_a − e_b) / (u − min_c e_c) is the other case for −e, with the two actions exchanged and −u in the place of d.
    """
    marks = contest.marks()
    negated = replace(contest, lowest=-contest.highest, highest=-contest.lowest)
    for a in range(contest.lowest.shape[1]):
        for b in range(contest.n_rivals):
            pair = (negated, b, a, None, -ideal, -ideal, weights)
            marks[a, b] = BEHIND if a == b else marks_of_pair(*pair, widening)
    return marks


def marks_of_pair(
    contest: Contest, action: int, rival: int, anchor: int | None, below: Values, above: Values, weights: Values,
    widening: float,
) -> NDArray[np.uint8]:  # fmt: skip
    """Return what an action can be beside a rival, shape (context,); see `compare_row_by_row`."""
    thirds = [c for c in range(contest.lowest.shape[1]) if c not in (action, rival, anchor)]
    low = contest.lowest[:, thirds].max(axis=1, initial=-np.inf)
    high = contest.highest[:, thirds].max(axis=1, initial=-np.inf)
    role = RIVAL if rival == anchor else ACTION if action == anchor else THIRD
    ends, bounds = (contest.lowest, contest.highest, low, high, below, above), np.empty(low.shape)
    leads_of_rows(*ends, action, rival, role, 0.0, INDIFFERENT, bounds)
    lead, noise = weights @ bounds, ROUNDING * (weights @ np.abs(bounds))
    if widening:
        leads_of_rows(*ends, action, rival, role, widening, INDIFFERENT, bounds)
    level = weights @ bounds >= -SLACK * contest.tolerance - noise
    mark = np.where(lead > BLUR * contest.tolerance, AHEAD, np.where(level, LEVEL, BEHIND))
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
