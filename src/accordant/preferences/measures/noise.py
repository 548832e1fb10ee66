"""How much of the spread of accuracy over users is more than chance.

The accuracy of a user with true accuracy p and n records varies by p (1 − p) / n around p. The variance over users
contains the mean of that; a (1 − a) / (n − 1) estimates it without bias, and is taken off. What remains is the variance
of the true accuracies, less noise / m on average for m users, because the population variance of m values is short of
one m-th of their noise.

This holds for records that are independent given the user. Comparisons made from one user's ratings share items: they
vary more together than the formula says, and too little is taken off.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.preferences.measures.arrays import codes, numbers


@dataclass(frozen=True)
class CorrectedSpread:
    """Variance of accuracy over users, less what sampling of records adds.

    Attributes
    ----------
    n_users
        Users compared.
    excluded
        Users left out because their sampling variance is not known: fewer than two records.
    raw_variance
        Population variance of the accuracies.
    noise
        Mean sampling variance.
    variance
        `raw_variance` − `noise`. It may be negative, and is near 0 on average if all users share the true accuracy:
        average this, never `std`.
    std
        √max(0, variance).
    """

    n_users: int
    excluded: int
    raw_variance: float
    noise: float
    variance: float
    std: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def binomial_noise(accuracy: Values, counts: Codes) -> Values:
    """Return a (1 − a) / (n − 1), the sampling variance of an accuracy, shape (user,); NaN where n < 2.

    Parameters
    ----------
    accuracy
        In [0, 1], shape (user,).
    counts
        Records of equal weight and without ties, shape (user,); `PerUser.sampling_variance` knows others.
    """
    accuracy = numbers("accuracy", accuracy, "user")
    counts = codes("counts", counts, len(accuracy))
    if ((accuracy < 0) | (accuracy > 1)).any():
        raise InputError(f"accuracy goes from {accuracy.min()} to {accuracy.max()}; allowed: 0 to 1")
    noise = np.full(len(accuracy), np.nan)
    several = counts > 1
    noise[several] = accuracy[several] * (1 - accuracy[several]) / (counts[several] - 1)
    return noise


def corrected_spread(accuracy: Values, sampling_variance: Values) -> CorrectedSpread:
    """Return the variance over users that chance does not explain.

    Parameters
    ----------
    accuracy
        Shape (user,).
    sampling_variance
        Variance of each accuracy, at least 0, shape (user,); users with NaN are left out and counted.

    Raises
    ------
    InputError
        If shapes differ, a variance is negative, or nobody is left.
    """
    accuracy = numbers("accuracy", accuracy, "user")
    noise = np.asarray(sampling_variance, dtype=np.float64)
    if noise.shape != accuracy.shape:
        raise InputError(f"sampling_variance has shape {noise.shape}; allowed: {accuracy.shape}")
    known = ~np.isnan(noise)
    if not known.any():
        raise InputError("no user has two records; allowed: at least one user with two")
    noise = numbers("sampling_variance", noise[known], "user")
    if (noise < 0).any():
        raise InputError(f"sampling_variance goes down to {noise.min()}; allowed: at least 0")
    raw, mean = float(accuracy[known].var()), float(noise.mean())
    excluded = int((~known).sum())
    return CorrectedSpread(len(noise), excluded, raw, mean, raw - mean, float(np.sqrt(max(0.0, raw - mean))))
