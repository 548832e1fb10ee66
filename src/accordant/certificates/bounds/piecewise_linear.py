"""Narrower ranges of expressions made of linear pieces, by taking all their sums together.

A weighted sum with a term −|x|, or any other that is the smallest of several sums, is as low as the lowest of the
linear expressions that its pieces make: exact, one pass per combination of pieces. A term |x| is at least each of its
pieces, and each mean of them: sound. High ends are mirrored.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from accordant.certificates.bounds.atomic_bounds import Enclosure, largest_sum
from accordant.certificates.bounds.choices import Choices
from accordant.certificates.bounds.duality import geometric_mean_bound, smallest_together
from accordant.metrics.combinations import (
    Combination,
    GeometricMean,
    Largest,
    Magnitude,
    OfParts,
    Smallest,
    Spread,
    together,
)
from accordant.metrics.expressions import Expression, Sum, weighed

PASSES = 32  # over all choices, for the best mean of pieces
SAME = 1e-12  # relative: ends this close differ by rounding, and the pieces point at better attacks
PIECES = 64  # combinations of pieces tried; further terms are bounded by themselves


def narrowed(expression: OfParts, parts: Sequence[Enclosure], found: Enclosure, choices: Choices) -> Enclosure:
    """Return a range that counts with attacks that cannot serve all parts at once."""
    if isinstance(expression, Combination):
        return _by_pieces(expression, parts, found, choices)
    if isinstance(expression, Largest | Smallest) and len(parts) > 1 and pieces_of(expression)[0]:
        return _by_pieces(together((expression,), (1.0,)), (found,), found, choices)
    sums = [part for part in expression.parts if isinstance(part, Sum)]
    if isinstance(expression, GeometricMean) and len(sums) == len(parts) and found.high > 0:
        high, toward = geometric_mean_bound(expression, sums, choices, PASSES)
        return replace(found, high=high, toward_high=toward) if high < found.high else found
    return found


def _by_pieces(expression: Combination, parts: Sequence[Enclosure], found: Enclosure, choices: Choices) -> Enclosure:
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
    low = _highest(linear.scaled(-1.0), _turned(largest), _turned(smallest), choices)
    blur = SAME * max(1.0, abs(high[0]), abs(low[0]))
    if rest.high + high[0] <= found.high + blur:
        found = replace(found, high=min(found.high, rest.high + high[0]), toward_high=high[1])
    if rest.low - low[0] >= found.low - blur:
        found = replace(found, low=max(found.low, rest.low - low[0]), toward_low=low[1].scaled(-1.0))
    return found


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
            found = smallest_together(total, smallest, choices, PASSES // len(combinations))
        else:
            found = largest_sum(total, choices), total
        reached = max(reached, found, key=lambda pair: pair[0])
    return reached


def _turned(terms: Sequence[Sequence[Sum]]) -> list[list[Sum]]:
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
