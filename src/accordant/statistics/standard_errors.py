"""Standard errors of means, of independent units or of units in clusters."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Codes, Values


def standard_error(values: Values, clusters: Codes | None = None) -> Values:
    """Return the standard error of means over the last axis; NaN for fewer than two units or clusters.

    Units in clusters: √(g/(g − 1) Σ_c (Σ_{u in c} (v_u − v̄))²) / n, with g clusters (Liang and Zeger 1986, for a mean).
    With clusters of one unit each it is s / √n.

    Parameters
    ----------
    values
        Shape (..., unit).
    clusters
        Cluster of each unit, shape (unit,); any whole numbers from 0. None if units are independent.
    """
    n = values.shape[-1]
    if clusters is None:
        return np.asarray(values.std(axis=-1, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[:-1], np.nan))
    present, codes = np.unique(clusters, return_inverse=True)
    if len(present) < 2:
        return np.full(values.shape[:-1], np.nan)
    deviations = (values - values.mean(axis=-1, keepdims=True)).reshape(-1, n)
    sums = np.stack([np.bincount(codes, weights=row, minlength=len(present)) for row in deviations])
    squares = (sums**2).sum(axis=-1) * len(present) / (len(present) - 1)
    return np.asarray(np.sqrt(squares).reshape(values.shape[:-1]) / n)
