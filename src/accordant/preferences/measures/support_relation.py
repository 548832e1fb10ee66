"""Whether users with rarer preferences are served worse: accuracy against the support rate.

This is the measure that matches "personalized reward bias", that the quality of a reward model varies with how many
others share the preference.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.measures.arrays import numbers


@dataclass(frozen=True)
class SupportRelation:
    """How a value of users goes with their support rate.

    Attributes
    ----------
    n_users
        Users compared.
    excluded
        Users without a support rate.
    pearson, spearman
        Correlations in [−1, 1]; None if the value or the support rate is the same for all users.
    slope, intercept
        Least-squares line of the value on the support rate; None if all support rates are equal.
    """

    n_users: int
    excluded: int
    pearson: float | None
    spearman: float | None
    slope: float | None
    intercept: float | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def support_relation(values: Values, support: Values) -> SupportRelation:
    """Relate values of users to their support rates.

    Parameters
    ----------
    values
        For example accuracy, shape (user,).
    support
        Support rate, shape (user,); NaN where there is none.

    Raises
    ------
    InputError
        If shapes differ, or no user has a support rate.
    """
    values = numbers("values", values, "user")
    support = np.asarray(support, dtype=np.float64)
    if support.shape != values.shape:
        raise InputError(f"support has shape {support.shape}; allowed: {values.shape}")
    known = ~np.isnan(support)
    if not known.any():
        raise InputError("no user has a support rate")
    values, support = values[known], numbers("support", support[known], "user")
    slope = _slope(values, support)
    return SupportRelation(
        n_users=len(values),
        excluded=int((~known).sum()),
        pearson=_correlation(values, support),
        spearman=_correlation(ranks(values), ranks(support)),
        slope=slope,
        intercept=None if slope is None else float(values.mean() - slope * support.mean()),
    )


def ranks(values: Values) -> Values:
    """Return ranks from 1, equal values sharing the mean of their places, shape (user,)."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place.reshape(len(values))])


def _slope(values: Values, support: Values) -> float | None:
    if support.min() == support.max():
        return None
    apart = support - support.mean()
    return float(apart @ (values - values.mean()) / (apart @ apart))


def _correlation(one: Values, other: Values) -> float | None:
    """Return the correlation of Pearson; None if one of the two does not vary."""
    if one.min() == one.max() or other.min() == other.max():
        return None
    first, second = one - one.mean(), other - other.mean()
    cosine = (first / np.linalg.norm(first)) @ (second / np.linalg.norm(second))
    return float(np.clip(cosine, -1.0, 1.0))
