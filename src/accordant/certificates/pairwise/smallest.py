"""Two actions compared by their smallest value over stakeholders, when rows are independent.

Score(a) = min_i r_i(a), where within a row r_j(a) ≥ r_j(b) exactly if E[j, a] ≥ E[j, b]. Then a gets at least as far as
b somewhere in the box exactly if for some j: a can be at least at b in row j, and the smallest r_j(b) is not above what
every other row gives to a at most. The same with strict signs.
"""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.certificates.columns import BLUR
from accordant.certificates.pairwise.comparison import AHEAD, BEHIND, LEVEL, SLACK, Contest, Marks
from accordant.compiled import compiled


def compare_smallest(contest: Contest, most: Values, least: Values, gaps: Values) -> Marks:
    """Return what each action can be at most beside each rival, shape (action, rival, context).

    Parameters
    ----------
    contest
        The box.
    most, least
        Largest and smallest r_i(a) over the box, or bounds beyond them, shape (stakeholder, action, context); inf where
        a stakeholder may be left out of the minimum.
    gaps
        How far below a rival's entry an action's may be when their scores tie, shape (stakeholder,).
    """
    marks = contest.marks()
    tolerance = contest.tolerance
    smallest_ahead(
        contest.lowest, contest.highest, most, least, gaps, SLACK * tolerance, BLUR * tolerance, contest.n_rivals, marks
    )
    return marks


@compiled
def smallest_ahead(
    lowest: Values, highest: Values, most: Values, least: Values, gaps: Values, tolerance: float, blur: float,
    n_rivals: int, marks: Marks,
) -> None:  # fmt: skip
    """Write the marks of every action beside the first `n_rivals` ones; see `compare_smallest`.

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
