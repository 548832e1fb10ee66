"""From ranges of sums and ratios to the range of a metric.

| expression | low end | high end |
|---|---|---|
| sum, ratio | exact | exact |
| weighted sum | exact if it is linear, or by pieces (below) | the same |
| largest part | sound, by duality for sums | exact |
| smallest part | exact | sound, by duality for sums |
| largest − smallest, smallest / largest, of parts that share no context | sound; exact | exact; sound |
| size of a sum | sound | exact |
| geometric mean | sound | sound, by duality for sums |
| fraction | sound | sound |

Weighted sums with such terms, and parts that no attack serves all at once, are narrowed in duality.py. The table says
what the formulas give for exact reachable sets; a bound is reported as exact only if an attack that attains it is in
hand.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import singledispatch

import numpy as np

from accordant.certificates.bounds.atomic_bounds import NEVER, Enclosure, quotient_bounds, ratio_bounds, sum_bounds
from accordant.certificates.bounds.choices import Choices
from accordant.certificates.bounds.duality import narrow
from accordant.metrics.expressions import (
    Combination,
    Defaulted,
    Expression,
    Farthest,
    Fraction,
    GeometricMean,
    Largest,
    LowToHigh,
    Magnitude,
    OfParts,
    Ratio,
    Smallest,
    Spread,
    Sum,
    Undefined,
    weighed,
)


@singledispatch
def enclose(expression: Expression, choices: Choices) -> Enclosure:
    """Return what an expression can be under attack; nothing is known of expressions of another kind."""
    del expression, choices
    return Enclosure(-math.inf, math.inf, may_be_undefined=True)


enclose.register(Sum)(sum_bounds)
enclose.register(Ratio)(ratio_bounds)


@enclose.register
def _(expression: Undefined, choices: Choices) -> Enclosure:
    """Return that it is never defined."""
    del expression, choices
    return NEVER


@enclose.register
def _(expression: OfParts, choices: Choices) -> Enclosure:
    """Bound every part, then the function of them."""
    parts = [enclose(part, choices) for part in expression.parts]
    if any(part.never_defined for part in parts):
        return NEVER
    enclosure = _combine(expression, parts)
    undefined = [part.toward_undefined for part in parts if part.may_be_undefined]
    if undefined:
        enclosure = replace(enclosure, may_be_undefined=True, toward_undefined=undefined[0])
    return narrow(expression, parts, enclosure, choices)


@enclose.register
def _(expression: Defaulted, choices: Choices) -> Enclosure:
    """Add the number that stands where the part is not defined."""
    part = enclose(expression.part, choices)
    if part.never_defined:
        return Enclosure(expression.default, expression.default)
    if not part.may_be_undefined:
        return part
    down = part.toward_low if part.low <= expression.default else part.toward_undefined
    up = part.toward_high if part.high >= expression.default else part.toward_undefined.scaled(-1.0)
    return Enclosure(min(part.low, expression.default), max(part.high, expression.default), False, down, up)


@singledispatch
def _combine(expression: OfParts, parts: Sequence[Enclosure]) -> Enclosure:
    """Return the range of a function of parts, each of which may be anywhere in its own range."""
    del expression, parts
    return Enclosure(-math.inf, math.inf, may_be_undefined=True)


@_combine.register
def _(expression: Combination, parts: Sequence[Enclosure]) -> Enclosure:
    """Add up the ends that the signs of the weights call for."""
    low = high = expression.offset
    toward_low, toward_high = [], []
    for weight, part in zip(expression.weights, parts, strict=True):
        if weight == 0:
            continue
        first, last = (part.low, part.high) if weight > 0 else (part.high, part.low)
        down, up = (part.toward_low, part.toward_high) if weight > 0 else (part.toward_high, part.toward_low)
        low, high = low + weight * first, high + weight * last
        toward_low.append(down.scaled(weight))
        toward_high.append(up.scaled(weight))
    return Enclosure(low, high, False, Sum().plus(*toward_low), Sum().plus(*toward_high))


@_combine.register
def _(expression: Largest, parts: Sequence[Enclosure]) -> Enclosure:
    """Take the largest of both ends."""
    del expression
    low, high = max(parts, key=lambda part: part.low), max(parts, key=lambda part: part.high)
    return Enclosure(low.low, high.high, False, low.toward_low, high.toward_high)


@_combine.register
def _(expression: Smallest, parts: Sequence[Enclosure]) -> Enclosure:
    """Take the smallest of both ends."""
    del expression
    low, high = min(parts, key=lambda part: part.low), min(parts, key=lambda part: part.high)
    return Enclosure(low.low, high.high, False, low.toward_low, high.toward_high)


@_combine.register
def _(expression: Spread, parts: Sequence[Enclosure]) -> Enclosure:
    """Push one part up and another down as far as they go; at best they meet."""
    del expression
    up, down = _two(parts, lambda part: part.high, lambda part: -part.low)
    top, bottom = _two(parts, lambda part: part.low, lambda part: -part.high)
    return Enclosure(
        max(0.0, top.low - bottom.high), max(0.0, up.high - down.low), False, top.toward_low.minus(bottom.toward_high),
        up.toward_high.minus(down.toward_low),
    )  # fmt: skip


@_combine.register
def _(expression: LowToHigh, parts: Sequence[Enclosure]) -> Enclosure:
    """Push one part down and another up as far as they go; at best they meet."""
    del expression
    if all(part.high <= 0 for part in parts):
        return NEVER if all(part.low >= 0 for part in parts) else Enclosure(-math.inf, math.inf, True)
    if any(part.low < 0 for part in parts):
        return Enclosure(-math.inf, math.inf, True)
    pairs = [(one, other) for one, other in itertools.permutations(parts, 2)] or [(parts[0], parts[0])]
    low = min((pair for pair in pairs if pair[1].high > 0), key=lambda pair: pair[0].low / pair[1].high)
    high = min(pairs, key=lambda pair: pair[0].high / pair[1].low if pair[1].low > 0 else math.inf)
    reached = high[0].high / high[1].low if high[1].low > 0 else math.inf
    return Enclosure(
        min(1.0, low[0].low / low[1].high), min(1.0, reached), all(part.low <= 0 for part in parts),
        low[0].toward_low.minus(low[1].toward_high), high[0].toward_high.minus(high[1].toward_low),
    )  # fmt: skip


@_combine.register
def _(expression: Magnitude, parts: Sequence[Enclosure]) -> Enclosure:
    """Turn a range that is not on one side of 0 over."""
    del expression
    part = parts[0]
    up, down = part.toward_high, part.toward_low.scaled(-1.0)
    farther = up if part.high >= -part.low else down
    if part.low >= 0:
        return Enclosure(part.low, part.high, False, part.toward_low, part.toward_high)
    if part.high <= 0:
        return Enclosure(-part.high, -part.low, False, part.toward_high.scaled(-1.0), down)
    return Enclosure(0.0, max(-part.low, part.high), False, Sum(), farther)


@_combine.register
def _(expression: Farthest, parts: Sequence[Enclosure]) -> Enclosure:
    """Take the ends of the parts that can be farthest from 0, as far out as some part must be."""
    del expression
    least = max(max(0.0, part.low, -part.high) for part in parts)
    reaching = [part for part in parts if max(part.high, -part.low) >= least]
    lows = [part.low if part.low <= -least else max(part.low, least) for part in reaching]
    highs = [part.high if part.high >= least else min(part.high, -least) for part in reaching]
    low, high = int(np.argmin(lows)), int(np.argmax(highs))
    return Enclosure(lows[low], highs[high], False, reaching[low].toward_low, reaching[high].toward_high)


@_combine.register
def _(expression: Fraction, parts: Sequence[Enclosure]) -> Enclosure:
    """Divide the ends."""
    del expression
    return quotient_bounds(*parts)


@_combine.register
def _(expression: GeometricMean, parts: Sequence[Enclosure]) -> Enclosure:
    """Put all parts at their ends; the mean grows with each of them."""
    ends = []
    for values in ([part.low for part in parts], [part.high for part in parts]):
        slopes = [share / max(value, 1e-12) for share, value in zip(expression.shares, values, strict=True)]
        ends.append((expression.of(values), slopes))
    (low, down), (high, up) = ends
    toward_low = weighed([part.toward_low for part in parts], down)
    return Enclosure(low, high, False, toward_low, weighed([part.toward_high for part in parts], up))


def _two(
    parts: Sequence[Enclosure], first: Callable[[Enclosure], float], second: Callable[[Enclosure], float]
) -> tuple[Enclosure, Enclosure]:
    """Return the two different parts whose first and second measure add up to most; a single part twice."""
    if len(parts) == 1:
        return parts[0], parts[0]
    ups = sorted(range(len(parts)), key=lambda k: -first(parts[k]))[:2]
    downs = sorted(range(len(parts)), key=lambda k: -second(parts[k]))[:2]
    pairs = [(i, j) for i in ups for j in downs if i != j]
    one, other = max(pairs, key=lambda pair: first(parts[pair[0]]) + second(parts[pair[1]]))
    return parts[one], parts[other]
