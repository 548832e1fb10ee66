"""Types of arrays, each with one name everywhere, and what may become one.

Shapes stand where arrays are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError

Values = NDArray[np.float64]
Codes = NDArray[np.intp]  # positions, of rows or in a tuple of names
Counts = NDArray[np.intp]
Mask = NDArray[np.bool_]
Labels = NDArray[np.str_]
Floats = NDArray[np.floating[Any]]  # of any precision
Integers = NDArray[np.signedinteger[Any]]  # of any size
WholeNumbers = NDArray[np.int64]  # that must not overflow
Times = NDArray[np.datetime64]
AnyArray = NDArray[Any]


def real_array(name: str, given: Any, error: type[InputError] = InputError) -> AnyArray:
    """Return what numpy reads as an array of real numbers, of any type and shape; a view where numpy makes one.

    Parameters
    ----------
    name
        What messages call it.
    given
        Anything numpy reads.
    error
        What is raised.

    Raises
    ------
    InputError
        Or the given kind of it, if numpy would silently lose something: the mask of a masked array, the imaginary part
        of complex numbers, what is text; or if it is a sparse matrix, or no array at all.
    """
    lost = (
        "a sparse matrix"
        if hasattr(given, "tocsr")
        else "a masked array"
        if isinstance(given, np.ma.MaskedArray)
        else None
    )
    if lost is None:
        try:
            array = np.asarray(given)
        except (TypeError, ValueError) as problem:
            raise error(f"{name} must be an array of numbers: {problem}") from None
        lost = {"c": "an array of complex numbers", "S": "an array of text", "U": "an array of text"}.get(
            array.dtype.kind
        )
        if lost is None:
            return array
    raise error(f"{name} must be a dense array of real numbers; found {lost}")
