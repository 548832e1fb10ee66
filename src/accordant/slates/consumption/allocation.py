"""The best slate by numbers of items per type: the greedy rule, which is exactly optimal.

    maximise Σ_t p_t h_t(a_t)   over whole numbers a_t ≥ 0 with Σ_t a_t = n

As every h_t is concave, gains never rise within a type, and the n largest gains of all types together can be taken at
once (Peng et al. 2024; Federgruen and Groenevelt 1986 for the greedy rule).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Counts, Values
from accordant.errors import InputError
from accordant.slates.consumption.values import ValueDistribution, checked_counts, checked_probabilities, whole_number

TIED = 1e-12  # gains whose logarithms differ by less than this share of 1 + |log| are equal, but for rounding
RISE = 1e-9  # a rise of the log gain by more than this share of 1 + |log| is no rounding
SPREAD = 1e-12  # probabilities whose logarithms have a smaller standard deviation are all the same


@dataclass(frozen=True, eq=False)
class Allocation:
    """How many items a_t of each type a slate has, shape (type,), and its value Σ_t p_t h_t(a_t)."""

    counts: Counts
    value: float

    @property
    def shares(self) -> Values:
        """a_t / n, shape (type,); 0 for an empty slate."""
        return np.asarray(self.counts / max(1, int(self.counts.sum())))


def allocate(
    probabilities: ArrayLike,
    values: ValueDistribution | Sequence[ValueDistribution],
    items: int,
    consumed: int | None = 1,
) -> Allocation:
    """Return the slate that is worth most to a user who takes the best k items of the wanted type.

    Parameters
    ----------
    probabilities
        p_t, shape (type,), with sum 1: for example the posterior over preference groups.
    values
        One distribution for all types, or one for each.
    items
        n ≥ 0.
    consumed
        k ≥ 1; None if everything is consumed.

    Raises
    ------
    InputError
        If probabilities do not sum to 1, numbers do not fit, or the types together have fewer than n items.
    """
    shares = checked_probabilities("probabilities", probabilities)
    of_type = values_of_types(values, len(shares))
    length = whole_number("items", items, 0)
    taken = number_consumed(consumed, length)
    gains = {id(distribution): distribution.log_gains(taken, length) for distribution in of_type}
    with np.errstate(divide="ignore"):
        weighted = [np.log(p) + gains[id(distribution)] for p, distribution in zip(shares, of_type, strict=True)]
    counts = greedy_counts(weighted, length)
    return Allocation(counts, expected_value(shares, of_type, counts, taken))


def greedy_counts(log_gains: Sequence[ArrayLike], items: int) -> Counts:
    """Return how many of the n largest gains belong to each type, shape (type,).

    Gains that differ by rounding only are ties; they go to the type that is declared first.

    Parameters
    ----------
    log_gains
        For each type, the log of p_t [h_t(a + 1) − h_t(a)] for a = 0, 1, …, never rising; −∞ for a gain of 0.
        A type has as many items as it has gains.
    items
        n ≥ 0.

    Raises
    ------
    InputError
        If gains rise, are no numbers, NaN or +∞, or are fewer than n.
    """
    whole_number("items", items, 0)
    of_type = [_checked_gains(t, gains) for t, gains in enumerate(log_gains)]
    available = sum(map(len, of_type))
    if available < items:
        raise InputError(f"items is {items}; allowed: at most {available}, which is what the types have together")
    counts = np.zeros(len(of_type), dtype=np.intp)
    if items == 0:
        return counts
    every = np.concatenate(of_type)
    marginal = float(np.partition(every, available - items)[available - items])
    slack = TIED * (1.0 + abs(marginal)) if np.isfinite(marginal) else 0.0
    counts[:] = [(gains > marginal + slack).sum() for gains in of_type]
    left = items - int(counts.sum())
    for t, gains in enumerate(of_type):
        more = min(left, int((gains >= marginal - slack).sum()) - int(counts[t]))
        counts[t] += more
        left -= more
    return counts


def expected_value(shares: Values, values: Sequence[ValueDistribution], counts: Counts, consumed: int) -> float:
    """Return Σ_t p_t h_t(a_t) from p_t and a_t, shape (type,), one distribution for each type, and k ≥ 1."""
    best = [float(distribution.best(consumed, int(a))) for distribution, a in zip(values, counts, strict=True)]
    return float(shares @ np.array(best))


def values_of_types(
    values: ValueDistribution | Sequence[ValueDistribution], n_types: int
) -> tuple[ValueDistribution, ...]:
    """Return one distribution for each type, or raise `InputError` if their number is neither one nor that of types."""
    of_type = tuple(values) if isinstance(values, Sequence | np.ndarray) else (values,) * n_types
    if len(of_type) != n_types:
        raise InputError(f"values has {len(of_type)} distributions; allowed: one, or one for each of {n_types} types")
    return of_type


def number_consumed(consumed: int | None, items: int) -> int:
    """Return k; the whole slate for None, or raise `InputError` if it is not a whole number of at least 1."""
    return max(1, items) if consumed is None else whole_number("consumed", consumed, 1)


def _checked_gains(position: int, given: ArrayLike) -> Values:
    """Return the gains of a type, shape (items,), or stop if they are NaN, +∞, or rise by more than rounding."""
    try:
        gains = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"gains of type {position} are no array of numbers ({error})") from None
    if gains.ndim != 1:
        raise InputError(f"gains of type {position} have shape {gains.shape}; allowed: (items,)")
    if np.isnan(gains).any() or (gains == np.inf).any():
        raise InputError(f"gains of type {position} hold NaN or +inf; allowed: numbers and -inf")
    known = gains[gains > -np.inf]
    if (gains[: len(known)] == -np.inf).any() or (np.diff(known) > RISE * (1.0 + np.abs(known[1:]))).any():
        raise InputError(f"gains of type {position} rise; allowed: gains that never rise (h must be concave)")
    return gains


@dataclass(frozen=True)
class FittedGamma:
    """The straight line through log shares over log probabilities.

    Its slope is NaN unless two types with different probabilities have items; `residual` is the largest distance of a
    log share from the line, 0 if the slate is γ-homogeneous among the types used. `left_out` counts wanted types
    without an item: they have no log share, and a line that counted them would be steeper.
    """

    gamma: float
    residual: float
    left_out: int


@dataclass(frozen=True)
class ConsumptionMeasures:
    """What a slate is worth.

    `best` is the expected sum of the best k items of the wanted type, Σ_t p_t h_t(a_t); `mean` the expected value of an
    item if all are consumed, NaN for an empty slate; `gamma` how shares follow probabilities.
    """

    best: float
    mean: float
    gamma: FittedGamma


def measure(
    probabilities: ArrayLike,
    values: ValueDistribution | Sequence[ValueDistribution],
    counts: ArrayLike,
    consumed: int | None = 1,
) -> ConsumptionMeasures:
    """Return what a slate with given numbers of items per type is worth.

    Parameters
    ----------
    probabilities
        p_t, shape (type,), with sum 1.
    values
        One distribution for all types, or one for each.
    counts
        a_t, shape (type,), whole numbers of at least 0.
    consumed
        k ≥ 1; None if everything is consumed.

    Raises
    ------
    InputError
        If a shape or a number does not fit.
    """
    shares = checked_probabilities("probabilities", probabilities)
    of_type, numbers = values_of_types(values, len(shares)), checked_counts("counts", counts, len(shares))
    length = int(numbers.sum())
    everything = number_consumed(None, length)
    return ConsumptionMeasures(
        expected_value(shares, of_type, numbers, number_consumed(consumed, length)),
        expected_value(shares, of_type, numbers, everything) / length if length else math.nan,
        fitted_gamma(shares, numbers),
    )


def fitted_gamma(probabilities: ArrayLike, counts: ArrayLike) -> FittedGamma:
    """Return the slope of log(a_t / n) over log p_t, by least squares over the types with p_t > 0 and a_t > 0.

    Parameters
    ----------
    probabilities
        p_t, shape (type,), with sum 1.
    counts
        a_t, shape (type,), whole numbers of at least 0.

    Raises
    ------
    InputError
        If a shape or a number does not fit.
    """
    p = checked_probabilities("probabilities", probabilities)
    numbers = checked_counts("counts", counts, len(p))
    used = (p > 0) & (numbers > 0)
    left_out = int(((p > 0) & (numbers == 0)).sum())
    x, y = np.log(p[used]), np.log(numbers[used])
    if used.sum() < 2 or x.std() <= SPREAD:
        return FittedGamma(math.nan, math.nan, left_out)
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    return FittedGamma(slope, float(np.abs(y - slope * x).max()), left_out)
