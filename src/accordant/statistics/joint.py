"""Intervals that hold together: percentile limits of several values that are read side by side."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError


def joint_level(drawn: Values, level: float = 0.95) -> float:
    """Return the level whose percentile intervals of single values hold together at a level.

    With it, the share of resamples that lie within the limits of all values at once is the level wanted: the quantile
    form of sup-t bands (Montiel Olea and Plagborg-Møller 2019, Algorithm 2). Values that move together cost little.

    Parameters
    ----------
    drawn
        Resampled values, paired, shape (resample, value); resamples with NaN are left out, and values that never vary.
    level
        Coverage together, in (0, 1).

    Raises
    ------
    InputError
        If `level` is not in (0, 1).
    """
    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    known = drawn[:, ~np.isnan(drawn).all(axis=0)]
    known = known[~np.isnan(known).any(axis=1)]
    if len(known) < 2:
        return level
    known = known[:, np.ptp(known, axis=0) > 0]
    if known.shape[1] < 2:
        return level
    ordered = np.sort(known, axis=0)
    last = len(known) - 1
    tails = np.empty(known.shape)
    for k in range(known.shape[1]):
        # of equal values the place that lies least far out
        above = np.searchsorted(ordered[:, k], known[:, k], side="right") - 1
        below = last - np.searchsorted(ordered[:, k], known[:, k], side="left")
        tails[:, k] = np.minimum(above, below) / last
    tail = float(np.quantile(tails.min(axis=1), 1 - level))
    return float(np.clip(1 - 2 * tail, level, 1 - 1e-9))
