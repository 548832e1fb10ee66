"""How good and how diverse a slate is: for a user who takes the best few, and for one who takes everything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.slates.consumption.allocation import expected_value, number_consumed, values_of_types
from accordant.slates.consumption.checks import checked_counts, checked_probabilities
from accordant.slates.consumption.values import ValueDistribution

SPREAD = 1e-12  # probabilities whose logarithms have a smaller standard deviation are all the same


@dataclass(frozen=True)
class FittedGamma:
    """The straight line through log shares over log probabilities.

    Attributes
    ----------
    gamma
        Its slope; NaN unless two types with different probabilities have items.
    residual
        Largest distance of a log share from the line; 0 if the slate is γ-homogeneous among the types used, NaN without
        a line.
    left_out
        Wanted types without an item: they have no log share. A line that counted them would be steeper.
    """

    gamma: float
    residual: float
    left_out: int


@dataclass(frozen=True)
class ConsumptionMeasures:
    """What a slate is worth.

    Attributes
    ----------
    best
        Expected sum of the best k items of the wanted type: Σ_t p_t h_t(a_t).
    mean
        Expected value of an item of the slate, if all are consumed; NaN for an empty slate.
    gamma
        How shares follow probabilities.
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
