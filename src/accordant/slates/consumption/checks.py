"""What probabilities, numbers of items and parameters must look like before anything is computed from them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Counts, Values
from accordant.errors import InputError

LARGEST = 1e280  # of a value or parameter: sums over every slate that fits into memory stay finite
SUM_TOLERANCE = 1e-9  # how far a sum of probabilities may be from 1: rounding of many terms, not more


def checked_numbers(name: str, given: ArrayLike, axis: str) -> Values:
    """Return numbers from 0 to `LARGEST` on one axis that is not empty.

    Raises
    ------
    InputError
        If there is another axis, no number, or a number that is negative, too large or not finite.
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

    Raises
    ------
    InputError
        If they do not, or as in `checked_numbers`.
    """
    array = checked_numbers(name, given, axis)
    if abs(array.sum() - 1.0) > SUM_TOLERANCE:
        raise InputError(f"{name} sum to {array.sum():.12g}; allowed: 1")
    return array


def checked_counts(name: str, given: ArrayLike, length: int | None = None) -> Counts:
    """Return whole numbers of at least 0, shape as given, or (length,) if one is given.

    Raises
    ------
    InputError
        If they are not.
    """
    array = np.asarray(given)
    if length is not None and array.shape != (length,):
        raise InputError(f"{name} have shape {array.shape}; allowed: ({length},)")
    if array.size and (not np.issubdtype(array.dtype, np.integer) or array.min() < 0):
        raise InputError(f"{name} are {array.tolist()!r:.80}; allowed: whole numbers of at least 0")
    return array.astype(np.intp)


def whole_number(name: str, given: int, lowest: int) -> int:
    """Return a whole number that is not below the lowest allowed one.

    Raises
    ------
    InputError
        If it is below, or not whole.
    """
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < lowest:
        raise InputError(f"{name} is {given!r}; allowed: a whole number of at least {lowest}")
    return int(given)


def number_above(name: str, given: float, bound: float) -> None:
    """Stop unless a parameter is a finite number above a bound, at most `LARGEST`.

    Raises
    ------
    InputError
        If it is not.
    """
    if not (math.isfinite(given) and given > bound):
        raise InputError(f"{name} is {given}; allowed: a finite number above {bound:g}")
    if given > LARGEST:
        raise InputError(f"{name} is {given}; allowed: at most {LARGEST:g}")
