"""What items are worth: values drawn independently from a density, with exact means of the best k of a, for every k.

`ValueDistribution` says what every distribution of values offers; the checks of numbers serve all of them.

With U uniform on [0, 1], the i-th smallest of a draws of U has the Beta(i, a − i + 1) law. A Pareto value is U^(−1/α)
and a bounded one 1 − U^(1/β), so the means of their order statistics are ratios of gamma functions, and the sums over
the best k telescope. With s = −1/α for Pareto and s = 1/β for bounded values, and j = min(k, a),

    E Σ_{i ≤ j} U_(i)^s = Γ(j + 1 + s) / (Γ(j) (1 + s)) · Γ(a + 1) / Γ(a + 1 + s).

For k = 1 these are the forms of Peng et al. (2024). For exponential values the distance of neighbours, counted from the
top, has mean 1/i (Rényi 1953), so that one item more than k adds k / (a + 1).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Counts, Values
from accordant.errors import InputError

LARGEST = 1e280  # of a value or parameter: sums over every slate that fits into memory stay finite
SUM_TOLERANCE = 1e-9  # how far a sum of probabilities may be from 1: rounding of many terms, not more


def checked_numbers(name: str, given: ArrayLike, axis: str) -> Values:
    """Return numbers from 0 to `LARGEST` on one axis that is not empty.

    Raises `InputError` if there is another axis, no number, or a number that is negative, too large or not finite.
    """
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} are no array of numbers ({error})") from None
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"{name} have shape {array.shape}; allowed: ({axis},), not empty")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        raise InputError(f"{name} hold {array[wrong][0]}; allowed: finite numbers of at least 0")
    if array.max() > LARGEST:
        raise InputError(f"{name} hold {array.max()}; allowed: at most {LARGEST:g}")
    return array


def checked_probabilities(name: str, given: ArrayLike, axis: str = "type") -> Values:
    """Return numbers of at least 0 that sum to 1, shape (type,).

    Raises `InputError` if they do not, or as in `checked_numbers`.
    """
    array = checked_numbers(name, given, axis)
    if abs(array.sum() - 1.0) > SUM_TOLERANCE:
        raise InputError(f"{name} sum to {array.sum():.12g}; allowed: 1")
    return array


def checked_counts(name: str, given: ArrayLike, length: int | None = None) -> Counts:
    """Return whole numbers of at least 0, shape as given, or (length,) if one is given.

    Raises `InputError` if they are not.
    """
    array = np.asarray(given)
    if length is not None and array.shape != (length,):
        raise InputError(f"{name} have shape {array.shape}; allowed: ({length},)")
    if array.size and (not np.issubdtype(array.dtype, np.integer) or array.min() < 0):
        raise InputError(f"{name} are {array.tolist()!r:.80}; allowed: whole numbers of at least 0")
    return array.astype(np.intp)


def whole_number(name: str, given: int, lowest: int) -> int:
    """Return a whole number that is not below the lowest allowed one.

    Raises `InputError` if it is below, or not whole.
    """
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < lowest:
        raise InputError(f"{name} is {given!r}; allowed: a whole number of at least {lowest}")
    return int(given)


def number_above(name: str, given: float, bound: float) -> None:
    """Raise `InputError` unless a parameter is a finite number above a bound, at most `LARGEST`."""
    if not (math.isfinite(given) and given > bound):
        raise InputError(f"{name} is {given}; allowed: a finite number above {bound:g}")
    if given > LARGEST:
        raise InputError(f"{name} is {given}; allowed: at most {LARGEST:g}")


class ValueDistribution(Protocol):
    """Values of the items of one type, all at least 0.

    Of items that are exchangeable, the best k of a are worth

        h(a) = Σ_{i ≤ min(k, a)} μ(a − i + 1, a),

    with μ(r, a) the mean of the r-th smallest of a values. h is concave (Peng et al. 2024).
    """

    @abstractmethod
    def best(self, consumed: int, items: ArrayLike) -> Values:
        """Return h(a), the expected sum of the best k of a values.

        Parameters
        ----------
        consumed
            k ≥ 1; all are taken if there are fewer.
        items
            a ≥ 0, whole numbers of any shape, which is the shape of the result.
        """

    @abstractmethod
    def log_gains(self, consumed: int, items: int) -> Values:
        """Return log(h(a + 1) − h(a)) for a = 0..items − 1; −∞ where nothing is gained.

        Shape (items,), or shorter if there are fewer items. It never rises, but for rounding; logarithms keep gains
        apart that are too small for a float.
        """


def summed_gains(log_gains: Values, items: ArrayLike) -> Values:
    """Return h(a) as the sum of the first a gains, for values without a closed form; a ≥ 0 of any shape."""
    totals = np.concatenate([[0.0], np.cumsum(np.exp(log_gains))])
    return np.asarray(totals[checked_counts("items", items)])


@dataclass(frozen=True)
class BoundedBeta:
    """Density β (1 − x)^(β − 1) on [0, 1]: few values near the bound if β is large.

    Parameters
    ----------
    shape
        β, above 0; 1 is the uniform distribution.
    """

    shape: float

    def __post_init__(self) -> None:
        number_above("shape", self.shape, 0.0)

    def best(self, consumed: int, items: ArrayLike) -> Values:
        """Return h(a), shape of `items`; see `ValueDistribution`."""
        number = checked_counts("items", items)
        taken = np.minimum(whole_number("consumed", consumed, 1), number)
        return np.asarray(taken - np.exp(_log_power_sums(taken, number, 1.0 / self.shape)))

    def log_gains(self, consumed: int, items: int) -> Values:
        """Return log gains, shape (items,); the mean 1 / (1 + β) for each of the first k."""
        return _log_gains(consumed, items, 1.0 / self.shape, -np.log1p(self.shape))


@dataclass(frozen=True)
class Uniform(BoundedBeta):
    """Values between 0 and 1, all alike: `BoundedBeta` with β = 1. h(a) = a / (a + 1) for k = 1."""

    shape: float = field(default=1.0, init=False)


@dataclass(frozen=True)
class Exponential:
    """Density e^(−x / mean) / mean. h(a) = mean Σ_{j ≤ a} 1 / j for k = 1.

    Parameters
    ----------
    mean
        Above 0.
    """

    mean: float = 1.0

    def __post_init__(self) -> None:
        number_above("mean", self.mean, 0.0)

    def best(self, consumed: int, items: ArrayLike) -> Values:
        """Return h(a) = mean · min(k, a) (1 + Σ_{j = min(k, a) + 1 .. a} 1 / j), shape of `items`."""
        from scipy.special import digamma

        number = checked_counts("items", items)
        taken = np.minimum(whole_number("consumed", consumed, 1), number)
        return np.asarray(self.mean * taken * (1.0 + digamma(number + 1.0) - digamma(taken + 1.0)))

    def log_gains(self, consumed: int, items: int) -> Values:
        """Return the log of mean · min(1, k / (a + 1)), shape (items,)."""
        number = np.arange(1, whole_number("items", items, 0) + 1)
        return np.asarray(np.log(self.mean) + np.log(np.minimum(1.0, whole_number("consumed", consumed, 1) / number)))


@dataclass(frozen=True)
class Pareto:
    """P(X > x) = x^(−α) for x ≥ 1: the best of many is far above the others.

    Parameters
    ----------
    tail
        α, above 1, so that there is a mean.
    """

    tail: float

    def __post_init__(self) -> None:
        number_above("tail", self.tail, 1.0)

    def best(self, consumed: int, items: ArrayLike) -> Values:
        """Return h(a), shape of `items`; see `ValueDistribution`."""
        number = checked_counts("items", items)
        taken = np.minimum(whole_number("consumed", consumed, 1), number)
        return np.exp(_log_power_sums(taken, number, -1.0 / self.tail))

    def log_gains(self, consumed: int, items: int) -> Values:
        """Return log gains, shape (items,); the mean α / (α − 1) for each of the first k."""
        power = -1.0 / self.tail
        return _log_gains(consumed, items, power, -np.log1p(power))


def _log_gains(consumed: int, items: int, power: float, log_mean: float) -> Values:
    """Return log gains, shape (items,).

    From a = k on the sum of powers S shrinks by its share s / (a + 1 + s), so that with S(k) = k / (1 + s)

        |gain(k)| = k |s| / ((1 + s) (k + 1 + s)),    gain(a + 1) / gain(a) = (a + 1) / (a + 2 + s).

    A sum of these ratios' logarithms keeps digits that differences of log-gamma lose.
    """
    first, length = whole_number("consumed", consumed, 1), whole_number("items", items, 0)
    gains = np.full(length, log_mean)
    if length > first:
        after = np.arange(first, length - 1)
        start = np.log(first * abs(power) / ((1.0 + power) * (first + 1 + power)))
        gains[first:] = start + np.cumsum(np.concatenate([[0.0], np.log1p(-(1.0 + power) / (after + 2 + power))]))
    return gains


def _log_power_sums(taken: NDArray[np.intp], number: NDArray[np.intp], power: float) -> Values:
    """Return log E Σ_{i ≤ j} U_(i)^s for s = `power` > −1, j = `taken`, a = `number`; −∞ for j = 0, shape as given."""
    from scipy.special import gammaln

    top = gammaln(taken + 1.0 + power) - gammaln(np.maximum(taken, 1.0)) - np.log1p(power)
    return np.asarray(np.where(taken > 0, top + gammaln(number + 1.0) - gammaln(number + 1.0 + power), -np.inf))
