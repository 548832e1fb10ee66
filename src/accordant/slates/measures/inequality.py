"""The Gini coefficient of numbers of at least 0."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.slates.measures.measure import ratio


def gini(values: Values) -> Values:
    """Return Σ_ij |x_i − x_j| / (2 n Σ_i x_i) along the last axis, in [0, 1) (Gini 1912; Sen 1973).

    Computed from order statistics: Σ_r (2 r − n − 1) x_(r) / (n Σ x) with ranks r from 1.

    Parameters
    ----------
    values
        At least 0, shape (..., n); NaN is left out.

    Returns
    -------
    Shape (...); NaN where there is no number, or all are 0.
    """
    ordered = np.sort(values, axis=-1)  # NaN goes to the end
    known = ~np.isnan(ordered)
    count = known.sum(axis=-1, keepdims=True)
    ranks = np.arange(1, ordered.shape[-1] + 1)
    filled = np.where(known, ordered, 0.0)
    spread = ((2 * ranks - count - 1) * filled).sum(axis=-1)
    return np.maximum(ratio(spread, count[..., 0] * filled.sum(axis=-1)), 0.0)
