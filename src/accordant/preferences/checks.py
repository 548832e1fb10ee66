"""What arrays and parameters must look like: one place for the sentences that refuse others.

An array of shape (user, 1) beside one of shape (user,) would silently become a table of all pairs; so nothing is ever
broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from accordant.arrays import Codes, Values, real_array
from accordant.errors import InputError


def numbers(name: str, given: Any, axis: str, length: int | None = None) -> Values:
    """Return finite numbers on one axis.

    Parameters
    ----------
    name, axis
        What the array and its axis are called in messages.
    given
        Anything numpy reads.
    length
        Required length; None for any.

    Raises
    ------
    InputError
        If there is another axis, another length, NaN or an infinite number.
    """
    array = np.asarray(real_array(name, given), dtype=np.float64)
    if array.ndim != 1 or (length is not None and len(array) != length):
        wanted = axis if length is None else f"{axis}: {length}"
        raise InputError(f"{name} has shape {array.shape}; allowed: ({wanted},)")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite; found {array[~np.isfinite(array)][0]}")
    return array


def codes(name: str, given: Any, length: int, limit: int | None = None, error: type[InputError] = InputError) -> Codes:
    """Return whole numbers from 0, below `limit` if one is given, shape (length,).

    Raises
    ------
    InputError
        Or the given kind of it, if the shape differs, or a number is not whole or out of range.
    """
    array = np.asarray(given)
    if array.shape != (length,) or not (array.size == 0 or np.issubdtype(array.dtype, np.integer)):
        raise error(f"{name} has shape {array.shape} of {array.dtype}; allowed: whole numbers of shape ({length},)")
    if array.size and (array.min() < 0 or (limit is not None and array.max() >= limit)):
        allowed = "at least 0" if limit is None else f"0 to {limit - 1}"
        raise error(f"{name} goes from {array.min()} to {array.max()}; allowed: {allowed}")
    return array.astype(np.intp)


def finite_array(name: str, given: Any, axes: tuple[str, ...]) -> Values:
    """Return a C-contiguous array of finite numbers with the given axes, none of them empty.

    Raises
    ------
    InputError
        If it has other axes, an empty axis, or numbers that are not finite.
    """
    try:
        array = np.ascontiguousarray(real_array(name, given), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is no array of numbers ({error})") from None
    if np.ndim(given) != len(axes) or 0 in array.shape:
        raise InputError(f"{name} has shape {np.shape(given)}; allowed: ({', '.join(axes)}), none of them empty")
    if not np.isfinite(array).all():
        wrong = int((~np.isfinite(array)).sum())
        raise InputError(f"{name} holds {wrong} numbers that are NaN or infinite; allowed: none")
    return array


def share(name: str, given: float) -> float:
    """Return a number above 0 and at most 1, or raise `InputError`."""
    if not 0 < given <= 1:
        raise InputError(f"{name} is {given}; allowed: above 0, at most 1")
    return float(given)


def check_positive(**parameters: float) -> None:
    """Raise `InputError` unless every parameter is finite and above 0."""
    for name, value in parameters.items():
        if not 0 < value < np.inf:
            raise InputError(f"{name} is {value}; allowed: above 0")


def check_whole(least: int = 1, /, **parameters: int) -> None:
    """Raise `InputError` unless every parameter is a whole number of at least `least`."""
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(f"{name} is {value}; allowed: a whole number from {least}")
