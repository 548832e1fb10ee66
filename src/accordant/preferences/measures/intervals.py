"""Bootstrap over users: the same resamples for every method, so that methods are compared in pairs.

Users are drawn with replacement; the records of a user stay with the user. So the intervals speak of other users like
these, and contain the chance in the choice of records.

Source: Efron 1979; percentile intervals: Efron and Tibshirani 1993, Section 13.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.preferences.measures.arrays import Values

Statistic = Callable[[Values], float | None]
Counts = NDArray[np.intp]

RESAMPLES = 1000  # the limits of a 95 % interval then rest on 25 resamples each
LEVEL = 0.95


@dataclass(frozen=True)
class Limits:
    """A value with its percentile interval.

    Attributes
    ----------
    value
        On all users; None if it is not defined.
    low, high
        Limits; None if no resample has a value.
    undefined
        Share of resamples without a value; they are left out of the limits.
    """

    value: float | None
    low: float | None
    high: float | None
    undefined: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"value": self.value, "low": self.low, "high": self.high, "undefined": self.undefined}


@dataclass(frozen=True)
class UserIntervals:
    """A statistic of several methods on the same resamples of users.

    Attributes
    ----------
    methods
        Method to the statistic with its interval.
    differences
        (method, earlier method) to the difference between the two with its interval.
    level
        Coverage aimed at, by each interval alone.
    resamples, n_users
        Number of resamples and of users.
    """

    methods: dict[str, Limits]
    differences: dict[tuple[str, str], Limits]
    level: float
    resamples: int
    n_users: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values; a difference names both methods."""
        return {
            "methods": {name: limits.to_json() for name, limits in self.methods.items()},
            "differences": [
                {"method": one, "less": other, **limits.to_json()} for (one, other), limits in self.differences.items()
            ],
            "level": self.level,
            "resamples": self.resamples,
            "users": self.n_users,
        }


def bootstrap_users(
    methods: Mapping[str, Values],
    statistic: Statistic,
    *,
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> UserIntervals:
    """Return a statistic of each method, and of each pair of methods, with intervals over users.

    Parameters
    ----------
    methods
        Method to what is known of each user, shape (user,) or (user, column), the same users in the same order.
    statistic
        Reads such an array of resampled users and returns a number; None or NaN where it is not defined. What it raises
        on all users is raised; an `InputError` on a resample means that it is not defined there.
    generator
        Source of randomness; the same state gives the same bytes.
    resamples
        At least 1.
    level
        Coverage, in (0, 1).

    Raises
    ------
    InputError
        If there are no methods or users, or methods have different numbers of users.
    """
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in methods.items()}
    sizes = {len(array) if array.ndim else 0 for array in arrays.values()}
    if len(sizes) != 1 or 0 in sizes:
        raise InputError(f"methods have {sorted(sizes)} users; allowed: one and the same number, at least 1")
    n = sizes.pop()
    if resamples < 1:
        raise InputError(f"resamples is {resamples}; allowed: 1 or more")
    whole = {name: _number(statistic(array)) for name, array in arrays.items()}
    drawn = np.full((len(arrays), resamples), np.nan)
    for b in range(resamples):
        users = generator.integers(0, n, size=n)
        for m, array in enumerate(arrays.values()):
            drawn[m, b] = _resampled(statistic, array[users])
    names = list(arrays)
    found = {name: limits(whole[name], drawn[m], level) for m, name in enumerate(names)}
    differences = {
        (one, other): limits(whole[one] - whole[other], drawn[m] - drawn[k], level)
        for m, one in enumerate(names)
        for k, other in enumerate(names[:m])
    }
    return UserIntervals(found, differences, level, resamples, n)


def limits(value: float, drawn: Values, level: float = LEVEL) -> Limits:
    """Return a value with percentile limits from its resampled values.

    Parameters
    ----------
    value
        On all users; NaN if it is not defined.
    drawn
        Resampled values, NaN where there is none, shape (resample,).
    level
        Coverage, in (0, 1).
    """
    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    known = drawn[~np.isnan(drawn)]
    undefined = 1.0 - len(known) / len(drawn)
    shown = None if np.isnan(value) else float(value)
    if not len(known):
        return Limits(shown, None, None, undefined)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Limits(shown, float(low), float(high), undefined)


def resample_counts(n: int, resamples: int, generator: np.random.Generator) -> Counts:
    """Return how often each of `n` units is drawn in each resample, shape (resample, unit)."""
    return np.asarray(generator.multinomial(n, np.full(n, 1.0 / n), size=resamples), dtype=np.intp)


def _resampled(statistic: Statistic, values: Values) -> float:
    try:
        return _number(statistic(values))
    except InputError:  # the statistic accepted all users, so these users are too few or too alike for it
        return float("nan")


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
