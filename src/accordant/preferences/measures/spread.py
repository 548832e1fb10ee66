"""How evenly a reward model serves users, one number by each function, and how much of the spread is more than chance.

A value is anything at least 0 of which more is better, such as accuracy; shape (user,). If every value is 0, everybody
has the same: Gini, Theil and Atkinson are then 0 and Jain is 1, which is their limit for equal values going to 0. One
user has no spread.

`corrected_spread` takes off what is chance. The accuracy of a user with true accuracy p and n records varies by p
(1 − p) / n around p. The variance over users contains the mean of that; a (1 − a) / (n − 1) estimates it without bias,
and is taken off. What remains is the variance of the true accuracies, less noise / m on average for m users, because
the population variance of m values is short of one m-th of their noise.

This holds for records that are independent given the user. Comparisons made from one user's ratings share items: they
vary more together than the formula says, and too little is taken off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from accordant import statistics
from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.preferences.checks import codes, numbers, share

WORST = 0.1  # the tenth of the users who are served worst
EPSILONS = (0.5, 1.0)  # aversions to inequality for which the Atkinson measure is reported


@dataclass(frozen=True)
class Spread:
    """Measures of spread over users.

    Attributes
    ----------
    n_users
        Number of users.
    mean, std
        Mean and population standard deviation.
    minimum
        Value of the user who is served worst.
    worst
        Mean over the worst `worst_share` of users.
    worst_share
        That share, in (0, 1].
    value_range
        Largest less smallest value.
    gini, theil
        0 if all values are equal.
    jain
        1 if all values are equal, down to 1/n.
    atkinson
        Aversion ε to the measure, in [0, 1].
    """

    n_users: int
    mean: float
    std: float
    minimum: float
    worst: float
    worst_share: float
    value_range: float
    gini: float
    jain: float
    theil: float
    atkinson: dict[float, float]

    def to_json(self) -> dict[str, Any]:
        """Return plain values; aversions become text."""
        return asdict(self) | {"atkinson": {f"{epsilon:g}": value for epsilon, value in self.atkinson.items()}}


def spread(values: Values, *, worst_share: float = WORST, epsilons: Sequence[float] = EPSILONS) -> Spread:
    """Return all measures of spread.

    Parameters
    ----------
    values
        At least 0, shape (user,), at least one user.
    worst_share
        Share of users of `worst`.
    epsilons
        Aversions to inequality, above 0.

    Raises
    ------
    InputError
        If there are no users, a value is negative or not finite, or a parameter is out of range.
    """
    values = _checked(values)
    return Spread(
        n_users=len(values),
        mean=float(values.mean()),
        std=float(values.std()),
        minimum=float(values.min()),
        worst=worst_mean(values, worst_share),
        worst_share=worst_share,
        value_range=float(values.max() - values.min()),
        gini=gini(values),
        jain=jain(values),
        theil=theil(values),
        atkinson={float(epsilon): atkinson(values, epsilon) for epsilon in epsilons},
    )


def worst_mean(values: Values, worst_share: float = WORST) -> float:
    """Return the mean over the worst share of users.

    If the share is no whole number of users, the last one counts in part, as in the conditional value at risk
    (Rockafellar and Uryasev 2002); below one user it is the minimum.

    Raises `InputError` if there are no users.
    """
    ordered = np.sort(numbers("values", values, "user"))
    if not len(ordered):
        raise InputError("there are no users")
    size = share("worst_share", worst_share) * len(ordered)
    counted = np.clip(size - np.arange(len(ordered)), 0.0, 1.0)
    return float(counted @ ordered / counted.sum())


def group_gap(values: Values, groups: Codes) -> float:
    """Return the largest less the smallest mean over the users of a group; |U_majority − U_minority| for two groups.

    Parameters
    ----------
    values
        Shape (user,); negative values are allowed.
    groups
        Code of each user's group, shape (user,); codes without users are passed over.

    Raises
    ------
    InputError
        If there are no users.
    """
    values = numbers("values", values, "user")
    groups = codes("groups", groups, len(values))
    if not len(values):
        raise InputError("there are no users")
    counts = np.bincount(groups)
    means = np.bincount(groups, values)[counts > 0] / counts[counts > 0]
    return float(means.max() - means.min())


def gini(values: Values) -> float:
    """Return the Gini coefficient, in [0, 1 − 1/n]; see `accordant.statistics.gini`."""
    return float(statistics.gini(_comparable(values)))


def jain(values: Values) -> float:
    """Return Jain's index, in [1/n, 1]; see `accordant.statistics.jain`."""
    return float(statistics.jain(_comparable(values)))


def theil(values: Values) -> float:
    """Return Theil's index, in [0, log n]; see `accordant.statistics.theil`."""
    return float(statistics.theil(_comparable(values)))


def atkinson(values: Values, epsilon: float) -> float:
    """Return the Atkinson index, in [0, 1]; see `accordant.statistics.atkinson`.

    Parameters
    ----------
    values
        At least 0, shape (user,).
    epsilon
        Aversion to inequality, above 0 and finite.

    Raises
    ------
    InputError
        If epsilon is outside its range.
    """
    if not (epsilon > 0 and np.isfinite(epsilon)):
        raise InputError(f"epsilon is {epsilon}; allowed: above 0")
    return float(statistics.atkinson(_comparable(values), epsilon))


def _checked(values: Values) -> Values:
    values = numbers("values", values, "user")
    if not len(values):
        raise InputError("there are no users")
    if (values < 0).any():
        raise InputError(f"values go down to {values.min()}; allowed: at least 0")
    return values


def _comparable(values: Values) -> Values:
    """Return checked values; 1 for everybody if all are equal, also if all are 0."""
    values = _checked(values)
    return np.ones_like(values) if values.min() == values.max() else values


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

    Raises
    ------
    InputError
        If an accuracy is outside its range.
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
