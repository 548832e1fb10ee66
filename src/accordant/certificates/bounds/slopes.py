"""The sum that an expression behaves like near some decisions: which way a search for attacks has to go."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from accordant.decisions import Decisions
from accordant.metrics.combinations import (
    Combination,
    Defaulted,
    Farthest,
    Fraction,
    GeometricMean,
    Largest,
    LowToHigh,
    Magnitude,
    Smallest,
    Spread,
)
from accordant.metrics.expressions import Expression, Ratio, Sum, weighed

SMALL = 1e-12  # stands for a mean of 0, whose logarithm has no slope


def slope_at(expression: Expression, decisions: Decisions) -> Sum:
    """Return the sum that the expression behaves like near some decisions; an empty one if there is none."""
    return slope(expression, decisions) or Sum()


@singledispatch
def slope(expression: Expression, decisions: Decisions) -> Sum | None:
    """Return the sum whose differences are those of the expression near some decisions; None if it has none."""
    del expression, decisions
    return None


@slope.register
def _(expression: Sum, decisions: Decisions) -> Sum | None:
    """Return the sum itself."""
    del decisions
    return expression


@slope.register
def _(expression: Ratio, decisions: Decisions) -> Sum | None:
    """Return (top − ratio × bottom) / bottom."""
    value, bottom = expression.value(decisions), expression.bottom.value(decisions)
    return None if value is None else expression.top.minus(expression.bottom.scaled(value)).scaled(1 / bottom)


@slope.register
def _(expression: Defaulted, decisions: Decisions) -> Sum | None:
    """Return the slope of the part where it is defined."""
    return slope(expression.part, decisions)


def _known(
    expression: Combination | Largest | Smallest | Spread | LowToHigh | Magnitude | Farthest | Fraction | GeometricMean,
    decisions: Decisions,
) -> list[float] | None:
    values = [part.value(decisions) for part in expression.parts]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


def _added(parts: tuple[Expression, ...], weights: list[float], decisions: Decisions) -> Sum | None:
    """Return Σ weight × slope over the parts with a weight that is not 0."""
    found = [(slope(part, decisions), weight) for part, weight in zip(parts, weights, strict=True) if weight]
    sums = [(each, weight) for each, weight in found if each is not None]
    return weighed([each for each, _ in sums], [weight for _, weight in sums]) if sums else None


@slope.register
def _(expression: Combination, decisions: Decisions) -> Sum | None:
    """Add up the slopes."""
    return _added(expression.parts, list(expression.weights), decisions)


@slope.register(Largest)
@slope.register(Smallest)
@slope.register(Spread)
@slope.register(LowToHigh)
@slope.register(Magnitude)
@slope.register(Farthest)
@slope.register(Fraction)
@slope.register(GeometricMean)
def _(
    expression: Largest | Smallest | Spread | LowToHigh | Magnitude | Farthest | Fraction | GeometricMean,
    decisions: Decisions,
) -> Sum | None:
    """Add up the slopes of the parts by what the function of them answers to a small change of each."""
    values = _known(expression, decisions)
    if values is None:
        return None
    return _added(expression.parts, _answers(expression, values), decisions)


def _answers(
    expression: Largest | Smallest | Spread | LowToHigh | Magnitude | Farthest | Fraction | GeometricMean,
    values: list[float],
) -> list[float]:
    """Return the derivative with respect to each part."""
    array = np.array(values)
    answers = np.zeros(len(array))
    largest, smallest = int(array.argmax()), int(array.argmin())
    match expression:
        case Largest():
            answers[largest] = 1.0
        case Smallest():
            answers[smallest] = 1.0
        case Spread():
            answers[largest] += 1.0
            answers[smallest] -= 1.0
        case LowToHigh():
            answers[smallest] += array[largest]
            answers[largest] -= array[smallest]
        case Magnitude():
            answers[0] = 1.0 if values[0] >= 0 else -1.0
        case Farthest():
            answers[int(np.abs(array).argmax())] = 1.0
        case Fraction():
            answers[:] = (1.0, -values[0] / values[1]) if values[1] else 0.0
        case GeometricMean():
            answers[:] = np.array(expression.shares) / np.maximum(array, SMALL)
    return [float(each) for each in answers]
