"""Metrics of every method over the users, all on the same resamples of users, and tests against the pooled reward.

With one user nothing can be said about users: then records take their place, for accuracy and loss alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from accordant.arrays import Codes, Values
from accordant.preferences.comparison.randomness import branch
from accordant.preferences.comparison.statistics import GROUP_ACCURACY, Sample, statistics
from accordant.preferences.measures import ParetoTest, PerUser, pareto_tests
from accordant.preferences.measures.intervals import differences as differences_of
from accordant.preferences.measures.intervals import estimated
from accordant.preferences.measures.pareto import TOLERANCE
from accordant.statistics import Estimate

Units = Literal["users", "records"]

OF_RECORDS = ("accuracy", "log_loss")  # metrics that mean something if each "user" is a record
BLOCK = 500_000  # users in all resamples that are held at a time (4 MB per column)


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
        value, low, high = (None if each is None else -each for each in (turned.value, turned.high, turned.low))
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
            each.accuracy[None], each.log_loss[None], each.sampling_variance[None], support[None], groups[None]
        )
        for name, each in found.items()
    }  # fmt: skip
    metrics: dict[str, dict[str, Metric]] = {name: {} for name in found}
    differences: dict[str, dict[tuple[str, str], Estimate]] = {}
    whole, drawn = _values(samples, names, resamples, seed)
    first = next(iter(samples.values()))
    for metric in statistics(names):
        n = _counted(metric, names, first) if units == "users" or metric in OF_RECORDS else 0
        one, many = whole[metric], drawn[metric]
        for name in found:
            metrics[name][metric] = Metric(estimated(one[name], many[name], n, level, within=_range(metric)), n)
        differences[metric] = differences_of(one, many, n, level, within=_range(metric, difference=True))
    tests = {} if units == "records" else _tests(samples, names, seed, level, claim)
    return Measured(metrics, differences, tests, units)


def _values(
    samples: Mapping[str, Sample], names: tuple[str, ...], resamples: int, seed: int
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, Values]]]:
    """Return metric to method to the value on all users, and to the values on each resample."""
    table = statistics(names)
    n = next(iter(samples.values())).accuracy.shape[1]
    whole = {metric: {name: float(of(each)[0]) for name, each in samples.items()} for metric, of in table.items()}
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
    found = pareto_tests(
        first.accuracy[0, members], {name: samples[name].accuracy[0, members] for name in others},
        groups.astype(np.intp), names=here, level=level, tolerance=claim.tolerance, largest=1.0,
        gaining=claim.gaining if claim.gaining in here else None, gain=claim.gain, generator=branch(seed, "tests"),
    )  # fmt: skip
    if not absent:
        return found
    without = f"; not tested, as nobody of them is measured: {', '.join(absent)}"
    return {name: replace(test, reason=test.reason + without) for name, test in found.items()}
