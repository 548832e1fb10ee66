"""Arrays that nobody can write: what is shown to one agent must not change for another."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def sealed(values: NDArray[Number]) -> NDArray[Number]:
    """Return the same numbers in memory that cannot be written, not even by ``setflags(write=True)``.

    An array that owns its memory can be made writeable again by whoever holds it; one over bytes cannot. Pickling
    gives ordinary arrays, so what holds sealed ones seals them again.

    Parameters
    ----------
    values
        Numbers of any shape; returned as they are if they are sealed already.
    """
    if is_sealed(values):
        return values
    return np.ndarray(values.shape, values.dtype, buffer=values.tobytes())


def is_sealed(values: NDArray[Any]) -> bool:
    """Return whether the memory of an array can never be written."""
    owner: Any = values
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return isinstance(owner, bytes)
