"""Exact reachable sets of rules that judge each action by its own column of E.

Columns are separate coordinates of the box. Whatever is reported when action a wins, raising column a to its highest
and lowering all others to their lowest only helps a: so a is reachable exactly if it wins there. Both ends of every
column are scored once, and 2 A scores say which of the A actions are reachable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.certificates.method import Method, Reach
from accordant.certificates.reports import Reports
from accordant.compiled import compiled
from accordant.strategies.deciding import ContextRule
from accordant.strategies.selection import Codes
from accordant.strategies.strategy import Strategy

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]

BLUR = 0.01  # of the tie tolerance: what rounding alone may do to equal scores
CHUNK = 1024  # contexts whose rivals stay in the first-level cache


class ColumnScores(Method):
    """Score both ends of every column, and compare each action's best with the worst of the others."""

    words = "both ends of every column"

    def exact(self, rule: Strategy, n_actions: int) -> bool:
        """Return True."""
        del rule, n_actions
        return True

    def reach(self, rule: Strategy, reports: Reports) -> Reach:
        """Return exact reachable sets."""
        assert isinstance(rule, ContextRule)
        best, worst = ends(rule, reports)
        highest, lowest = _scores(rule, reports, best), _scores(rule, reports, worst)
        reachable = np.empty((reports.n_actions, reports.n_contexts), dtype=bool)
        close = np.empty(reports.n_contexts, dtype=bool)
        tolerance = reports.honest.tolerance
        if unbeaten(highest, lowest, tolerance, BLUR * tolerance, reachable, close):
            where = np.flatnonzero(close)
            most, least = reports.totals(rule, best)[:, where], reports.totals(rule, worst)[:, where]
            reachable[:, where] = unbeaten_in_ties(highest[:, where], lowest[:, where], most, least, tolerance)
        return Reach(reachable, reachable)

    def misreport(self, rule: Strategy, reports: Reports, action: int, attack: int) -> Values:
        """Return the action's best column beside the worst of the others."""
        del attack
        assert isinstance(rule, ContextRule)
        best, worst = ends(rule, reports)
        values = worst.copy()
        values[:, action] = best[:, action]
        return values

    def changeable(self, rule: Strategy, reports: Reports, decided: Codes) -> Mask:
        """Decide once where the decided action is at its worst and all others are at their best."""
        assert isinstance(rule, ContextRule)
        best, worst = ends(rule, reports)
        return np.asarray(reports.choose(rule, against(best, worst, decided, reports)) != decided)


class ColumnOrder(Method):
    """Decide once for every action, with its column at its highest and all others at their lowest."""

    words = "one decision for every action at its best"

    def exact(self, rule: Strategy, n_actions: int) -> bool:
        """Return True."""
        del rule, n_actions
        return True

    def reach(self, rule: Strategy, reports: Reports) -> Reach:
        """Return exact reachable sets."""
        reachable = np.empty((reports.n_actions, reports.n_contexts), dtype=bool)
        values = reports.promoting(0)
        for action in range(reports.n_actions):
            if action:
                values[:, action - 1] = reports.lowest[:, action - 1]
                values[:, action] = reports.highest[:, action]
            reachable[action] = reports.choose(rule, values) == action
        return Reach(reachable, reachable)

    def changeable(self, rule: Strategy, reports: Reports, decided: Codes) -> Mask:
        """Decide once where the decided action is at its worst and all others are at their best."""
        values = against(reports.highest, reports.lowest, decided, reports)
        return np.asarray(reports.choose(rule, values) != decided)


def ends(rule: ContextRule, reports: Reports) -> tuple[Values, Values]:
    """Return the best and worst reports of every column by itself, each of shape (stakeholder, action, context)."""
    if rule.structure(frozen=reports.frozen) != "column_peaked":
        return reports.highest, reports.lowest
    peaks = np.broadcast_to(rule.peaks(reports.block(reports.lowest))[:, None], reports.lowest.shape)  # type: ignore[attr-defined]
    best = np.clip(peaks, reports.lowest, reports.highest)
    below = peaks - reports.lowest >= reports.highest - peaks
    return best, np.where(below, reports.lowest, reports.highest)


def against(best: Values, worst: Values, decided: Codes, reports: Reports) -> Values:
    """Return the reports that hurt the decided action most: its worst column beside the best of all others."""
    values = reports.scratch.take(*best.shape)
    np.copyto(values, best)
    hurt(worst, decided.astype(np.int64), values)
    return values


def _scores(rule: ContextRule, reports: Reports, values: Values) -> Values:
    return np.ascontiguousarray(reports.scores(rule, values), dtype=np.float64)


@compiled
def hurt(worst: Values, decided: NDArray[np.int64], values: Values) -> None:
    """Put the decided action's worst column into `values`, shape (stakeholder, action, context)."""
    for i in range(len(worst)):
        for t in range(len(decided)):
            values[i, decided[t], t] = worst[i, decided[t], t]


@compiled
def unbeaten(best: Values, worst: Values, tolerance: float, blur: float, reachable: Mask, close: Mask) -> int:
    """Write which actions score no less at their best than every other at its worst, shape (action, context).

    Parameters
    ----------
    best, worst
        Scores of each action at the two ends of its column.
    tolerance, blur
        How close scores tie, relative to max(1, |score|), and how close rounding brings equal ones.
    reachable
        Where the result goes; right wherever nothing is close.
    close
        Where some action is so close to the best of its rivals that a tie may decide, shape (context,).

    Returns
    -------
    Number of close contexts.
    """
    n_actions, n_contexts = best.shape
    n_close = 0
    first, second, leader = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    for start in range(0, n_contexts, CHUNK):
        size = min(CHUNK, n_contexts - start)
        first[:], second[:], leader[:] = -np.inf, -np.inf, -1.0
        for b in range(n_actions):
            row, action = worst[b, start : start + size], float(b)
            for k in range(size):
                score, reached = row[k], first[k]
                higher = score > reached
                other = reached if higher else score
                first[k] = score if higher else reached
                leader[k] = action if higher else leader[k]
                second[k] = other if other > second[k] else second[k]
        near = close[start : start + size]
        near[:] = False
        for a in range(n_actions):
            row, wins, action = best[a, start : start + size], reachable[a, start : start + size], float(a)
            for k in range(size):
                rival = second[k] if leader[k] == action else first[k]
                size_of = abs(rival) if abs(rival) > 1.0 else 1.0
                size_of = size_of if size_of < np.inf else 1.0
                score = row[k]
                wins[k] = score > rival + blur * size_of
                near[k] |= not wins[k] and score >= rival - tolerance * size_of
        for k in range(size):
            n_close += 1 if near[k] else 0
    return n_close


def unbeaten_in_ties(best: Values, worst: Values, most: Values, least: Values, tolerance: float) -> Mask:
    """Return which actions are reachable where scores may tie, shape (action, context).

    Scores within the tolerance tie; then the sums decide, then the order of actions. A score that is lower by more
    than rounding beats nobody, whatever its sum: so no action that a chain of near ties could bring to the top is ruled
    out.

    Parameters
    ----------
    best, worst
        Scores of each action at the two ends of its column, shape (action, context).
    most, least
        Sums that break ties there.
    tolerance
        How close scores and sums tie, relative to max(1, |score|).
    """
    n_actions = len(best)
    reachable = np.ones(best.shape, dtype=bool)
    for a in range(n_actions):
        for b in range(n_actions):
            if a != b:
                with np.errstate(invalid="ignore"):  # −inf ties with −inf
                    lead = np.where(worst[b] == best[a], 0.0, worst[b] - best[a])
                scale = np.where(np.isfinite(worst[b]), np.maximum(1.0, np.abs(worst[b])), 1.0)
                gap, size = least[b] - most[a], tolerance * np.maximum(1.0, np.abs(most[a]))
                by_sum = (gap > size) | ((gap >= -BLUR * size) & (b < a))
                beaten = (lead > tolerance * scale) | ((lead >= -BLUR * tolerance * scale) & by_sum)
                reachable[a] &= ~beaten
    return reachable
