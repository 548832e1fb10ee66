"""How evenly a reward model serves users: one number about the values of all users, each its own function.

A value is anything at least 0 of which more is better, such as accuracy; shape (user,). If every value is 0, everybody
has the same: Gini, Theil and Atkinson are then 0 and Jain is 1, which is their limit for equal values going to 0. One
user has no spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from accordant import statistics
from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.preferences.measures.arrays import codes, numbers, share

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
