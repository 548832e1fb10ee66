"""Bounds that take the sums of an expression together: concave functions of sums, and expressions of linear pieces.

Each sum has its own best attack, but no attack is best for all of them, so the function of the single ends is loose. A
concave function lies below its tangents, and a tangent is a sum again, whose largest value is known. The best tangent
gives the largest value that the function has on mixtures of attacks; over many contexts that is all but attained.

    smallest of sums    min over weights of the largest weighted sum, by cutting planes (Kelley 1960)
    geometric mean      Π x_k^{w_k} ≤ Σ_k w_k x_k y / y_k with y = Π y_k^{w_k}, y moved as Frank and Wolfe (1956) do

Expressions made of linear pieces are narrowed (`narrow`) likewise. A weighted sum with a term −|x|, or any other that
is the smallest of several sums, is as low as the lowest of the linear expressions that its pieces make: exact, one pass
per combination of pieces. A term |x| is at least each of its pieces, and each mean of them: sound. High ends are
mirrored.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Codes, Values
from accordant.certificates.bounds.atomic_bounds import Enclosure, largest_sum
from accordant.certificates.bounds.choices import Choices
from accordant.metrics.expressions import (
    Combination,
    Expression,
    GeometricMean,
    Largest,
    Magnitude,
    OfParts,
    Smallest,
    Spread,
    Sum,
    together,
    weighed,
)

CLOSE = 1e-10  # relative to max(1, |bound|): a bound this close to the best one will do
SECTIONS = 40  # golden sections of a line
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Tables:
    """Several sums over the same choices, ready to be weighed.

    Attributes
    ----------
    sums
        The sums.
    tables
        What actions contribute to each, shape (action, context).
    choices
        What can be chosen.
    """

    sums: tuple[Sum, ...]
    tables: tuple[Values, ...]
    choices: Choices

    @classmethod
    def of(cls, sums: Sequence[Sum], choices: Choices) -> Tables:
        """Return the tables of sums over all contexts."""
        shape = choices.n_actions, choices.n_contexts
        return cls(tuple(sums), tuple(part.table(*shape) for part in sums), choices)

    def largest(self, weights: Values) -> Values:
        """Return the value of every sum where the weighted sum is largest, shape (sum,)."""
        table = sum(
            (weight * own_table for weight, own_table in zip(weights, self.tables, strict=True) if weight),
            np.float64(0),
        )
        shape = self.choices.n_actions, self.choices.n_contexts
        _, move = self.choices.best(np.ascontiguousarray(np.broadcast_to(table, shape)))
        totals = [float(self.choices.weigh(own_table, move).sum()) for own_table in self.tables]
        return np.array([part.offset + total for part, total in zip(self.sums, totals, strict=True)])


def smallest_together(linear: Sum, terms: Sequence[Sequence[Sum]], choices: Choices, steps: int) -> tuple[float, Sum]:
    """Return a bound on the largest value of linear + Σ_k min_p piece_kp, and the sum that gives it.

    Parameters
    ----------
    linear
        What is added.
    terms
        The pieces of every term.
    choices
        What can be chosen.
    steps
        Passes over the choices at most; fewer give a looser bound.
    """
    pieces = [piece for term in terms for piece in term]
    tables = Tables.of([linear, *pieces], choices)
    term_of = np.repeat(np.arange(len(terms)), [len(term) for term in terms])
    weights = 1.0 / np.bincount(term_of)[term_of]
    bound, best, cuts = math.inf, weights, []
    for _ in range(max(1, steps)):
        values = tables.largest(np.array([1.0, *weights]))
        cuts.append(values)
        reached = float(values[0] + weights @ values[1:])
        if reached < bound:
            bound, best = reached, weights
        weights, least = _lowest_cut(np.array(cuts), term_of)
        if bound - least <= CLOSE * max(1.0, abs(bound)):
            break
    return bound, linear.plus(weighed(pieces, best))


def _lowest_cut(cuts: Values, term_of: Codes) -> tuple[Values, float]:
    """Return weights, summing to 1 in every term, at which the highest of the cuts is lowest, and how low.

    Parameters
    ----------
    cuts
        Values of the linear part and of all pieces, shape (cut, 1 + piece).
    term_of
        The term of every piece.
    """
    from scipy.optimize import linprog

    n_pieces = len(term_of)
    sums = (term_of == np.arange(term_of.max() + 1)[:, None]).astype(np.float64)
    solution = linprog(
        np.array([0.0] * n_pieces + [1.0]), A_ub=np.column_stack([cuts[:, 1:], -np.ones(len(cuts))]), b_ub=-cuts[:, 0],
        A_eq=np.column_stack([sums, np.zeros(len(sums))]), b_eq=np.ones(len(sums)),
        bounds=[(0, 1)] * n_pieces + [(None, None)],
    )  # fmt: skip
    if solution.x is None:  # numbers too far apart for the solver: the weights stay where the search began
        return 1.0 / np.bincount(term_of)[term_of], -math.inf
    weights = np.clip(solution.x[:-1], 0.0, 1.0)
    return weights / (sums.T @ (sums @ weights)), float(solution.fun)


def geometric_mean_bound(mean: GeometricMean, sums: Sequence[Sum], choices: Choices, steps: int) -> tuple[float, Sum]:
    """Return a bound on the largest geometric mean of sums, and the sum that gives it.

    Parameters
    ----------
    mean
        Its shares; they sum to 1.
    sums
        Its parts.
    choices
        What can be chosen.
    steps
        Passes over the choices at most; fewer give a looser bound.
    """
    tables, shares = Tables.of(sums, choices), np.array(mean.shares)
    point = np.mean([tables.largest(only) for only in np.eye(len(shares))], axis=0)  # every part at its best, in turn
    bound, best = math.inf, shares
    for _ in range(max(1, steps)):
        height = mean.of(point.tolist())
        if not height > 0:
            break
        slopes = shares * height / point
        values = tables.largest(slopes)
        reached = max(0.0, float(slopes @ values))
        if reached < bound:
            bound, best = reached, slopes
        if bound - height <= CLOSE * max(1.0, bound):
            break
        point = _best_between(mean, point, values)
    return bound, weighed(sums, best)


def _best_between(mean: GeometricMean, one: Values, other: Values) -> Values:
    """Return the point of a line at which a concave function is largest."""
    low, high = 0.0, 1.0
    for _ in range(SECTIONS):
        first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if mean.of((one + first * (other - one)).tolist()) < mean.of((one + second * (other - one)).tolist()):
            low = first
        else:
            high = second
    return np.asarray(one + (low + high) / 2 * (other - one))


PASSES = 32  # over all choices, for the best mean of pieces
SAME = 1e-12  # relative: ends this close differ by rounding, and the pieces point at better attacks
PIECES = 64  # combinations of pieces tried; further terms are bounded by themselves


def narrow(expression: OfParts, parts: Sequence[Enclosure], enclosure: Enclosure, choices: Choices) -> Enclosure:
    """Return a range that counts with attacks that cannot serve all parts at once."""
    if isinstance(expression, Combination):
        return _by_pieces(expression, parts, enclosure, choices)
    if isinstance(expression, Largest | Smallest) and len(parts) > 1 and pieces_of(expression)[0]:
        return _by_pieces(together((expression,), (1.0,)), (enclosure,), enclosure, choices)
    sums = [part for part in expression.parts if isinstance(part, Sum)]
    if isinstance(expression, GeometricMean) and len(sums) == len(parts) and enclosure.high > 0:
        high, toward = geometric_mean_bound(expression, sums, choices, PASSES)
        return replace(enclosure, high=high, toward_high=toward) if high < enclosure.high else enclosure
    return enclosure


def _by_pieces(
    expression: Combination, parts: Sequence[Enclosure], enclosure: Enclosure, choices: Choices
) -> Enclosure:
    """Return a narrower range of a weighted sum, taking linear terms and those made of linear pieces together."""
    linear, rest = Sum(offset=expression.offset), Enclosure(0.0, 0.0)
    largest: list[list[Sum]] = []
    smallest: list[list[Sum]] = []
    tried = 1
    for weight, term, part in zip(expression.weights, expression.parts, parts, strict=True):
        pieces, is_largest = pieces_of(term)
        if weight == 0:
            continue
        if len(pieces) == 1:
            linear = linear.plus(pieces[0].scaled(weight))
        elif pieces and tried * len(pieces) <= PIECES:
            tried *= len(pieces)
            scaled = [piece.scaled(weight) for piece in pieces]
            (largest if is_largest == (weight > 0) else smallest).append(scaled)
        else:
            ends = sorted((weight * part.low, weight * part.high))
            rest = replace(rest, low=rest.low + ends[0], high=rest.high + ends[1])
    high = _highest(linear, smallest, largest, choices)
    low = _highest(linear.scaled(-1.0), _turn(largest), _turn(smallest), choices)
    blur = SAME * max(1.0, abs(high[0]), abs(low[0]))
    if rest.high + high[0] <= enclosure.high + blur:
        enclosure = replace(enclosure, high=min(enclosure.high, rest.high + high[0]), toward_high=high[1])
    if rest.low - low[0] >= enclosure.low - blur:
        enclosure = replace(enclosure, low=max(enclosure.low, rest.low - low[0]), toward_low=low[1].scaled(-1.0))
    return enclosure


def _highest(
    linear: Sum, smallest: Sequence[Sequence[Sum]], largest: Sequence[Sequence[Sum]], choices: Choices
) -> tuple[float, Sum]:
    """Return a bound on the highest value of linear + Σ min of pieces + Σ max of pieces, and the sum that gives it.

    The largest of pieces makes it as high as the highest of all combinations, exactly; the smallest of pieces is at
    most each of them, and every mean of them, so that each choice of means is a bound.
    """
    reached = (-math.inf, linear)
    combinations = list(itertools.product(*largest))
    for above in combinations:
        total = linear.plus(*above)
        if smallest:
            bound = smallest_together(total, smallest, choices, PASSES // len(combinations))
        else:
            bound = largest_sum(total, choices), total
        reached = max(reached, bound, key=lambda pair: pair[0])
    return reached


def _turn(terms: Sequence[Sequence[Sum]]) -> list[list[Sum]]:
    return [[piece.scaled(-1.0) for piece in pieces] for pieces in terms]


def pieces_of(expression: Expression) -> tuple[list[Sum], bool]:
    """Return the sums whose largest (else smallest) an expression is; none if it is no such thing."""
    if isinstance(expression, Sum):
        return [expression], True
    if isinstance(expression, Combination):
        linear = [part for part in expression.parts if isinstance(part, Sum)]
        if len(linear) == len(expression.parts):
            return [weighed(linear, expression.weights).plus(Sum(offset=expression.offset))], True
        return [], True
    if not isinstance(expression, Magnitude | Spread | Largest | Smallest):
        return [], True
    inner = [pieces_of(part)[0] for part in expression.parts]
    if any(len(pieces) != 1 for pieces in inner):
        return [], True
    sums = [pieces[0] for pieces in inner]
    if isinstance(expression, Magnitude):
        return [sums[0], sums[0].scaled(-1.0)], True
    if isinstance(expression, Spread):
        return [one.minus(other) for one, other in itertools.permutations(sums, 2)], True
    return sums, isinstance(expression, Largest)
