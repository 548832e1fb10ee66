"""`PairwiseComparison`: the reports of those who have a say, and the marks that a comparison of two actions may get.

`compare_smallest` compares actions by their smallest value over stakeholders, when rows are independent:
Score(a) = min_i r_i(a), where within a row r_j(a) ≥ r_j(b) exactly if E[j, a] ≥ E[j, b]. Then a gets at least as far as
b somewhere in the box exactly if for some j: a can be at least at b in row j, and the smallest r_j(b) is not above what
every other row gives to a at most. The same with strict signs.

Kernels of ``pairwise/`` read `lowest` and `highest`, the ends of the box, shape (stakeholder, action, context), compare
every action with the first `n_rivals`, and write `marks`, shape (action, rival, context). Rows no wider than
`indifferent` add nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Integers, Mask, Values, WholeNumbers
from accordant.certificates.columns import BLUR
from accordant.certificates.reports import Reports
from accordant.kernels import compiled
from accordant.strategies.strategy import Strategy, stakeholder_weights

Marks = NDArray[np.uint8]  # shape (action, rival, context)

BEHIND, LEVEL, AHEAD = 0, 1, 2  # what an action can be at most beside a rival: a tie goes to sums, then to order
SLACK = 1.0 + BLUR  # of tolerances: a little more than the rules allow themselves


@dataclass(frozen=True, eq=False)
class PairwiseComparison:
    """What those who have a say may report, and which rivals every action is compared with.

    Attributes
    ----------
    lowest, highest
        Ends of the box, shape (stakeholder, action, context), of stakeholders with weight above 0.
    weights
        Their weights, shape (stakeholder,).
    has_weight
        Who they are among all, shape (all stakeholders,).
    labels
        Which action stands in a column, shape (action, context).
    n_rivals
        The first so many columns are rivals.
    tolerance
        How close scores tie, relative to max(1, |score|).
    """

    lowest: Values
    highest: Values
    weights: Values
    has_weight: Mask
    labels: WholeNumbers
    n_rivals: int
    tolerance: float

    @classmethod
    def of(cls, rule: Strategy, reports: Reports) -> PairwiseComparison:
        """Return the comparison of every action with every other one."""
        weights = stakeholder_weights(getattr(rule, "weights", None), len(reports.lowest))
        has_weight = weights > 0
        lowest, highest = (
            rewards if has_weight.all() else rewards[has_weight] for rewards in (reports.lowest, reports.highest)
        )
        shape = lowest.shape[1:]
        labels = np.ascontiguousarray(np.broadcast_to(np.arange(shape[0])[:, None], shape), dtype=np.int64)
        return cls(
            lowest, highest, weights[has_weight], has_weight, labels, reports.n_actions, reports.honest.tolerance
        )

    def against(self, decided: Integers) -> PairwiseComparison:
        """Return the comparison of every other action with the decided one, which comes to the first column."""
        codes = decided.astype(np.int64)
        lowest, highest, labels = np.empty_like(self.lowest), np.empty_like(self.highest), self.labels.copy()
        exchange_columns(self.lowest, codes, lowest)
        exchange_columns(self.highest, codes, highest)
        labels[codes, np.arange(len(codes))] = 0
        labels[0] = codes
        return PairwiseComparison(lowest, highest, self.weights, self.has_weight, labels, 1, self.tolerance)

    def marks(self) -> Marks:
        """Return room for a mark per action, rival and context, with arbitrary content."""
        _, n_actions, n_contexts = self.lowest.shape
        return np.empty((n_actions, self.n_rivals, n_contexts), dtype=np.uint8)

    def left(self, marks: Marks) -> Mask:
        """Return the actions that no rival rules out, shape (action, context).

        Where an action can at most tie with a rival, it stays unless its sum over those who have a say, at its
        highest, is below the rival's lowest.
        """
        left = np.empty(self.lowest.shape[1:], dtype=bool)
        most, least = self.highest.sum(axis=0), self.lowest.sum(axis=0)
        keep(marks, most, least, self.labels, self.tolerance, BLUR, left)
        return left


def beside(values: Values, highest: bool) -> Values:
    """Return for every entry the lowest or highest of the other actions in its row, same shape."""
    extreme = np.empty_like(values)
    extremes_beside(values, highest, extreme)
    return extreme


@compiled
def extremes_beside(values: Values, highest: bool, extreme: Values) -> None:
    """Write min over c ≠ a of values[i, c, t], or the max if `highest`; ±inf if there is no other action.

    In NumPy::

        same = np.eye(values.shape[1], dtype=bool)[:, :, None]
        best = np.where(same, -np.inf, values[:, None]).max(axis=2)
        extreme[:] = best if highest else np.where(same, np.inf, values[:, None]).min(axis=2)
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    sign = -1.0 if highest else 1.0
    first, second, leader = np.empty(n_contexts), np.empty(n_contexts), np.empty(n_contexts)
    for i in range(n_stakeholders):
        first[:], second[:], leader[:] = np.inf, np.inf, -1.0
        for a in range(n_actions):
            row, action = values[i, a], float(a)
            for t in range(n_contexts):
                value, reached = sign * row[t], first[t]
                lower = value < reached
                other = reached if lower else value
                first[t] = value if lower else reached
                leader[t] = action if lower else leader[t]
                second[t] = other if other < second[t] else second[t]
        for a in range(n_actions):
            out, action = extreme[i, a], float(a)
            for t in range(n_contexts):
                out[t] = sign * (second[t] if leader[t] == action else first[t])


@compiled
def exchange_columns(values: Values, decided: WholeNumbers, out: Values) -> None:
    """Write values, shape (stakeholder, action, context), with the decided action and the first one exchanged.

    In NumPy::

        out[:] = values
        t = np.arange(len(decided))
        out[:, decided, t], out[:, 0] = values[:, 0], values[:, decided, t]
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    for i in range(n_stakeholders):
        for a in range(n_actions):
            out[i, a, :] = values[i, a]
        for t in range(n_contexts):
            out[i, decided[t], t] = values[i, 0, t]
            out[i, 0, t] = values[i, decided[t], t]


@compiled
def keep(
    marks: Marks, most: Values, least: Values, labels: NDArray[Any], tolerance: float, blur: float, left: Mask
) -> None:
    """Write which actions are not behind any rival, shape (action, context).

    In NumPy::

        gaps, size = least[:marks.shape[1]] - most[:, None], tolerance * np.maximum(1.0, abs(most))[:, None]
        before = labels[:marks.shape[1]] < labels[:, None]
        loses = (gaps > size) | ((gaps >= -blur * size) & before)
        stays = (marks == AHEAD) | ((marks == LEVEL) & ~loses)
        left[:] = (stays | np.eye(len(most), marks.shape[1], dtype=bool)[:, :, None]).all(axis=1)

    Parameters
    ----------
    marks
        What each action can be beside each rival, shape (action, rival, context).
    most, least
        Highest and lowest sums that break ties, shape (action, context).
    labels
        Declared order of the columns, shape (action, context).
    tolerance, blur
        How close sums tie, relative to max(1, |sum|), and the share of it that rounding does to equal sums.
    left
        Where the result goes.
    """
    n_actions, n_rivals, n_contexts = marks.shape
    left[:] = True
    for a in range(n_actions):
        out = left[a]
        for b in range(n_rivals):
            if a == b:
                continue
            mark = marks[a, b]
            for t in range(n_contexts):
                gap, size = least[b, t] - most[a, t], tolerance * max(1.0, abs(most[a, t]))
                loses = gap > size or (gap >= -blur * size and labels[b, t] < labels[a, t])
                out[t] &= mark[t] == AHEAD or (mark[t] == LEVEL and not loses)


def compare_smallest(pairs: PairwiseComparison, most: Values, least: Values, gaps: Values) -> Marks:
    """Return what each action can be at most beside each rival, shape (action, rival, context).

    Parameters
    ----------
    most, least
        Largest and smallest r_i(a) over the box, or bounds beyond them, shape (stakeholder, action, context); inf where
        a stakeholder may be left out of the minimum.
    gaps
        How far below a rival's entry an action's may be when their scores tie, shape (stakeholder,).
    """
    marks = pairs.marks()
    tolerance = pairs.tolerance
    smallest_ahead(
        pairs.lowest, pairs.highest, most, least, gaps, SLACK * tolerance, BLUR * tolerance, pairs.n_rivals, marks,
    )  # fmt: skip
    return marks


@compiled
def smallest_ahead(
    lowest: Values, highest: Values, most: Values, least: Values, gaps: Values, tolerance: float, blur: float,
    n_rivals: int, marks: Marks,
) -> None:  # fmt: skip
    """Write the marks of every action beside the first `n_rivals` ones; see `compare_smallest`.

    In NumPy::

        same = np.eye(len(most), dtype=bool)[:, :, None, None]
        others = np.where(same, np.inf, most).min(axis=1)[:, :, None]  # of all rows but i, (i, a, 1, context)
        rival = least[:, None, :n_rivals]
        size = np.where(abs(rival) < np.inf, np.maximum(1.0, abs(rival)), 1.0)
        above, below = highest[:, :, None], lowest[:, None, :n_rivals]
        ahead = (above > below) & (rival < others - blur * size)
        level = (above >= below - gaps[:, None, None, None]) & (rival <= others + tolerance * size)
        marks[:] = np.where(ahead.any(axis=0), AHEAD, np.where(level.any(axis=0), LEVEL, BEHIND))
        marks[np.eye(*marks.shape[:2], dtype=bool)] = BEHIND

    Parameters
    ----------
    lowest, highest
        Ends of the box.
    most, least, gaps
        See `compare_smallest`.
    tolerance, blur
        How close scores tie, relative to max(1, |score|), and how close rounding brings equal ones.
    n_rivals
        Number of rivals.
    marks
        Where the result goes, shape (action, rival, context).
    """
    n_stakeholders, n_actions, n_contexts = lowest.shape
    first, second, leader = np.empty(n_contexts), np.empty(n_contexts), np.empty(n_contexts)
    for a in range(n_actions):
        first[:], second[:], leader[:] = np.inf, np.inf, -1.0
        for i in range(n_stakeholders):
            row, number = most[i, a], float(i)
            for t in range(n_contexts):
                value, reached = row[t], first[t]
                lower = value < reached
                other = reached if lower else value
                first[t] = value if lower else reached
                leader[t] = number if lower else leader[t]
                second[t] = other if other < second[t] else second[t]
        for b in range(n_rivals):
            out = marks[a, b]
            out[:] = BEHIND
            if a == b:
                continue
            for i in range(n_stakeholders):
                number, gap = float(i), gaps[i]
                above, below, worst = highest[i, a], lowest[i, b], least[i, b]
                for t in range(n_contexts):
                    bound = second[t] if leader[t] == number else first[t]
                    rival = worst[t]
                    size = abs(rival) if 1.0 < abs(rival) < np.inf else 1.0
                    ahead = above[t] > below[t] and rival < bound - blur * size
                    level = above[t] >= below[t] - gap and rival <= bound + tolerance * size
                    mark = AHEAD if ahead else (LEVEL if level else BEHIND)
                    out[t] = mark if mark > out[t] else out[t]
