"""How far a rule lies beyond the front of mixtures, the lotteries between two candidates.

Along a lottery each metric is linear in the probability if it adds over contexts; otherwise it is followed from one
step of 0.05 to the next. A gap counts on both sides, so a metric gives one line or two; the best lottery against a rule
maximises the smallest of these lines, which happens at an end or where two of them cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Self

import numpy as np

from accordant.arrays import Values
from accordant.evaluation.conflict.attainable_set import SHARES
from accordant.evaluation.conflict.totals import Totals
from accordant.metrics.metric import Goal


@dataclass(frozen=True, eq=False)
class Lotteries:
    """All lotteries between two of some candidates, as stretches on which two metrics are linear.

    Attributes
    ----------
    start, end
        Signed values where a stretch begins and ends, shape (stretch, resample, 2).
    linear
        Whether each lottery is a single stretch.
    """

    start: Values
    end: Values
    linear: bool = True

    @classmethod
    def of(cls, totals: Totals, names: Sequence[str], columns: tuple[int, int], *, linear: bool) -> Self:
        """Return the lotteries on these totals, in a single stretch each if both metrics are linear."""
        pairs = list(combinations(names, 2)) or list(combinations_with_replacement(names, 2))
        return cls._between(totals, [(totals.row(a), totals.row(b)) for a, b in pairs], columns, linear=linear)

    @classmethod
    def with_rule(
        cls, totals: Totals, rule: Values, names: Sequence[str], columns: tuple[int, int], *, linear: bool
    ) -> Self:
        """Return the lotteries between a rule with these sums, shape (resample, column), and each candidate."""
        return cls._between(totals, [(rule, totals.row(name)) for name in names], columns, linear=linear)

    @classmethod
    def _between(
        cls, totals: Totals, pairs: Sequence[tuple[Values, Values]], columns: tuple[int, int], *, linear: bool
    ) -> Self:
        shares = np.array([0.0, 1.0] if linear else [0.0, *SHARES, 1.0])[:, None, None]
        found = [totals.values(shares * a + (1 - shares) * b)[:, :, list(columns)] for a, b in pairs]
        starts, ends = (np.concatenate([each[side] for each in found]) for side in (slice(None, -1), slice(1, None)))
        return cls(starts, ends, linear)


def beyond(rule: Values, goals: tuple[Goal, Goal], lotteries: Lotteries, span: Values) -> Values:
    """Return by which share of the span a rule lies beyond all lotteries, shape (resample,).

    Each lottery is worse than the rule by at least so much in some metric; below 0, some lottery is better in both by
    so much. For the ideal in place of a rule it is the concession of all lotteries. NaN if the rule is not defined, or
    no lottery is.

    Parameters
    ----------
    rule
        Its values turned so that more is better, shape (resample, 2).
    goals, span
        As for `concession`; the span is above 0.
    lotteries
        On the same resamples.
    """
    starts, ends = (_lines(side, rule, goals, span) for side in (lotteries.start, lotteries.end))
    best = np.fmax(starts.min(axis=0), ends.min(axis=0))
    for first, second in combinations(range(len(starts)), 2):
        here, there = starts[first] - starts[second], ends[first] - ends[second]
        cross = here * there < 0
        share = np.where(cross, here, 0.0) / np.where(cross, here - there, 1.0)
        best = np.fmax(best, ((1 - share) * starts + share * ends).min(axis=0))
    return np.asarray(-np.fmax.reduce(best, axis=0))


def _lines(values: Values, own: Values, goals: tuple[Goal, Goal], span: Values) -> Values:
    """Return what lotteries are ahead of a rule, a line for each metric and two for a gap, shape (line, ...)."""
    lines = []
    for m, goal in enumerate(goals):
        signs = {"max": (1.0,), "min": (-1.0,), "zero": (-1.0, 1.0)}[goal]
        lines += [(sign * values[:, :, m] - own[:, m]) / span[m] for sign in signs]
    return np.stack(lines)
