"""Orders of patients as values: who comes first has the higher one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def order_values(*keys: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of patients whom each one does not come after, in (0, 1], shape (patient,).

    Patients are ordered by the first key, highest first, where that is level by the second, and so on. The value
    falls strictly along that order and is the same for those who are level: if i comes before j, then i comes after
    nobody whom j does not come after, and j comes after i.

    Parameters
    ----------
    keys
        Shape (patient,) each.
    """
    rows = np.column_stack(keys)
    _, places = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(places.ravel())
    return np.asarray(np.cumsum(counts)[places.ravel()] / len(rows), dtype=np.float64)
