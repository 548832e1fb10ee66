"""How often, and how surely, a reward model agrees with each user, and whether rarer preferences are served worse.

The margin D of a record is the reward of the chosen item less that of the rejected one. The model agrees if D > 0; a
margin of 0 counts one half, as the guess that it is. The log-loss is −log σ(D), the loss of Bradley and Terry 1952.

`support_relation` sets accuracy against the support rate. This is the measure that matches "personalized reward bias",
that the quality of a reward model varies with how many others share the preference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError, UnknownNameError
from accordant.json_values import json_value
from accordant.preferences.checks import codes, numbers
from accordant.preferences.learners.logistic import right

Utility = Literal["accuracy", "log_likelihood"]

NO_RECORDS = "no records"
NO_WEIGHT = "all records weigh 0"


@dataclass(frozen=True, eq=False)
class PerUser:
    """What a reward model achieves for each user with records.

    Attributes
    ----------
    names
        The users measured.
    users
        Their codes, shape (user,).
    accuracy
        Weighted share of records with a positive margin, ties counted one half, in [0, 1], shape (user,).
    log_loss
        Weighted mean of −log σ(margin), in nats, shape (user,).
    counts
        Records with positive weight, shape (user,).
    ties
        Those of them with a margin of exactly 0, shape (user,).
    sampling_variance
        Unbiased estimate of the variance that the choice of records gives to `accuracy`, shape (user,); NaN for users
        with one record, or one that outweighs the others beyond rounding. Without ties and weights it is
        a (1 − a) / (n − 1).
    excluded
        Name of a user who is not measured to the reason.
    """

    names: tuple[str, ...]
    users: Codes
    accuracy: Values
    log_loss: Values
    counts: Codes
    ties: Codes
    sampling_variance: Values
    excluded: Mapping[str, str]

    def utility(self, name: Utility) -> Values:
        """Return accuracy, or mean log σ(margin): higher is better in both, shape (user,)."""
        if name not in get_args(Utility):
            raise UnknownNameError("utility", name, get_args(Utility))
        return self.accuracy if name == "accuracy" else -self.log_loss

    def to_json(self) -> dict[str, Any]:
        """Return plain values; a variance that is not known is None."""
        return {
            "users": list(self.names),
            "accuracy": self.accuracy.tolist(),
            "log_loss": self.log_loss.tolist(),
            "records": self.counts.tolist(),
            "ties": self.ties.tolist(),
            "sampling_variance": json_value(self.sampling_variance),
            "excluded": dict(self.excluded),
        }


def per_user(
    margins: Values, users: Codes, *, names: Sequence[str] | None = None, weights: Values | None = None
) -> PerUser:
    """Measure a reward model on each user's records.

    Parameters
    ----------
    margins
        Reward of the chosen item less that of the rejected one, shape (record,).
    users
        Code of the user, shape (record,).
    names
        Names of all users, with and without records; None for ``"0"``, ``"1"``, … up to the highest code.
    weights
        At least 0, shape (record,); None for 1 each.

    Raises
    ------
    InputError
        If shapes differ (also (record, 1)), numbers are not finite, or a weight is negative.
    """
    margins = numbers("margins", margins, "record")
    n = len(margins)
    users = codes("users", users, n, None if names is None else len(names))
    weighing = np.ones(n) if weights is None else numbers("weights", weights, "record", n)
    if (weighing < 0).any():
        raise InputError(f"weights go down to {weighing.min()}; allowed: at least 0")
    every = tuple(map(str, range(int(users.max(initial=-1)) + 1) if names is None else names))
    records = np.bincount(users, minlength=len(every))
    counted = weighing > 0
    kept = np.flatnonzero(np.bincount(users[counted], minlength=len(every)))
    excluded = {
        every[u]: NO_WEIGHT if records[u] else NO_RECORDS for u in sorted(set(range(len(every))) - set(kept.tolist()))
    }
    place = np.full(len(every), -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    return _measured(
        margins[counted], place[users[counted]], weighing[counted], kept, tuple(every[u] for u in kept), excluded
    )


def _measured(
    margins: Values, users: Codes, weights: Values, kept: Codes, names: tuple[str, ...], excluded: Mapping[str, str]
) -> PerUser:
    """Measure users who all have records of positive weight."""
    n = len(kept)

    def total(values: Values) -> Values:
        """Return sums by user."""
        return np.asarray(np.bincount(users, values, minlength=n), dtype=np.float64)

    share = weights / total(weights)[users]  # sums to 1 for each user; no overflow whatever the scale of weights
    hit = right(margins)
    accuracy = np.clip(total(share * hit), 0.0, 1.0)
    concentration = total(share**2)  # 1/n for equal weights
    scatter = total(share * (hit - accuracy[users]) ** 2)
    counts = np.bincount(users, minlength=n)
    # E[scatter] = σ² (1 − concentration) and Var(accuracy) = σ² concentration
    variance = np.full(n, np.nan)
    several = (counts > 1) & (concentration < 1)
    variance[several] = scatter[several] * concentration[several] / (1.0 - concentration[several])
    ties = np.bincount(users[margins == 0], minlength=n)
    loss = total(share * -log_sigmoid(margins))
    return PerUser(names, kept, accuracy, loss, counts, ties, variance, excluded)


def log_sigmoid(margins: Values) -> Values:
    """Return log σ(margin) without overflow at any finite margin."""
    return -np.logaddexp(0.0, -margins)


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
