"""The fitted γ of many lists at once: how shares of types follow what each user wants."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values

ALIKE = 1e-3  # a mean square of centred log probabilities below it (3 %) is too little to fit a slope to


@dataclass(frozen=True)
class PooledGamma:
    """One slope through the types of all lists, each list with its own level.

    Attributes
    ----------
    gamma
        The slope; NaN if the types of each list are wanted with nearly the same probability, or lists have one type.
    left_out
        Share of wanted types that a list shows no item of: they have no log share, and a line that counted them would
        be steeper. Near 1 for short lists, whose γ then says little.
    """

    gamma: float
    left_out: float


def pooled_gamma(wanted: Values, counts: NDArray[np.intp]) -> PooledGamma:
    """Return the slope of log(a_t / n) over log p_t, by least squares within lists [ours].

    Parameters
    ----------
    wanted
        p_t, shape (type, request).
    counts
        a_t, shape (type, request).
    """
    used = (wanted > 0) & (counts > 0)
    some = np.maximum(used.sum(axis=0), 1)
    x = np.where(used, np.log(np.where(used, wanted, 1.0)), 0.0)
    y = np.where(used, np.log(np.where(used, counts, 1)), 0.0)
    x = np.where(used, x - x.sum(axis=0) / some, 0.0)
    y = np.where(used, y - y.sum(axis=0) / some, 0.0)
    squares = float((x * x).sum())
    slope = float((x * y).sum()) / squares if squares > ALIKE * max(1, int(used.sum())) else math.nan
    n_wanted = int((wanted > 0).sum())
    left_out = ((wanted > 0) & (counts == 0)).sum() / n_wanted if n_wanted else math.nan
    return PooledGamma(slope, float(left_out))
