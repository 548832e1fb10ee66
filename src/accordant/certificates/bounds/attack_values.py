"""What attacks that exist make of a metric: the other side of every bound.

The search starts from honest decisions and from those that the bound itself points at. At each point the metric is
replaced by the sum it behaves like there, the best choice for that sum is taken, and so on while the metric moves the
right way: Dinkelbach's steps for a ratio, Frank and Wolfe's (1956) for everything else. What is found is attained, as
every choice is one that misreports are known to make; if it meets the bound, the bound is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from accordant.certificates.bounds.choices import Choices, Move
from accordant.decisions import Decisions
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
    Ratio,
    Smallest,
    Spread,
    Sum,
    weighed,
)

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
    slopes = [(slope(part, decisions), weight) for part, weight in zip(parts, weights, strict=True) if weight]
    sums = [(term, weight) for term, weight in slopes if term is not None]
    return weighed([term for term, _ in sums], [weight for _, weight in sums]) if sums else None


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
    return [float(answer) for answer in answers]


STEPS = 20  # improvements of one start
PLACES, REFINEMENTS = 9, 12  # where to look between two attacks, and how often nearer
LOOKS = 2e7  # contexts looked at before a search gives up, however few steps that are


@dataclass(frozen=True, eq=False)
class Attained:
    """The most that a known attack makes of a metric.

    Attributes
    ----------
    value
        The value; None if every known attack leaves the metric undefined.
    move
        The attack; None if it is to report honestly.
    """

    value: float | None
    move: Move | None


@dataclass(frozen=True, eq=False)
class Goal:
    """Which end is sought, and where the search can stop.

    Attributes
    ----------
    sign
        1 for the highest value, −1 for the lowest.
    bound
        Nothing is beyond it.
    tolerance
        How close to it, relative to max(1, |bound|), is close enough.
    """

    sign: float
    bound: float
    tolerance: float

    def met(self, value: float | None) -> bool:
        """Return whether a value is the bound, up to rounding."""
        if value is None or not math.isfinite(self.bound):
            return False
        return abs(self.bound - value) <= self.tolerance * max(1.0, abs(self.bound))

    def better(self, one: Attained, other: Attained) -> Attained:
        """Return the one of two attacks that comes nearer to the end; the first if they are equal."""
        if other.value is None:
            return one
        return other if one.value is None or self.sign * other.value > self.sign * one.value else one


def attain(expression: Expression, choices: Choices, starts: Sequence[Sum], goal: Goal) -> Attained:
    """Return the highest, or lowest, value that was found among choices that misreports are known to make.

    Parameters
    ----------
    expression
        How the metric is made of sums.
    choices
        What misreports are known to make of the decisions.
    starts
        Sums that lead to good attacks if they are as high, or low, as they can be.
    goal
        Which end is sought.
    """
    best = Attained(expression.value(choices.base), None)
    if goal.met(best.value):
        return best
    for start in (*starts, slope_at(expression, choices.base)):
        if start.parts:
            best = _climb(expression, choices, start, goal, best)
        if goal.met(best.value):
            return best
    if not choices.limited:
        best = _between(expression, choices, goal, best)
    return best


def _climb(expression: Expression, choices: Choices, toward: Sum, goal: Goal, best: Attained) -> Attained:
    """Return the better of the best known attack and what is found from a start by following slopes.

    Once the newest slope leads no higher, the mean of all slopes so far is followed (fictitious play, Brown 1951): the
    smallest of several sums is raised by an attack between those that raise one of them.
    """
    reached, slopes, mixed = Attained(None, None), [toward], False
    for _ in range(_affordable(STEPS, 1, choices)):
        table = goal.sign * toward.table(choices.n_actions, choices.n_contexts)
        _, move = choices.best(table)
        decisions = choices.decisions(move)
        before, reached = reached, goal.better(reached, Attained(expression.value(decisions), move))
        slope = slope_at(expression, decisions)
        if goal.met(reached.value) or not slope.parts:
            break
        slopes.append(slope)
        mixed = mixed or reached is before
        toward = slope if not mixed else weighed(slopes, [1 / len(slopes)] * len(slopes))
    return goal.better(best, reached)


def _between(expression: Expression, choices: Choices, goal: Goal, best: Attained) -> Attained:
    """Look for values on the way from one attack to another, context by context.

    On the way between the two attacks that move the sum behind the metric most, both ways, a gap passes through 0.
    """
    slope = slope_at(expression, choices.base)
    if not slope.parts:
        return best
    table = slope.table(choices.n_actions, choices.n_contexts)
    _, one = choices.best(table)
    _, other = choices.best(-table)
    low, high = 0, choices.n_contexts
    for _ in range(_affordable(REFINEMENTS, PLACES, choices)):
        places = np.unique(np.linspace(low, high, PLACES).round().astype(int))
        attacks = [_value_of(expression, choices, _join(one, other, int(at))) for at in places]
        values = [-np.inf if attack.value is None else goal.sign * attack.value for attack in attacks]
        at = int(np.argmax(values))
        best = goal.better(best, attacks[at])
        if goal.met(best.value) or len(places) < PLACES:
            break
        low, high = int(places[max(0, at - 1)]), int(places[min(len(places) - 1, at + 1)])
    return best


def _affordable(steps: int, looks: int, choices: Choices) -> int:
    """Return how many steps, each of some looks at all contexts, are not too many; at least two."""
    return max(2, min(steps, int(LOOKS / (looks * max(1, choices.n_contexts)))))


def _join(one: Move, other: Move, at: int) -> Move:
    """Return a move that follows one in the first contexts and another in the rest."""
    first = np.arange(len(one.codes)) < at
    policy = None if one.policy is None or other.policy is None else np.where(first, one.policy, other.policy)
    raised = None if one.raised is None or other.raised is None else np.where(first, one.raised, other.raised)
    changed = np.where(first, one.changed, other.changed)
    return Move(np.where(first, one.codes, other.codes), changed, policy, raised)


def _value_of(expression: Expression, choices: Choices, move: Move) -> Attained:
    return Attained(expression.value(choices.decisions(move)), move)
