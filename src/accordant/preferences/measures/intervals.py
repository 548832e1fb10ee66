"""Bootstrap over users: the same resamples for every method, so that methods are compared in pairs.

Users are drawn with replacement; the records of a user stay with the user. So the intervals speak of other users like
these, and contain the chance in the choice of records. Limits are those of `accordant.statistics`, wider for few users;
differences between methods are read together, so their intervals hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.statistics import Estimate, bounded, joint_level, percentile_estimate, wider_level

Statistic = Callable[[Values], float | None]
Range = tuple[float, float]

RESAMPLES = 1000  # the limits of a 95 % interval then rest on 25 resamples each
LEVEL = 0.95
FLAT = 1e-12  # a width below this share of the values is rounding

ONE_UNIT = "one unit tells nothing about others"
ALIKE = "the same on every resample: how sure it is cannot be told"
RANGE_ALONE = "the same for every unit: the limits follow from their number alone"


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
        Coverage aimed at: by the interval of each method alone, and by those of all differences together.
    resamples, n_users
        Number of resamples and of users.
    """

    methods: dict[str, Estimate]
    differences: dict[tuple[str, str], Estimate]
    level: float
    resamples: int
    n_users: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values; a difference names both methods."""
        return {
            "methods": {name: estimate.to_json() for name, estimate in self.methods.items()},
            "differences": [
                {"method": one, "less": other, **estimate.to_json()}
                for (one, other), estimate in self.differences.items()
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
    drawn = {name: np.full(resamples, np.nan) for name in arrays}
    for b in range(resamples):
        users = generator.integers(0, n, size=n)
        for name, array in arrays.items():
            drawn[name][b] = _resampled(statistic, array[users])
    estimates = {name: interval_estimate(value, drawn[name], n, level) for name, value in whole.items()}
    return UserIntervals(estimates, differences(whole, drawn, n, level), level, resamples, n)


def interval_estimate(
    value: float, drawn: Values, n: int, level: float = LEVEL, *, together: float | None = None,
    within: Range | None = None,
) -> Estimate:  # fmt: skip
    """Return a value over units with an interval that is wide enough for few of them, and never without width.

    Parameters
    ----------
    value
        On all units; NaN if it is not defined.
    drawn
        Resampled values, NaN where there is none, shape (resample,).
    n
        Units that it rests on.
    level
        Coverage, in (0, 1).
    together
        Level of this interval alone if several hold together at `level`, from `joint_level`; None for `level`.
    within
        Range of each unit, if the value is a mean over units: then units that are all alike have an interval too.

    Raises
    ------
    InputError
        If the level is outside its range.
    """
    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    alone = level if together is None else together
    if n == 0:
        return Estimate(None, n=0, undefined=1.0, reason="no units")
    estimate = replace(percentile_estimate(value, drawn, float(wider_level(alone, n)), n), level=level)
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return replace(
            estimate, level=None, reason="not defined" if estimate.value is None else "no resample has a value"
        )
    if n == 1:
        return replace(estimate, low=None, high=None, level=None, reason=ONE_UNIT)
    if estimate.high - estimate.low > FLAT * max(1.0, abs(estimate.value)):
        return estimate
    if within is None:
        return replace(estimate, low=None, high=None, level=None, reason=ALIKE)
    low, high = (float(limit) for limit in bounded(estimate.value, n, *within, alone))
    return replace(estimate, low=low, high=high, reason=RANGE_ALONE)


def differences(
    whole: Mapping[str, float], drawn: Mapping[str, Values], n: int, level: float = LEVEL, *,
    within: Range | None = None,
) -> dict[tuple[str, str], Estimate]:  # fmt: skip
    """Return the difference of each method and each earlier one, with intervals that hold together.

    Parameters
    ----------
    whole, drawn
        Method to its value, and to its values on the same resamples.
    n, level, within
        As for `interval_estimate`; the range is that of a difference.
    """
    names = list(whole)
    pairs = [(one, other) for place, one in enumerate(names) for other in names[:place]]
    gaps = {pair: drawn[pair[0]] - drawn[pair[1]] for pair in pairs}
    together = joint_level(np.column_stack(list(gaps.values())), level) if pairs else level
    return {
        pair: interval_estimate(whole[pair[0]] - whole[pair[1]], gaps[pair], n, level, together=together, within=within)
        for pair in pairs
    }


def _resampled(statistic: Statistic, values: Values) -> float:
    try:
        return _number(statistic(values))
    except InputError:  # the statistic accepted all users, so these users are too few or too alike for it
        return float("nan")


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
