"""Whether what others compared says anything about a record.

A linear model knows nothing of a difference of features at right angles to every difference that it was trained on: its
prediction of ½ would then be the ridge's. With one feature per item this means that nobody else compared either item;
items with equal features are never told apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.preferences.records import Comparisons

BLIND = 1e-12  # a mean squared cosine below which two differences have nothing but rounding in common


def in_sight(training: Comparisons, differences: Values) -> NDArray[np.bool_]:
    """Return whether training compared anything that is not at right angles to each difference, shape (record,)."""
    seen = training.differences(np.flatnonzero(training.record_weights > 0))
    return _above_rounding(_squared_products(seen, differences), seen, differences)


def in_sight_of_others(comparisons: Comparisons) -> NDArray[np.bool_]:
    """Return the same for each record and the records of all other users, shape (record,)."""
    weighing = comparisons.record_weights > 0
    differences = comparisons.differences()
    common = _squared_products(differences[weighing], differences)
    order = np.argsort(comparisons.users, kind="stable")
    for rows in np.split(order, np.cumsum(comparisons.counts)[:-1]):
        own = differences[rows]
        common[rows] -= ((own @ own[weighing[rows]].T) ** 2).sum(axis=1)
    return _above_rounding(common, differences[weighing], differences)


def _squared_products(seen: Values, differences: Values) -> Values:
    """Return Σ_s (x_s · x_r)², shape (record,)."""
    return np.asarray(np.einsum("rk,rk->r", differences @ (seen.T @ seen), differences))


def _above_rounding(common: Values, seen: Values, differences: Values) -> NDArray[np.bool_]:
    return np.asarray(common > BLIND * (seen**2).sum() * (differences**2).sum(axis=1))
