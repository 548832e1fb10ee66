"""Directions of reward in which users differ most from the pooled one.

[ours] A user's score at the pooled reward, Σ_r w_r (1 − σ(D_r)) x_r, says where the user's records pull. Differences
x are whitened, so that scores of equal users have the same noise everywhere, and the leading directions of the users'
scores are kept (a deterministic start, as in spectral methods for mixed regressions: Yi, Caramanis and Sanghavi 2014).
"""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.preferences.learners.solving.logistic import sigmoid
from accordant.preferences.records import Comparisons

SAMPLED = 20_000  # records are enough for a second moment


def user_directions(comparisons: Comparisons, differences: Values, pooled: Values, most: int) -> Values:
    """Return directions B of unit variance over records, shape (feature, direction).

    All features are spanned if there are at most `most`; else the leading ones of the users' scores are, in falling
    order of how much users differ along them.

    Parameters
    ----------
    comparisons
        Records with users and weights.
    differences
        Their features, shape (record, feature).
    pooled
        Coefficients of the pooled reward, shape (feature,).
    most
        At least 1.
    """
    weights = comparisons.record_weights
    whiten = _whitening(differences, weights)
    if whiten.shape[1] <= most:
        return whiten
    pulls = weights * (1.0 - sigmoid(differences @ pooled))
    totals = np.bincount(comparisons.users, weights, minlength=comparisons.n_users)
    scores = _sums_by_user(differences, pulls, comparisons) @ whiten / np.sqrt(np.maximum(totals, 1.0))[:, None]
    _, vectors = np.linalg.eigh(scores.T @ scores)
    leading = vectors[:, ::-1][:, :most]
    signs = np.sign(leading[np.abs(leading).argmax(axis=0), np.arange(most)])
    return np.asarray(whiten @ (leading * signs))


def _sums_by_user(differences: Values, pulls: Values, comparisons: Comparisons) -> Values:
    """Return Σ_r pull_r x_r of each user, shape (user, feature)."""
    from scipy.sparse import csr_array

    places = comparisons.users, np.arange(len(pulls))
    return np.asarray(csr_array((pulls, places), shape=(comparisons.n_users, len(pulls))) @ differences)


def _whitening(differences: Values, weights: Values) -> Values:
    """Return the inverse of a square root of the second moment, which is drawn towards a multiple of the identity.

    The fewer records there are for a feature, the more it is drawn: by feature / (feature + record). Where no record
    differs in any feature, all directions are alike: the identity is returned.
    """
    heard = np.flatnonzero(weights > 0)
    heard = heard[:: max(1, len(heard) // SAMPLED)]
    some, counted = differences[heard], weights[heard]
    total = max(float(counted.sum()), np.finfo(float).tiny)
    sizes, vectors = np.linalg.eigh((some * counted[:, None]).T @ some / total)
    mean = float(sizes.mean())
    if mean < np.finfo(float).tiny:
        return np.eye(len(sizes))
    drawn = len(sizes) / (len(sizes) + len(some))
    return np.asarray(vectors / np.sqrt((1.0 - drawn) * np.maximum(sizes, 0.0) + drawn * mean))
