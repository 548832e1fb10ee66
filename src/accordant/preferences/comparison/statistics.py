"""The metrics of `accordant.preferences.measures` on many resamples of users at once.

Every function takes arrays of shape (resample, user) and returns one number per resample, NaN where the metric is not
defined. They agree with the measures of single samples, which say where each formula comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.statistics import atkinson, gini, jain, theil

EPSILON = 0.5  # aversion to inequality of the Atkinson measure: below 1, so that one user at 0 does not decide it
WORST = 0.1  # share of users of the worst mean
GROUP_ACCURACY = "accuracy[{}]"
GOALS = {
    "accuracy": "max", "log_loss": "min", "worst_10": "max", "min": "max", "gap": "min", "gini": "min", "jain": "max",
    "theil": "min", "atkinson": "min", "std": "min", "corrected_std": "min", "support_correlation": "zero",
    "support_rank_correlation": "zero", "support_slope": "zero",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Sample:
    """What is known of users, resampled; every array has the shape (resample, user).

    Attributes
    ----------
    accuracy, log_loss
        Of each user.
    noise
        Sampling variance of the accuracy; NaN where unknown.
    support
        Support rate; NaN where unknown.
    group
        Position of the group; -1 where unknown.
    """

    accuracy: Values
    log_loss: Values
    noise: Values
    support: Values
    group: NDArray[np.intp]

    def drawn(self, users: NDArray[np.intp]) -> Sample:
        """Return resamples of a sample with one row, by positions of shape (resample, user)."""
        return Sample(
            *(each[0][users] for each in (self.accuracy, self.log_loss, self.noise, self.support, self.group))
        )


Statistic = Callable[[Sample], Values]


def statistics(names: tuple[str, ...]) -> Mapping[str, Statistic]:
    """Return every metric.

    Parameters
    ----------
    names
        Of the groups; each has its own accuracy.
    """
    return {
        "accuracy": lambda sample: sample.accuracy.mean(axis=1),
        **{GROUP_ACCURACY.format(name): _of_group(code) for code, name in enumerate(names)},
        "log_loss": lambda sample: sample.log_loss.mean(axis=1),
        "worst_10": lambda sample: _worst_mean(sample.accuracy),
        "min": lambda sample: sample.accuracy.min(axis=1),
        "gap": lambda sample: _gap(sample, len(names)),
        "gini": lambda sample: gini(_comparable(sample)),
        "jain": lambda sample: jain(_comparable(sample)),
        "theil": lambda sample: theil(_comparable(sample)),
        "atkinson": lambda sample: atkinson(_comparable(sample), EPSILON),
        "std": lambda sample: sample.accuracy.std(axis=1),
        "corrected_std": _corrected_std,
        "support_correlation": lambda sample: _correlation(sample.accuracy, *_known(sample.support)),
        "support_rank_correlation": _rank_correlation,
        "support_slope": _slope,
    }


def _of_group(code: int) -> Statistic:
    """Return the mean accuracy of one group's users."""
    return lambda sample: _mean(sample.accuracy, sample.group == code)


def _gap(sample: Sample, n_groups: int) -> Values:
    """Return the largest less the smallest mean of a group; NaN with fewer than two groups."""
    means = np.stack([_mean(sample.accuracy, sample.group == code) for code in range(n_groups)])
    several = np.isfinite(means).sum(axis=0) > 1
    high, low = (
        np.where(np.isnan(means), -np.inf, means).max(axis=0),
        np.where(np.isnan(means), np.inf, means).min(axis=0),
    )
    return np.where(several, high - low, np.nan)


def _worst_mean(values: Values) -> Values:
    n = values.shape[1]
    counted = np.clip(WORST * n - np.arange(n), 0.0, 1.0)
    return np.asarray(np.sort(values, axis=1) @ counted / counted.sum())


def _corrected_std(sample: Sample) -> Values:
    """Return √max(0, variance less mean sampling variance) over users whose sampling variance is known."""
    noise, known = _known(sample.noise)
    apart = np.where(known, sample.accuracy - _mean(sample.accuracy, known)[:, None], 0.0)
    return np.asarray(np.sqrt(np.maximum(0.0, _mean(apart**2, known) - _mean(noise, known))))


def _slope(sample: Sample) -> Values:
    """Return the least-squares slope of accuracy on support."""
    support, known = _known(sample.support)
    away = np.where(known, support - _mean(support, known)[:, None], 0.0)
    apart = np.where(known, sample.accuracy - _mean(sample.accuracy, known)[:, None], 0.0)
    steep = (away * apart).sum(axis=1)
    varying = _varies(support, known)
    return np.asarray(np.divide(steep, (away**2).sum(axis=1), out=np.full(len(steep), np.nan), where=varying))


def _rank_correlation(sample: Sample) -> Values:
    support, known = _known(sample.support)
    return _correlation(_ranks(sample.accuracy, known), _ranks(support, known), known)


def _correlation(one: Values, other: Values, known: Mask) -> Values:
    """Return the correlation of Pearson over known entries; NaN where one of the two does not vary."""
    first, second = (np.where(known, each - _mean(each, known)[:, None], 0.0) for each in (one, other))
    lengths = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    varying = _varies(one, known) & _varies(other, known)
    cosine = np.divide((first * second).sum(axis=1), lengths, out=np.full(len(one), np.nan), where=varying)
    return np.asarray(np.clip(cosine, -1.0, 1.0))


def _ranks(values: Values, known: Mask) -> Values:
    """Return ranks among known entries, equal values sharing the mean of their places."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(np.where(known, values, np.inf), axis=1))


def _known(values: Values) -> tuple[Values, Mask]:
    """Return values with 0 where there are none, and where there are some; nowhere if there is one alone."""
    known = np.isfinite(values)
    return np.where(known, values, 0.0), known


def _varies(values: Values, known: Mask) -> Mask:
    """Return in which resamples known values differ."""
    high = np.where(known, values, -np.inf).max(axis=1)
    return np.asarray((high > np.where(known, values, np.inf).min(axis=1)) & known.any(axis=1))


def _mean(values: Values, counted: Mask) -> Values:
    """Return means over counted entries; NaN where there are none."""
    total = counted.sum(axis=1)
    summed = np.where(counted, values, 0.0).sum(axis=1)
    return np.asarray(np.divide(summed, total, out=np.full(len(total), np.nan), where=total > 0))


def _comparable(sample: Sample) -> Values:
    """Return accuracies; 1 for everybody where all are equal, also where all are 0."""
    equal = sample.accuracy.min(axis=1) == sample.accuracy.max(axis=1)
    return np.where(equal[:, None], 1.0, sample.accuracy)
