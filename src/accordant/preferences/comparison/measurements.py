"""Metrics of every method over the users, all on the same resamples of users, and tests against the pooled reward.

With one user nothing can be said about users: then records take their place, for accuracy and loss alone.

`statistics` computes the metrics of `accordant.preferences.measures` on many resamples at once: functions of arrays of
shape (resample, user) that return one number per resample, NaN where the metric is not defined. They agree with the
measures of single samples, which say where each formula comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.preferences.comparison.record_split import branch
from accordant.preferences.measures import ParetoTest, PerUser, pareto_tests
from accordant.preferences.measures.intervals import differences as differences_of
from accordant.preferences.measures.intervals import interval_estimate
from accordant.preferences.measures.pareto import TOLERANCE
from accordant.statistics import Estimate, atkinson, gini, jain, theil

EPSILON = 0.5  # aversion to inequality of the Atkinson measure: below 1, so that one user at 0 does not decide it
WORST = 0.1  # share of users of the worst mean
GROUP_ACCURACY = "accuracy[{}]"
GOALS = {
    "accuracy": "max", "log_loss": "min", "worst_10": "max", "min": "max", "gap": "min", "gini": "min", "jain": "max",
    "theil": "min", "atkinson": "min", "std": "min", "corrected_std": "min", "support_correlation": "zero",
    "support_rank_correlation": "zero", "support_slope": "zero",
}  # fmt: skip
Units = Literal["users", "records"]
OF_RECORDS = ("accuracy", "log_loss")  # metrics that mean something if each "user" is a record
BLOCK = 500_000  # users in all resamples that are held at a time (4 MB per column)


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
            *(column[0][users] for column in (self.accuracy, self.log_loss, self.noise, self.support, self.group))
        )


Statistic = Callable[[Sample], Values]


def statistics(names: tuple[str, ...]) -> Mapping[str, Statistic]:
    """Return every metric; each of the named groups has its own accuracy."""
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
    first, second = (np.where(known, values - _mean(values, known)[:, None], 0.0) for values in (one, other))
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


@dataclass(frozen=True)
class Metric:
    """A value with its interval, and the number of users behind it."""

    limits: Estimate
    n: int

    def to_json(self) -> dict[str, float | int | None]:
        """Return plain values."""
        return {"value": self.limits.value, "low": self.limits.low, "high": self.limits.high, "n": self.n}


@dataclass(frozen=True)
class Claim:
    """What the tests against the first method ask.

    Parameters
    ----------
    tolerance
        Accuracy that a group may lose, at least 0.
    gaining
        Group whose gain the power is about; None, or a group without users, for the one that gains most.
    gain
        Smallest gain of its accuracy worth having, above 0; None for the gain seen.
    """

    tolerance: float = TOLERANCE
    gaining: str | None = None
    gain: float | None = None


@dataclass(frozen=True, eq=False)
class Measured:
    """What every method achieves.

    Attributes
    ----------
    metrics
        Method to metric to value.
    differences
        Metric to (method, earlier method) to the difference.
    pareto
        Method to the test against the first one; empty where nothing can be tested.
    units
        ``"users"``, or ``"records"`` where there is one user.
    """

    metrics: Mapping[str, Mapping[str, Metric]]
    differences: Mapping[str, Mapping[tuple[str, str], Estimate]]
    pareto: Mapping[str, ParetoTest]
    units: Units

    def difference(self, method: str, other: str, metric: str) -> Estimate | None:
        """Return the metric of a method less that of another one; None if it was not measured."""
        pairs = self.differences[metric]
        if (method, other) in pairs:
            return pairs[method, other]
        turned = pairs.get((other, method))
        if turned is None:
            return None
        value, low, high = (None if end is None else -end for end in (turned.value, turned.high, turned.low))
        return replace(turned, value=value, low=low, high=high)


def measure(
    found: Mapping[str, PerUser],
    groups: Codes,
    names: tuple[str, ...],
    support: Values,
    *,
    seed: int,
    resamples: int,
    level: float,
    units: Units = "users",
    claim: Claim | None = None,
) -> Measured:
    """Return metrics of every method with intervals, and tests against the first method.

    Parameters
    ----------
    found
        Method to what it achieves for each user, the same users; the first method is the one to compare with.
    groups
        Position of each user's group, shape (user,); -1 for unknown.
    names
        Of the groups.
    support
        Support rate of each user, shape (user,), NaN where unknown.
    seed
        Of resamples.
    resamples, level
        Number of resamples of users, and coverage of intervals.
    units
        ``"records"`` if each "user" is a record of the only one.
    claim
        What the tests ask; None for the usual tolerance.
    """
    claim = claim or Claim()
    samples = {
        name: Sample(
            users.accuracy[None], users.log_loss[None], users.sampling_variance[None], support[None], groups[None]
        )
        for name, users in found.items()
    }  # fmt: skip
    metrics: dict[str, dict[str, Metric]] = {name: {} for name in found}
    differences: dict[str, dict[tuple[str, str], Estimate]] = {}
    whole, drawn = _values(samples, names, resamples, seed)
    first = next(iter(samples.values()))
    for metric in statistics(names):
        n = _counted(metric, names, first) if units == "users" or metric in OF_RECORDS else 0
        one, many = whole[metric], drawn[metric]
        for name in found:
            metrics[name][metric] = Metric(interval_estimate(one[name], many[name], n, level, within=_range(metric)), n)
        differences[metric] = differences_of(one, many, n, level, within=_range(metric, difference=True))
    tests = {} if units == "records" else _tests(samples, names, seed, level, claim)
    return Measured(metrics, differences, tests, units)


def _values(
    samples: Mapping[str, Sample], names: tuple[str, ...], resamples: int, seed: int
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, Values]]]:
    """Return metric to method to the value on all users, and to the values on each resample."""
    table = statistics(names)
    n = next(iter(samples.values())).accuracy.shape[1]
    whole = {metric: {name: float(of(sample)[0]) for name, sample in samples.items()} for metric, of in table.items()}
    drawn = {metric: {name: np.empty(resamples) for name in samples} for metric in table}
    generator, step = branch(seed, "resamples"), max(1, BLOCK // n)
    for start in range(0, resamples, step):
        stop = min(resamples, start + step)
        users = generator.integers(0, n, size=(stop - start, n))
        for name, sample in samples.items():
            some = sample.drawn(users)
            for metric, of in table.items():
                drawn[metric][name][start:stop] = of(some)
    return whole, drawn


def _range(metric: str, *, difference: bool = False) -> tuple[float, float] | None:
    """Return the range of each user where a metric is a mean over users with known limits."""
    if not metric.startswith("accuracy"):
        return None
    return (-1.0, 1.0) if difference else (0.0, 1.0)


def _counted(metric: str, names: tuple[str, ...], sample: Sample) -> int:
    """Return how many users a metric rests on."""
    for code, name in enumerate(names):
        if metric == GROUP_ACCURACY.format(name):
            return int((sample.group == code).sum())
    if metric == "gap":
        return int((sample.group >= 0).sum())
    if metric.startswith("support_"):
        return int(np.isfinite(sample.support).sum())
    if metric == "corrected_std":
        return int(np.isfinite(sample.noise).sum())
    return int(sample.accuracy.shape[1])


def _tests(
    samples: Mapping[str, Sample], names: tuple[str, ...], seed: int, level: float, claim: Claim
) -> dict[str, ParetoTest]:
    """Return the tests of all methods against the first, over groups with users; the others are named in the reason."""
    label, *others = samples
    first = samples[label]
    members = first.group[0] >= 0
    if not members.any():
        return {}
    present, groups = np.unique(first.group[0, members], return_inverse=True)
    here = tuple(names[code] for code in present)
    absent = [name for name in names if name not in here]
    tests = pareto_tests(
        first.accuracy[0, members], {name: samples[name].accuracy[0, members] for name in others},
        groups.astype(np.intp), names=here, level=level, tolerance=claim.tolerance, largest=1.0,
        gaining=claim.gaining if claim.gaining in here else None, gain=claim.gain, generator=branch(seed, "tests"),
    )  # fmt: skip
    if not absent:
        return tests
    without = f"; not tested, as nobody of them is measured: {', '.join(absent)}"
    return {name: replace(test, reason=test.reason + without) for name, test in tests.items()}
