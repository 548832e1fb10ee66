"""Smallest and largest value of a sum, or of a ratio of sums, over everything that an attack can choose.

Contexts are attacked independently, so the extremes of a sum are sums of extremes; if only some contexts may be
attacked, those count in which most is gained. A ratio is brought back to sums by Dinkelbach (1967): the largest ratio
is the λ at which the largest Σ (top − λ bottom) is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.certificates.bounds.choices import Choices, Sets
from accordant.kernels import compiled
from accordant.metrics.expressions import Ratio, Sum

STEPS = 100  # Dinkelbach's steps converge faster than linearly; six are usual
NUDGE = 1e-12  # relative to max(1, |ratio|): less than anybody reads off a ratio
ROUNDING = 1e-15  # of the sizes added: a gain below this is none


@dataclass(frozen=True, eq=False)
class Enclosure:
    """What a number can be under attack.

    Attributes
    ----------
    low, high
        No attack that leaves it defined gets past these; NaN if none does.
    may_be_undefined
        Whether an attack could leave it undefined.
    toward_low, toward_high
        Sums: whoever minimises the one, or maximises the other, should come near the end.
    toward_undefined
        A sum whose minimum should leave it undefined.
    """

    low: float
    high: float
    may_be_undefined: bool = False
    toward_low: Sum = field(default_factory=Sum)
    toward_high: Sum = field(default_factory=Sum)
    toward_undefined: Sum = field(default_factory=Sum)

    @property
    def never_defined(self) -> bool:
        """Whether no attack leaves it defined."""
        return math.isnan(self.low)


NEVER = Enclosure(math.nan, math.nan, may_be_undefined=True)


def largest_sum(total: Sum, choices: Choices) -> float:
    """Return the largest value of a sum."""
    if not total.parts:
        return total.offset
    some = choices_in(total.contexts, choices)
    return total.offset + float(some.best(_table(total, total.contexts, choices))[0].sum())


def sum_bounds(total: Sum, choices: Choices) -> Enclosure:
    """Return the range of a sum."""
    if not total.parts:
        return Enclosure(total.offset, total.offset)
    some, table = choices_in(total.contexts, choices), _table(total, total.contexts, choices)
    high = total.offset + float(some.best(table)[0].sum())
    low = total.offset - float(some.best(-table)[0].sum())
    return Enclosure(low, high, toward_low=total, toward_high=total)


def ratio_bounds(ratio: Ratio, choices: Choices) -> Enclosure:
    """Return the range of a ratio among choices whose bottom is above 0."""
    contexts = ratio.top.plus(ratio.bottom).contexts
    top, bottom = (_table(part, contexts, choices) for part in (ratio.top, ratio.bottom))
    if (bottom < 0).any() or ratio.bottom.offset < 0:
        return quotient_bounds(sum_bounds(ratio.top, choices), sum_bounds(ratio.bottom, choices))
    problem = _Fractional(choices_in(contexts, choices), top, bottom, ratio.top.offset, ratio.bottom.offset)
    if not problem.definable:
        return NEVER
    high = problem.largest()
    low = -replace(problem, top=-top, top_offset=-ratio.top.offset).largest()
    undefined = problem.smallest_bottom <= 0
    return Enclosure(low, high, undefined, _beyond(ratio, low, NUDGE), _beyond(ratio, high, -NUDGE), ratio.bottom)


def quotient_bounds(top: Enclosure, bottom: Enclosure) -> Enclosure:
    """Return a range of x / y from ranges of x and y; unbounded if y may be 0 or have either sign."""
    if top.never_defined or bottom.never_defined or bottom.low == bottom.high == 0:
        return NEVER
    undefined = top.may_be_undefined or bottom.may_be_undefined or bottom.low <= 0 <= bottom.high
    if bottom.low <= 0 <= bottom.high:
        return Enclosure(-math.inf, math.inf, undefined)
    ends = [x / y for x in (top.low, top.high) for y in (bottom.low, bottom.high)]
    return Enclosure(min(ends), max(ends), undefined)


def choices_in(contexts: Integers | None, choices: Choices) -> Choices:
    """Return the choices in some contexts; None for all."""
    return choices if contexts is None else choices.take(contexts)


def _table(total: Sum, contexts: Integers | None, choices: Choices) -> Values:
    return total.table(choices.n_actions, choices.n_contexts, contexts)


def _beyond(ratio: Ratio, level: float, nudge: float) -> Sum:
    """Return top − level × bottom, which is 0 where the ratio is at the level.

    Nudged, it is on the right side of 0 at the end of the range, and so better than to have no bottom at all.
    """
    if not math.isfinite(level):
        return Sum()
    return ratio.top.minus(ratio.bottom.scaled(level + nudge * max(1.0, abs(level))))


@dataclass(frozen=True, eq=False)
class _Fractional:
    """Maximise (top_offset + Σ top) / (bottom_offset + Σ bottom) where the bottom is above 0.

    Attributes
    ----------
    choices
        What can be chosen.
    top, bottom
        Contributions of actions, shape (action, context); those to the bottom at least 0.
    top_offset, bottom_offset
        What is added to both sums, at least 0 for the bottom.
    """

    choices: Choices
    top: Values
    bottom: Values
    top_offset: float
    bottom_offset: float

    @property
    def definable(self) -> bool:
        """Whether some choice makes the bottom positive."""
        return self.bottom_offset > 0 or bool(self.choices.best(self.bottom)[0].sum() > 0)

    @property
    def smallest_bottom(self) -> float:
        """The smallest bottom; 0 exactly if every context can contribute 0."""
        return self.bottom_offset - float(self.choices.best(-self.bottom)[0].sum())

    def largest(self) -> float:
        """Return the largest ratio."""
        ratio = self._start()
        for _ in range(STEPS):
            top, bottom = self._best_for(ratio)
            gain = top - ratio * bottom
            if bottom <= 0:
                return max(ratio, self._with_some_bottom(ratio))
            if gain <= ROUNDING * (abs(top) + abs(ratio) * bottom) or top / bottom <= ratio:
                return max(ratio, top / bottom)
            ratio = top / bottom
        return ratio + max(gain, 0.0) / self._least_positive()

    def _best_for(self, ratio: float) -> tuple[float, float]:
        """Return top and bottom where top − ratio × bottom is largest."""
        some = self.choices
        if isinstance(some, Sets) and not some.epsilon and not some.limited:
            top, bottom = best_fraction(self.top, self.bottom, np.ascontiguousarray(some.mask), ratio)
        else:
            _, move = some.best(self.top - ratio * self.bottom)
            top, bottom = (float(some.weigh(part, move).sum()) for part in (self.top, self.bottom))
        return self.top_offset + top, self.bottom_offset + bottom

    def _start(self) -> float:
        _, move = self.choices.best(self.bottom)
        bottom = self.bottom_offset + float(self.choices.weigh(self.bottom, move).sum())
        return (self.top_offset + float(self.choices.weigh(self.top, move).sum())) / bottom

    def _with_some_bottom(self, ratio: float) -> float:
        """Return the largest ratio where the best choice has no bottom, by forcing some context to have one.

        Nothing but the context that gives up least has to change. How many contexts may be attacked is not counted
        here, so that the result is sound, not exact, if they are limited.
        """
        if not isinstance(self.choices, Sets):
            return self._largest_of_contexts()
        free = replace(self.choices, at_most=None)
        for _ in range(STEPS):
            table = self.top - ratio * self.bottom
            gains, move = free.best(table)
            forced, other = free.best(np.where(self.bottom > 0, table, -np.inf))
            where = int(np.argmin(gains - forced))
            sums = []
            for part, offset in ((self.top, self.top_offset), (self.bottom, self.bottom_offset)):
                chosen = free.weigh(part, move)
                if free.weigh(self.bottom, move).sum() <= 0:
                    chosen[where] = free.weigh(part, other)[where]
                sums.append(offset + float(chosen.sum()))
            if sums[0] / sums[1] <= ratio:
                return ratio
            ratio = sums[0] / sums[1]
        return math.inf

    def _largest_of_contexts(self) -> float:
        """Return the largest top / bottom of one context and action, which no ratio of sums exceeds."""
        if self.top_offset or self.bottom_offset or (self.top[self.bottom == 0] > 0).any():
            return math.inf
        return float((self.top[self.bottom > 0] / self.bottom[self.bottom > 0]).max())

    def _least_positive(self) -> float:
        return max(self.smallest_bottom, float(self.bottom[self.bottom > 0].min()))


@compiled
def best_fraction(top: Values, bottom: Values, mask: Mask, ratio: float) -> tuple[float, float]:
    """Return Σ top and Σ bottom over the allowed actions with the largest top − ratio × bottom in every context.

    In NumPy::

        codes = np.where(mask, top - ratio * bottom, -np.inf).argmax(axis=0)[None]
        result = tuple(np.take_along_axis(each, codes, axis=0).sum() for each in (top, bottom))

    Parameters
    ----------
    top, bottom
        Contributions, shape (action, context).
    mask
        Which actions are allowed, same shape, at least one per context.
    ratio
        What the bottom is weighed with.
    """
    n_actions, n_contexts = top.shape
    chunk = 1024  # sums of chunks lose less to rounding than one long sum
    tops, bottoms = 0.0, 0.0
    for start in range(0, n_contexts, chunk):
        some_tops, some_bottoms = 0.0, 0.0
        for t in range(start, min(start + chunk, n_contexts)):
            reached, first, second = -np.inf, 0.0, 0.0
            for a in range(n_actions):
                value = top[a, t] - ratio * bottom[a, t]
                if mask[a, t] and value > reached:
                    reached, first, second = value, top[a, t], bottom[a, t]
            some_tops += first
            some_bottoms += second
        tops += some_tops
        bottoms += some_bottoms
    return tops, bottoms
