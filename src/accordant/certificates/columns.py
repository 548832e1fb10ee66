"""Reachable sets of rules that judge each action by its own column of E: exact, but for ties of rules with peaks.

Columns are separate coordinates of the box. Whatever is reported when action a wins, raising column a to its highest
and lowering all others to their lowest only helps a: so a is reachable exactly if it wins there. Both ends of every
column are scored once, and 2 A scores say which of the A actions are reachable. Rules with peaks inside the scale
(`PeakedColumns`) take the reports nearest to the peaks and farthest from them in place of the ends.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from accordant.arrays import Codes, Integers, Mask, Values, WholeNumbers
from accordant.certificates.method import Method, Reach
from accordant.certificates.reports import Reports
from accordant.kernels import compiled
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.reference_points import per_context
from accordant.strategies.strategy import Strategy

WIDER = 1.001  # so much wider than in the rule itself are ties here: its comparisons round in another way
BLUR = 0.01  # of the tie tolerance: what rounding alone may do to equal scores
CHUNK = 1024  # contexts whose rivals stay in the first-level cache


class ColumnOrder(Method):
    """Decide once for every action, with its column at its highest and all others at their lowest."""

    words = "one decision for every action at its best"
    always_exact = True

    def reach(self, rule: Strategy, reports: Reports) -> Reach:
        """Return exact reachable sets."""
        reachable = np.zeros((reports.n_actions, reports.n_contexts), dtype=bool)
        open_to_change = np.flatnonzero(self.changeable(rule, reports, reports.decided(rule)))
        if len(open_to_change):  # elsewhere only the decided action is reachable, and whoever asks puts that in
            some = reports.take(open_to_change)
            values = some.promoting(0)
            for action in range(reports.n_actions):
                if action:
                    values[:, action - 1] = some.lowest[:, action - 1]
                    values[:, action] = some.highest[:, action]
                reachable[action, open_to_change] = some.choose(rule, values) == action
        return Reach(reachable, reachable)

    def changeable(self, rule: Strategy, reports: Reports, decided: Integers) -> Mask:
        """Decide once where the decided action is at its worst and all others are at their best."""
        values = against(reports.highest, reports.lowest, decided, reports)
        return np.asarray(reports.choose(rule, values) != decided)


class ColumnScores(ColumnOrder):
    """Score both ends of every column, and compare each action's best with the worst of the others.

    Class attributes
    ----------------
    scores_and_sums_agree
        Whether the report with the best score also has the largest sum.
    """

    words = "both ends of every column"
    always_exact = True
    scores_and_sums_agree: ClassVar[bool] = True

    def reach(self, rule: Strategy, reports: Reports) -> Reach:
        """Return exact reachable sets."""
        assert isinstance(rule, ContextRule)
        best, worst = ends(rule, reports)
        highest, lowest = _scores(rule, reports, best), _scores(rule, reports, worst)
        reachable = np.empty((reports.n_actions, reports.n_contexts), dtype=bool)
        close, edge = np.empty(reports.n_contexts, dtype=bool), np.zeros(reports.n_contexts, dtype=bool)
        tolerance = reports.honest.tolerance
        if unbeaten(highest, lowest, WIDER * tolerance, reachable, close):
            most, least = reports.totals(rule, reports.highest), reports.totals(rule, reports.lowest)
            unbeaten_in_ties(highest, lowest, most, least, close, WIDER * tolerance, BLUR, reachable, edge)
        if not self.scores_and_sums_agree:
            edge |= close
        if reports.single:  # reports are rounded to it, and logarithms make much of that
            edge[:] = True
        return Reach(reachable, self._attained(rule, reports, reachable, np.flatnonzero(edge)))

    def _attained(self, rule: Strategy, reports: Reports, reachable: Mask, edge: Codes) -> Mask:
        """Return the reachable actions, less those that do not really win where scores lie on the edge of a tie."""
        if not len(edge):
            return reachable
        inner, some = reachable.copy(), reports.take(edge)
        for action in range(reports.n_actions):
            inner[action, edge] &= some.choose(rule, self.misreport(rule, some, action, 0)) == action
        return inner

    def misreport(self, rule: Strategy, reports: Reports, action: int, attack: int) -> Values:
        """Return the action's best column beside the worst of the others."""
        del attack
        assert isinstance(rule, ContextRule)
        best, worst = ends(rule, reports)
        values = worst.copy()
        values[:, action] = best[:, action]
        return values


class PeakedColumns(ColumnScores):
    """Score the reports nearest to the peaks and farthest from them; where that ties, nothing is ruled out by sums.

    The report with the best score is not the one with the largest sum, so sums at both ends of the box stand for those
    of all reports that tie: sound, and exact wherever the actions kept are also attained.
    """

    words = "nearest and farthest points of every column"
    always_exact = False  # ties may hold too many actions
    scores_and_sums_agree = False

    def changeable(self, rule: Strategy, reports: Reports, decided: Integers) -> Mask:
        """Return where an action other than the decided one could not be ruled out."""
        return Method.changeable(self, rule, reports, decided)


def ends(rule: ContextRule, reports: Reports) -> tuple[Values, Values]:
    """Return the best and worst reports of every column by itself, each of shape (stakeholder, action, context)."""
    if rule.structure(frozen=reports.frozen) != "column_peaked":
        return reports.highest, reports.lowest
    block = reports.block(reports.lowest)
    best, worst = reports.scratch.take(*reports.lowest.shape), reports.scratch.take(*reports.lowest.shape)
    peaks = per_context(rule.peaks(block), block)  # type: ignore[attr-defined]
    nearest_and_farthest(peaks, reports.lowest, reports.highest, best, worst)
    return best, worst


def against(best: Values, worst: Values, decided: Integers, reports: Reports) -> Values:
    """Return the reports that hurt the decided action most: its worst column beside the best of all others."""
    values = reports.scratch.take(*best.shape)
    np.copyto(values, best)
    hurt(worst, decided.astype(np.int64), values)
    return values


def _scores(rule: ContextRule, reports: Reports, values: Values) -> Values:
    return np.ascontiguousarray(reports.scores(rule, values), dtype=np.float64)


@compiled
def nearest_and_farthest(peaks: Values, lowest: Values, highest: Values, nearest: Values, farthest: Values) -> None:
    """Write the report nearest to a stakeholder's peak, shape (stakeholder, context), and the end farthest from it.

    In NumPy::

        peak = peaks[:, None]
        nearest[:] = np.clip(peak, lowest, highest)
        farthest[:] = np.where(peak - lowest >= highest - peak, lowest, highest)
    """
    n_stakeholders, n_actions, n_contexts = lowest.shape
    for i in range(n_stakeholders):
        for a in range(n_actions):
            near, far, peak = nearest[i, a], farthest[i, a], peaks[i]
            below, above = lowest[i, a], highest[i, a]
            for t in range(n_contexts):
                low, high, best = below[t], above[t], peak[t]
                far[t] = low if best - low >= high - best else high
                best = low if best < low else best
                near[t] = high if best > high else best


@compiled
def hurt(worst: Values, decided: WholeNumbers, values: Values) -> None:
    """Put the decided action's worst column into `values`, shape (stakeholder, action, context).

    In NumPy::

        t = np.arange(len(decided))
        values[:, decided, t] = worst[:, decided, t]
    """
    for i in range(len(worst)):
        for t in range(len(decided)):
            values[i, decided[t], t] = worst[i, decided[t], t]


@compiled
def unbeaten(best: Values, worst: Values, tolerance: float, reachable: Mask, close: Mask) -> int:
    """Write which actions score more at their best than every other at its worst, shape (action, context).

    In NumPy::

        others = ~np.eye(len(best), dtype=bool)[:, :, None]
        rival = np.where(others, worst, -np.inf).max(axis=1)  # the best of the others at their worst
        size = np.where(abs(rival) < np.inf, np.maximum(1.0, abs(rival)), 1.0)
        reachable[:] = best > rival + tolerance * size
        close[:] = (~reachable & (best >= rival - tolerance * size)).any(axis=0)
        result = close.sum()

    Parameters
    ----------
    best, worst
        Scores of each action at the two ends of its column.
    tolerance
        How close scores tie, relative to max(1, |score|).
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
                wins[k] = score > rival + tolerance * size_of
                near[k] |= not wins[k] and score >= rival - tolerance * size_of
        for k in range(size):
            n_close += 1 if near[k] else 0
    return n_close


@compiled
def unbeaten_in_ties(
    best: Values, worst: Values, most: Values, least: Values, close: Mask, tolerance: float, blur: float,
    reachable: Mask, edge: Mask,
) -> None:  # fmt: skip
    """Write which actions are reachable where scores may tie, shape (action, context).

    Scores within the tolerance tie; then the sums decide, then the order of actions. A score that is lower by more
    than rounding beats nobody, whatever its sum: so no action that a chain of near ties could bring to the top is ruled
    out.

    Parameters
    ----------
    best, worst
        Scores of each action at the two ends of its column, shape (action, context).
    most, least
        Sums that break ties there.
    close
        Contexts to look at; others stay as they are.
    tolerance, blur
        How close scores and sums tie, relative to max(1, |score|), and what share of that is rounding.
    reachable
        Where the result goes.
    edge
        Set where some scores or sums differ by more than rounding and by less than what ties, so that the result may
        hold too many actions, shape (context,).
    """
    n_actions, n_contexts = best.shape
    for t in range(n_contexts):
        if not close[t]:
            continue
        for a in range(n_actions):
            wins, score = True, best[a, t]
            reach = tolerance * max(1.0, abs(most[a, t]))
            for b in range(n_actions):
                rival = worst[b, t]
                size = tolerance * (max(1.0, abs(rival)) if abs(rival) < np.inf else 1.0)
                if a == b or rival < score - size:
                    continue
                if score < rival - size:
                    wins = False
                    break
                gap = least[b, t] - most[a, t]
                apart = 0.0 if rival == score else abs(rival - score)  # −inf ties with −inf
                edge[t] |= apart > blur * size or (abs(gap) > blur * reach and abs(gap) <= reach)
                if rival >= score - blur * size and (gap > reach or (gap >= -blur * reach and b < a)):
                    wins = False
                    break
            reachable[a, t] = wins
