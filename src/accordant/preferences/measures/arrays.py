"""What every measure checks of the arrays it is given: one axis, matching lengths, finite numbers.

An array of shape (user, 1) beside one of shape (user,) would silently become a table of all pairs; so nothing is ever
broadcast here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError


def numbers(name: str, given: Any, axis: str, length: int | None = None) -> Values:
    """Return finite numbers on one axis.

    Parameters
    ----------
    name
        What the array is called in messages.
    given
        Anything numpy reads.
    axis
        Name of the axis in messages.
    length
        Required length; None for any.

    Raises
    ------
    InputError
        If there is another axis, another length, NaN or an infinite number.
    """
    array = np.asarray(given, dtype=np.float64)
    if array.ndim != 1 or (length is not None and len(array) != length):
        wanted = axis if length is None else f"{axis}: {length}"
        raise InputError(f"{name} has shape {array.shape}; allowed: ({wanted},)")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite; found {array[~np.isfinite(array)][0]}")
    return array


def codes(name: str, given: Any, length: int, limit: int | None = None) -> Codes:
    """Return whole numbers from 0, below `limit` if one is given, shape (length,).

    Raises
    ------
    InputError
        If the shape differs, or a number is not whole or out of range.
    """
    array = np.asarray(given)
    if array.shape != (length,) or not (array.size == 0 or np.issubdtype(array.dtype, np.integer)):
        raise InputError(
            f"{name} has shape {array.shape} of {array.dtype}; allowed: whole numbers of shape ({length},)"
        )
    if array.size and (array.min() < 0 or (limit is not None and array.max() >= limit)):
        allowed = "at least 0" if limit is None else f"0 to {limit - 1}"
        raise InputError(f"{name} goes from {array.min()} to {array.max()}; allowed: {allowed}")
    return array.astype(np.intp)


def share(name: str, given: float) -> float:
    """Return a number above 0 and at most 1.

    Raises
    ------
    InputError
        If it is not.
    """
    if not 0 < given <= 1:
        raise InputError(f"{name} is {given}; allowed: above 0, at most 1")
    return float(given)
