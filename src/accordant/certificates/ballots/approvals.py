"""Approvals as patterns: which actions are worth at least the mean, and which such sets a box of rewards allows.

A set A is approved if some mean m leaves every action of A at m or above, all others below, and the rewards sum to A
times m. For a given m the sums that reports can have are an interval; both its ends are piecewise linear in m, so the
possible m are an interval too, whose ends are maxima and minima of a few quotients.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import ClassVar

import numpy as np

from accordant.arrays import Mask, Values, WholeNumbers
from accordant.certificates.ballots.patterns import DOUBTFUL, IMPOSSIBLE, ROOM, SURE, Patterns, Verdicts
from accordant.certificates.columns import BLUR
from accordant.kernels import compiled
from accordant.voting.ballots import rank_type
from accordant.voting.rules.graded import approved_grades

BISECTIONS = 50  # halvings of an interval in [0, 1]: what is left is rounding


class Approvals(Patterns):
    """Sets of approved actions; somebody always is worth the mean, so none is empty.

    Parameters
    ----------
    n_actions
        At most 6.
    """

    most_actions: ClassVar[int] = 6

    def __init__(self, n_actions: int) -> None:
        self.approvals = np.array(list(product((False, True), repeat=n_actions))[1:], dtype=bool)
        self.ranks = np.zeros(self.approvals.shape, dtype=rank_type(n_actions))
        self._radix = 2 ** np.arange(n_actions)[::-1]

    def of(self, values: Values, tolerance: float) -> WholeNumbers:
        """Return the set of every stakeholder, shape (stakeholder, context)."""
        approved = approved_grades(values, None, max(tolerance, np.finfo(float).eps))
        return np.asarray(np.einsum("iat,a->it", approved.astype(np.int64), self._radix) - 1)

    @staticmethod
    def movable(lowest: Values, highest: Values, tolerance: float) -> Mask:
        """Return where an action could be worth the mean and could be worth less."""
        below, above = lowest.sum(axis=1, keepdims=True) - lowest, highest.sum(axis=1, keepdims=True) - highest
        n_actions = lowest.shape[1]
        rest, surplus = n_actions - 1, n_actions * tolerance
        always, never = rest * lowest >= above, rest * highest < below - 2 * surplus
        still = (lowest == highest).all(axis=1, keepdims=True)
        return np.asarray((~(always | never | still)).any(axis=(0, 1)))

    def allowed(self, lowest: Values, highest: Values, tolerance: float) -> Verdicts:
        """Return which sets reports in the box can approve, shape (member, pattern, context)."""
        verdicts = np.empty((len(lowest), len(self), lowest.shape[2]), dtype=np.uint8)
        for p in range(len(self)):
            least, most = self._bars(p, lowest, highest, tolerance)
            low, high = self._means(p, lowest, highest, tolerance)
            possible = least <= most + BLUR * tolerance
            verdicts[:, p] = np.where(possible, np.where(low <= high, SURE, DOUBTFUL), IMPOSSIBLE)
        return verdicts

    def leads(self, lowest: Values, highest: Values, verdicts: Verdicts, tolerance: float) -> Values:
        """Return the most by which one action can be worth more than another where a set is approved."""
        assert self.approvals is not None
        leads = np.empty((len(lowest), *self.ranks.shape, self.n_actions, lowest.shape[2]))
        for p in range(len(self)):
            least, most = self._bars(p, lowest, highest, tolerance)
            bars = least, np.maximum(least, most)
            lead_in_sets(lowest, highest, self.approvals[p], *bars, verdicts[:, p] > 0, tolerance, leads[:, p])
        return leads

    def middle(self, lowest: Values, highest: Values, codes: WholeNumbers, tolerance: float) -> Values:
        """Return reports whose mean is in the middle of the possible ones."""
        return self._placed(lowest, highest, codes, -1, tolerance)

    def favouring(self, lowest: Values, highest: Values, codes: WholeNumbers, action: int, tolerance: float) -> Values:
        """Return reports with one action as high as the set leaves room for, and then all others as low.

        Where both cannot be, because of the mean, this need not be the largest possible lead over every other action.
        """
        return self._placed(lowest, highest, codes, action, tolerance)

    def _set(self, pattern: int) -> Mask:
        assert self.approvals is not None
        return np.asarray(self.approvals[pattern])

    def _bars(self, pattern: int, lowest: Values, highest: Values, tolerance: float) -> tuple[Values, Values]:
        """Return between which levels the bar is if a set is approved: the mean less the tolerance."""
        surplus = self.n_actions * tolerance  # rewards sum to so much more than the actions times the bar
        return self._levels(pattern, lowest, highest, surplus, surplus, 0.0)

    def _means(self, pattern: int, lowest: Values, highest: Values, tolerance: float) -> tuple[Values, Values]:
        """Return between which levels the mean can be with the set at or above, and all others clearly below it."""
        apart = ROOM * tolerance
        return self._levels(pattern, lowest, highest, 0.0, apart * int((~self._set(pattern)).sum()), apart)

    def _levels(
        self, pattern: int, lowest: Values, highest: Values, over: float, under: float, apart: float
    ) -> tuple[Values, Values]:
        """Return the smallest and the largest level M that separates a set from the others, shape (member, context).

        Rewards in the set are at least M, others at most M − `apart`; the least sum of such rewards is at most
        A M + `over`, and the largest, with others up to M, at least A M + `under`. Written out for every choice of the
        actions that stay at their ends and do not move with M; of each number, the most binding are the first in order.
        """
        inside = self._set(pattern)
        rising, falling = np.sort(lowest[:, inside], axis=1)[:, ::-1], np.sort(highest[:, ~inside], axis=1)
        others, own = lowest[:, ~inside], highest[:, inside]
        least, most = np.full(own[:, 0].shape, -np.inf), own.min(axis=1)
        if others.shape[1]:
            least = others.max(axis=1) + apart
        for size in range(rising.shape[1] + 1):
            if others.shape[1] + size:
                total = others.sum(axis=1) + rising[:, :size].sum(axis=1) - over
                least = np.maximum(least, total / (others.shape[1] + size))
        for size in range(falling.shape[1] + 1):
            total = own.sum(axis=1) + falling[:, :size].sum(axis=1) - under
            most = np.minimum(most, total / (own.shape[1] + size))
        return least, most

    def _placed(self, lowest: Values, highest: Values, codes: WholeNumbers, action: int, tolerance: float) -> Values:
        """Return reports with a mean among the possible ones that suits an action; −1 for the middle."""
        values = lowest.copy()
        for p in np.unique(codes):
            inside = self._set(int(p))
            for i in range(len(lowest)):
                where = np.flatnonzero(codes[i] == p)
                low, high = lowest[i][:, where], highest[i][:, where]
                least, most = self._means(int(p), low[None], high[None], tolerance)
                if action < 0:
                    mean = (least[0] + most[0]) / 2
                else:
                    mean = _best_mean(inside, low, high, least[0], most[0], action, tolerance)
                values[i][:, where] = _filled(inside, low, high, mean, action, tolerance)
        return values


def _best_mean(
    inside: Mask, low: Values, high: Values, least: Values, most: Values, action: int, tolerance: float
) -> Values:
    """Return the mean, shape (context,), with which one action can be at its highest and all others at their lowest.

    Rewards that do so sum to too much for a small mean and to too little for a large one; found by bisection, and at an
    end if there is no such mean.
    """
    for _ in range(BISECTIONS):
        mean = (least + most) / 2
        start, end = _ends(inside, low, high, mean, tolerance)
        start[action] = end[action]
        small = len(low) * mean < start.sum(axis=0)
        least, most = np.where(small, mean, least), np.where(small, most, mean)
    return np.asarray((least + most) / 2)


def _ends(inside: Mask, low: Values, high: Values, mean: Values, tolerance: float) -> tuple[Values, Values]:
    """Return the lowest and highest rewards at or above a mean in a set and below it outside, (action, context)."""
    start = np.where(inside[:, None], np.minimum(np.maximum(low, mean), high), low)
    end = np.where(inside[:, None], high, np.maximum(np.minimum(high, mean - ROOM * tolerance), low))
    return start, end


def _filled(inside: Mask, low: Values, high: Values, mean: Values, action: int, tolerance: float) -> Values:
    """Return rewards with a given mean that are at least the mean inside a set and below it outside, (action, context).

    Starting from the smallest such rewards, one action gets what it can take, and the others equal shares of what they
    can take.
    """
    start, end = _ends(inside, low, high, mean, tolerance)
    free = np.maximum(len(low) * mean - start.sum(axis=0), 0.0)
    if action >= 0:
        taken = np.clip(end[action] - start[action], 0.0, free)
        start[action] += taken
        free = free - taken
    room = np.maximum(end - start, 0.0)
    total = room.sum(axis=0)
    share = np.divide(free, total, out=np.zeros_like(free), where=total > 0)
    return np.asarray(start + np.minimum(share, 1.0) * room)


@compiled
def lead_in_sets(
    lowest: Values, highest: Values, inside: Mask, least: Values, most: Values, possible: Mask, tolerance: float,
    leads: Values,
) -> None:  # fmt: skip
    """Write the most by which a can be worth more than b where a set is approved, shape (member, a, b, context).

    For a given bar M let u be the most that a, l the least that b can be worth, and s and S the least and the largest
    sum of both that the others leave. Then the lead is at most u − l, S − 2 l, and 2 u − s. Each of these is concave in
    M, and linear between the ends of the intervals of all actions: so the largest minimum of the three is at one of
    these ends, or where two of them meet.

    Parameters
    ----------
    lowest, highest
        Ends of the box, shape (member, action, context).
    inside
        The set, shape (action,).
    least, most
        Between which levels the bar is, shape (member, context).
    possible
        Where the set can be approved, shape (member, context); others are left out.
    tolerance
        The mean is so much above the bar.
    leads
        Where the result goes.
    """
    n_members, n_actions, n_contexts = lowest.shape
    bars, bounds = np.empty(2 * n_actions + 2), np.empty((2 * n_actions + 2, 3))
    for i in range(n_members):
        for t in range(n_contexts):
            if not possible[i, t]:
                continue
            bars[-2], bars[-1] = least[i, t], most[i, t]
            for c in range(n_actions):
                bars[2 * c] = min(max(lowest[i, c, t], least[i, t]), most[i, t])
                bars[2 * c + 1] = min(max(highest[i, c, t], least[i, t]), most[i, t])
            bars.sort()
            for a in range(n_actions):
                for b in range(n_actions):
                    for j in range(len(bars)):
                        bar = bars[j]
                        upper = highest[i, a, t] if inside[a] else min(highest[i, a, t], bar)
                        lower = max(lowest[i, b, t], bar) if inside[b] else lowest[i, b, t]
                        largest = smallest = n_actions * (bar + tolerance)
                        for c in range(n_actions):
                            if c not in (a, b):
                                largest -= max(lowest[i, c, t], bar) if inside[c] else lowest[i, c, t]
                                smallest -= highest[i, c, t] if inside[c] else min(highest[i, c, t], bar)
                        bounds[j, 0], bounds[j, 1] = upper - lower, largest - 2 * lower
                        bounds[j, 2] = 2 * upper - smallest
                    lead = -np.inf
                    for j in range(len(bars)):
                        lead = max(lead, bounds[j].min())
                        for x in range(3 if j else 0):
                            for y in range(x):
                                before, after = bounds[j - 1, x] - bounds[j - 1, y], bounds[j, x] - bounds[j, y]
                                if before * after < 0.0:
                                    share = before / (before - after)
                                    crossing = bounds[j - 1] + share * (bounds[j] - bounds[j - 1])
                                    lead = max(lead, crossing.min())
                    leads[i, a, b, t] = lead


@lru_cache(maxsize=16)
def approvals(n_actions: int) -> Approvals:
    """Return the sets of some actions, made once."""
    return Approvals(n_actions)
