"""Sums of weights that are equal when they should be: rules compare them without a tolerance."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from accordant.arrays import Values

BINARY_PLACES = 40  # of a sum of weights that are told apart; what is left of 53 is room for adding sums
LARGEST_DENOMINATOR = 10**6  # of ratios between weights that count as intended; 0.1 : 0.7 is 1 : 7
MOST_RATIOS = 1000  # different weights among which a common unit is looked for


def in_whole_units(weights: Values) -> tuple[Values, float]:
    """Return weights in a common unit that makes them whole numbers, and the unit.

    Sums of whole numbers are exact, so ties between sums are found: 0.1 + 0.2 ties with 0.3. Weights without a common
    unit (to fifteen digits) are returned as they are, with unit 1.

    Parameters
    ----------
    weights
        Shape (voter,), not all 0.
    """
    if whole(weights) and weights.sum() < 2**BINARY_PLACES:
        return weights, 1.0
    numbers, unit = _in_whole_units(weights.tobytes())
    return np.frombuffer(numbers).copy(), unit


@lru_cache(maxsize=64)
def _in_whole_units(weights: bytes) -> tuple[bytes, float]:
    """Do the work of `in_whole_units`, once and not for every block of contexts."""
    given = np.frombuffer(weights)
    largest = float(given.max())
    different, where = np.unique(given / largest, return_inverse=True)
    if len(different) > MOST_RATIOS:
        return weights, 1.0
    ratios = [Fraction(ratio).limit_denominator(LARGEST_DENOMINATOR) for ratio in different.tolist()]
    common = math.lcm(*(ratio.denominator for ratio in ratios))
    numbers = np.array([float(ratio * common) for ratio in ratios])
    close = np.abs(numbers / common - different) <= 4 * np.finfo(float).eps * different
    if not close.all() or numbers[where].sum() >= 2**BINARY_PLACES:
        return weights, 1.0
    return numbers[where].tobytes(), largest / common


def settle(sums: Values, weights: Values) -> Values:
    """Return sums of weights without rounding noise, in place: on a grid of 2⁻⁴⁰ of the total weight.

    For weights that are no whole numbers, and for shares such as a third of a vote. The grid is a power of 2: settled
    numbers add up exactly.

    Parameters
    ----------
    sums
        Sums, differences or simple fractions of weights.
    """
    unit = math.ldexp(1.0, math.frexp(float(weights.sum()))[1] - BINARY_PLACES)
    np.divide(sums, unit, out=sums)
    np.rint(sums, out=sums)
    np.multiply(sums, unit, out=sums)
    return sums


def whole(weights: Values) -> bool:
    """Return whether every weight is a whole number."""
    return bool((weights == np.rint(weights)).all())


def half_of(weights: Values) -> float:
    """Return half of all weight, comparable with settled sums: more is a majority."""
    return float(settle(np.array([weights.sum() / 2]), weights)[0])
