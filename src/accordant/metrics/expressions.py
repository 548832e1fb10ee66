"""How a metric is made of sums over contexts: the leaves of an expression, and a small closed algebra over them.

A metric that says how it is made of sums can be bounded: whoever knows which actions an attack can reach in each
context knows the smallest and largest value of every sum, and from these of the metric. The leaves:

    Sum          offset + Σ_t θ_t(D(x_t)): totals, means, shares
    Ratio        one sum divided by another that depends on the decisions too
    Undefined    a metric that is not defined, whatever is decided

The ways to combine them:

    Combination       offset + Σ_k w_k x_k
    Largest           max_k x_k
    Smallest          min_k x_k
    Spread            max_k x_k − min_k x_k             differences between groups
    LowToHigh         min_k x_k / max_k x_k             ratios between groups
    Magnitude         |x|
    Farthest          the x_k with the largest |x_k|    the worse of two signed gaps
    Fraction          x / y
    GeometricMean     Π_k x_k^{w_k}, 0 if some x_k ≤ 0
    Defaulted         x, or a number where x is not defined

Everything but `Defaulted` is not defined if a part of it is not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Integers, Values
from accordant.decisions import Decisions


class Expression(ABC):
    """A number made of sums over contexts of what decided actions contribute."""

    @abstractmethod
    def value(self, decisions: Decisions) -> float | None:
        """Return the number for some decisions, an expectation if they are randomised; None if it is not defined."""


@dataclass(frozen=True, eq=False)
class Part:
    """Contributions of actions in some contexts.

    Attributes
    ----------
    weight
        What they are multiplied by.
    theta
        Contribution of each action, shape (action, context of the part).
    contexts
        Which contexts these are; None for all, in order.
    """

    weight: float
    theta: Values
    contexts: Integers | None = None

    def total(self, decisions: Decisions) -> float:
        """Return weight × Σ_t θ_t(D(x_t))."""
        part = slice(None) if self.contexts is None else self.contexts
        if decisions.policy is not None:
            return self.weight * float(np.einsum("at,at->", self.theta, decisions.policy[:, part]))
        codes = decisions.codes[part]
        return self.weight * float(self.theta[codes, np.arange(len(codes))].sum())


@dataclass(frozen=True, eq=False)
class Sum(Expression):
    """An offset plus contributions summed over contexts: linear in the decisions.

    Attributes
    ----------
    parts
        What is summed.
    offset
        What does not depend on decisions.
    """

    parts: tuple[Part, ...] = ()
    offset: float = 0.0

    @classmethod
    def of(cls, theta: Values, weight: float = 1.0, contexts: Integers | None = None) -> Sum:
        """Return weight × Σ_t θ_t(D(x_t)), with θ of shape (action, context)."""
        return cls((Part(float(weight), theta, contexts),))

    def value(self, decisions: Decisions) -> float:
        """Return the sum."""
        return self.offset + float(sum(part.total(decisions) for part in self.parts))

    def scaled(self, factor: float) -> Sum:
        """Return the sum times a number."""
        parts = tuple(Part(factor * part.weight, part.theta, part.contexts) for part in self.parts)
        return Sum(parts, factor * self.offset)

    def plus(self, *others: Sum) -> Sum:
        """Return this and other sums together."""
        parts = self.parts + tuple(part for other in others for part in other.parts)
        return Sum(parts, self.offset + sum(other.offset for other in others))

    def minus(self, other: Sum) -> Sum:
        """Return this sum less another."""
        return self.plus(other.scaled(-1.0))

    @property
    def contexts(self) -> Integers | None:
        """The contexts that all parts share; None if they differ, or these are all contexts."""
        shared = self.parts[0].contexts if self.parts else None
        return shared if all(part.contexts is shared for part in self.parts) else None

    def table(self, n_actions: int, n_contexts: int, within: Integers | None = None) -> Values:
        """Return what each action contributes in each context, shape (action, context), without the offset.

        Parameters
        ----------
        n_actions
            Number of actions.
        n_contexts
            Number of all contexts.
        within
            The contexts that every part is about, if only these are wanted.
        """
        table = np.zeros((n_actions, n_contexts if within is None else len(within)))
        for part in self.parts:
            if part.contexts is within:
                table += part.weight * part.theta
            else:
                table[:, part.contexts] += part.weight * part.theta
        return table

    def constant(self) -> float | None:
        """Return the sum if it is the same whatever is decided, else None."""
        if all((part.theta == part.theta[:1]).all() for part in self.parts):
            return self.offset + float(sum(part.weight * part.theta[0].sum() for part in self.parts))
        return None


@dataclass(frozen=True, eq=False)
class Ratio(Expression):
    """One sum divided by another; not defined where the other is 0."""

    top: Sum
    bottom: Sum

    def value(self, decisions: Decisions) -> float | None:
        """Return top / bottom."""
        bottom = self.bottom.value(decisions)
        return None if bottom == 0 else self.top.value(decisions) / bottom


@dataclass(frozen=True, eq=False)
class Undefined(Expression):
    """What is not defined, whatever is decided."""

    def value(self, decisions: Decisions) -> None:
        """Return None."""
        del decisions


def divided(top: Sum, bottom: Sum) -> Expression:
    """Return top / bottom: a `Sum` if the bottom does not depend on decisions, `Undefined` if it is always 0."""
    constant = bottom.constant()
    if constant is None:
        return Ratio(top, bottom)
    return Undefined() if constant == 0 else top.scaled(1 / constant)


def mean_of(theta: Values, n_contexts: int) -> Expression:
    """Return Σ_t θ_t(D(x_t)) / n for θ of shape (action, context)."""
    return Sum.of(theta, 1 / n_contexts) if n_contexts else Undefined()


def columns_of(theta: Values, weight: float = 1.0) -> tuple[Sum, ...]:
    """Return one sum per column of θ, shape (column, action, context)."""
    return tuple(Sum.of(column, weight) for column in theta)


def weighed(sums: Sequence[Sum], weights: Sequence[float] | Values) -> Sum:
    """Return Σ_k w_k × sum k."""
    return Sum().plus(*(part.scaled(float(weight)) for part, weight in zip(sums, weights, strict=True)))


@dataclass(frozen=True, eq=False)
class OfParts(Expression):
    """A function of several expressions, defined if all of them are.

    Attributes
    ----------
    parts
        At least one expression.
    """

    parts: tuple[Expression, ...]

    @abstractmethod
    def of(self, values: Sequence[float]) -> float | None:
        """Return the number from the values of the parts."""

    def value(self, decisions: Decisions) -> float | None:
        """Return the number for some decisions."""
        values = [part.value(decisions) for part in self.parts]
        known = [value for value in values if value is not None]
        return self.of(known) if len(known) == len(values) else None


@dataclass(frozen=True, eq=False)
class Combination(OfParts):
    """offset + Σ_k w_k x_k.

    Attributes
    ----------
    weights
        One per part, of any sign.
    offset
        What is added.
    """

    weights: tuple[float, ...] = ()
    offset: float = 0.0

    def of(self, values: Sequence[float]) -> float:
        """Return the weighted sum."""
        return self.offset + sum(weight * value for weight, value in zip(self.weights, values, strict=True))


@dataclass(frozen=True, eq=False)
class Largest(OfParts):
    """The largest part."""

    def of(self, values: Sequence[float]) -> float:
        """Return max_k x_k."""
        return max(values)


@dataclass(frozen=True, eq=False)
class Smallest(OfParts):
    """The smallest part."""

    def of(self, values: Sequence[float]) -> float:
        """Return min_k x_k."""
        return min(values)


@dataclass(frozen=True, eq=False)
class Spread(OfParts):
    """The largest part minus the smallest."""

    def of(self, values: Sequence[float]) -> float:
        """Return max_k x_k − min_k x_k."""
        return max(values) - min(values)


@dataclass(frozen=True, eq=False)
class LowToHigh(OfParts):
    """The smallest part divided by the largest; not defined if that is 0."""

    def of(self, values: Sequence[float]) -> float | None:
        """Return min_k x_k / max_k x_k."""
        return None if max(values) == 0 else min(values) / max(values)


@dataclass(frozen=True, eq=False)
class Magnitude(OfParts):
    """The size of a single part, whatever its sign."""

    def of(self, values: Sequence[float]) -> float:
        """Return |x|."""
        return abs(values[0])


@dataclass(frozen=True, eq=False)
class Farthest(OfParts):
    """The part farthest from 0, with its sign; the first of those that are equally far."""

    def of(self, values: Sequence[float]) -> float:
        """Return x_k with the largest |x_k|."""
        return max(values, key=abs)


@dataclass(frozen=True, eq=False)
class Fraction(OfParts):
    """The first part divided by the second; not defined if that is 0."""

    def of(self, values: Sequence[float]) -> float | None:
        """Return x / y."""
        return None if values[1] == 0 else values[0] / values[1]


@dataclass(frozen=True, eq=False)
class GeometricMean(OfParts):
    """Π_k x_k^{w_k}, and 0 if some part is not positive.

    Attributes
    ----------
    shares
        Exponents above 0, one per part.
    """

    shares: tuple[float, ...] = ()

    def of(self, values: Sequence[float]) -> float:
        """Return the product of powers."""
        if min(values) <= 0:
            return 0.0
        return float(np.exp(np.log(values) @ np.array(self.shares)))


@dataclass(frozen=True, eq=False)
class Defaulted(Expression):
    """Another expression, and a number where that is not defined."""

    part: Expression
    default: float = 0.0

    def value(self, decisions: Decisions) -> float:
        """Return the value of the part, or the number."""
        value = self.part.value(decisions)
        return self.default if value is None else value


def defaulted(part: Expression, default: float) -> Expression:
    """Return x, or a number where x is not defined; x itself if it is always defined."""
    if isinstance(part, Undefined):
        return Sum(offset=default)
    return part if isinstance(part, Sum) else Defaulted(part, default)


def magnitude(part: Expression) -> Expression:
    """Return |x|, which is x itself where that is never negative."""
    return part if isinstance(part, Magnitude | Spread) else Magnitude((part,))


def together(parts: Sequence[Expression], weights: Sequence[float], offset: float = 0.0) -> Combination:
    """Return offset + Σ_k w_k x_k."""
    return Combination(tuple(parts), tuple(map(float, weights)), float(offset))
