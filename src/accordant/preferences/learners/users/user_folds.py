"""Folds of users: whoever is judged by a model had no part in its training."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import DataError, InputError
from accordant.preferences.records import Comparisons

NO_FOLD = -1  # of users without records of positive weight


def user_folds(weights: Values, folds: int, generator: np.random.Generator) -> Codes:
    """Deal users into folds of equal size, but for one user, at random.

    Parameters
    ----------
    weights
        Sum of the weights of each user's records, above 0 for at least two users, shape (user,).
    folds
        At least 2; with fewer users every user is a fold.
    generator
        Source of the deal; the same state gives the same folds.

    Returns
    -------
    numpy.ndarray
        Fold of each user, shape (user,); -1 for users whose records weigh nothing, who take part in no training.

    Raises
    ------
    InputError
        If `folds` is not a whole number of at least 2.
    DataError
        If fewer than two users have records.
    """
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise InputError(f"folds is {folds}; allowed: a whole number from 2")
    present = np.flatnonzero(weights > 0)
    if len(present) < 2:
        raise DataError(f"folds need at least 2 users with records; found {len(present)}")
    found = np.full(len(weights), NO_FOLD, dtype=np.intp)
    found[generator.permutation(present)] = np.arange(len(present)) % folds
    return found


def weight_of_users(comparisons: Comparisons) -> Values:
    """Return the sum of the weights of each user's records, shape (user,)."""
    return np.asarray(np.bincount(comparisons.users, comparisons.record_weights, minlength=comparisons.n_users))
