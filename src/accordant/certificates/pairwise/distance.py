"""Distance rules with an ideal point that follows the reports."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.certificates.columns import BLUR
from accordant.certificates.method import certifies
from accordant.certificates.pairwise.comparison import (
    AHEAD,
    BEHIND,
    LEVEL,
    SLACK,
    Marks,
    PairwiseComparison,
    beside,
    compare_smallest,
)
from accordant.certificates.pairwise.pairs import Pairwise
from accordant.certificates.reports import Reports
from accordant.kernels import compiled
from accordant.strategies.distance import CompromiseProgramming, MinimaxRegret
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Strategy


@certifies("minimax_regret")
class RegretPairs(Pairwise):
    """Largest weighted regrets, exact for every pair."""

    made_for = MinimaxRegret

    def compare(self, rule: Strategy, pairs: PairwiseComparison, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        del rule, reports
        return compare_largest_shortfalls(pairs)


def compare_largest_shortfalls(pairs: PairwiseComparison) -> Marks:
    """Return what each action can be beside each rival if −max_i w_i (max_c E[i, c] − E[i, a]) is its score."""
    factors = pairs.weights[:, None, None]
    best, worst = beside(pairs.lowest, True), beside(pairs.highest, True)
    most = factors * (pairs.highest - np.maximum(pairs.highest, best, out=best))
    least = factors * (pairs.lowest - np.maximum(pairs.lowest, worst, out=worst))
    with np.errstate(over="ignore"):  # of a weight near 0
        gaps = SLACK * pairs.tolerance * np.maximum(1.0, pairs.weights.max()) / pairs.weights
    return compare_smallest(pairs, most, least, 2 * INDIFFERENT + gaps)


@certifies("compromise_programming")
class CompromisePairs(Pairwise):
    """Distances from the best reward of every row, exact for every pair; nobody exceeds it, so both sides are one."""

    made_for = CompromiseProgramming
    tailored = True

    def serves(self, rule: Strategy, n_actions: int) -> bool:
        """Return whether the ideal point comes from the context, so that nobody exceeds it."""
        return super().serves(rule, n_actions) and isinstance(rule, CompromiseProgramming) and not rule.fixed

    def compare(self, rule: Strategy, pairs: PairwiseComparison, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        del reports
        assert isinstance(rule, CompromiseProgramming)
        if np.isinf(rule.exponent):
            return compare_largest_shortfalls(pairs)
        marks = pairs.marks()
        exponent = float(rule.exponent)
        farthest = max(1.0, pairs.weights.sum() ** (1.0 / exponent))
        with np.errstate(over="ignore"):  # of a weight near 0; no shortfall is above 1
            widening = np.minimum(1.0, SLACK * pairs.tolerance * farthest * pairs.weights ** (-1.0 / exponent))
        distances_ahead(
            pairs.lowest, pairs.highest, pairs.weights, widening, exponent, BLUR * pairs.tolerance,
            pairs.n_rivals, marks,
        )  # fmt: skip
        return marks


@compiled
def distances_ahead(
    lowest: Values, highest: Values, weights: Values, widening: Values, exponent: float, blur: float, n_rivals: int,
    marks: Marks,
) -> None:  # fmt: skip
    """Write the marks of every action beside the first `n_rivals` ones, by Σ_i w_i (u_i − e_i)^p.

    The difference to a rival grows with u_i exactly where the action is above it. Shortfalls are taken relative to the
    largest, so that high powers do not vanish.

    Parameters
    ----------
    lowest, highest
        Ends of the box.
    weights
        Shape (stakeholder,).
    widening
        Raising an action by so much makes it win wherever it tied, shape (stakeholder,).
    exponent
        p, at least 1 and finite.
    blur
        What rounding does to equal distances, relative to them.
    n_rivals
        Number of rivals.
    marks
        Where the result goes, shape (action, rival, context).
    """
    n_stakeholders, n_actions, n_contexts = lowest.shape
    lacks, rival_lacks = np.empty(n_stakeholders), np.empty(n_stakeholders)
    for a in range(n_actions):
        for b in range(n_rivals):
            for t in range(n_contexts):
                mark = BEHIND
                for attempt in range(2 if a != b else 0):
                    largest = 0.0
                    for i in range(n_stakeholders):
                        x, y = highest[i, a, t] + attempt * widening[i], lowest[i, b, t]
                        ideal = x if x > y else y
                        for c in range(n_actions):
                            if c not in (a, b):
                                third = highest[i, c, t] if x > y else lowest[i, c, t]
                                ideal = third if third > ideal else ideal
                        lacks[i], rival_lacks[i] = ideal - x, ideal - y
                        largest = max(largest, lacks[i], rival_lacks[i])
                    lead, total = 0.0, 0.0
                    for i in range(n_stakeholders):
                        if largest > 0.0:
                            mine, other = lacks[i] / largest, rival_lacks[i] / largest
                            if exponent == 2.0:
                                mine, other = mine * mine, other * other
                            elif exponent != 1.0:
                                mine, other = mine**exponent, other**exponent
                            lead += weights[i] * (other - mine)
                            total += weights[i] * (other + mine)
                    if attempt == 0 and lead > blur * exponent * total:
                        mark = AHEAD
                        break
                    if attempt == 1 and lead >= -blur * exponent * total:
                        mark = LEVEL
                marks[a, b, t] = mark
