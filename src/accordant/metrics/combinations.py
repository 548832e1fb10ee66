"""How sums and ratios are combined into metrics: a small closed algebra.

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

Everything but the last is not defined if a part of it is not.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.decisions import Decisions
from accordant.metrics.expressions import Expression, Sum, Undefined


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
