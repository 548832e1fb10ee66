"""Group labels of contexts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Labels
from accordant.errors import InputError
from accordant.problem import value_label


def checked_labels(groups: Any, n_contexts: int) -> Labels:
    """Return one label per context as text, written as metrics write values of sensitive attributes.

    Raises
    ------
    InputError
        If there is not one label per context.
    """
    given = np.asarray(groups)
    if given.shape != (n_contexts,):
        raise InputError(f"groups have shape {given.shape}; allowed: one label per context, here {(n_contexts,)}")
    values, codes = np.unique(given, return_inverse=True)
    return (
        np.asarray(np.array([value_label(value) for value in values], dtype=str)[codes])
        if n_contexts
        else (np.empty(0, dtype=str))
    )


def members_of(labels: Labels | None) -> dict[str, NDArray[np.bool_]]:
    """Return the contexts of each group by label, each of shape (context,)."""
    return {} if labels is None else {str(label): labels == label for label in np.unique(labels)}
