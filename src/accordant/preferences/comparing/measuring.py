"""Metrics of every method over the users, all on the same resamples of users, and tests against the pooled reward.

With one user nothing can be said about users: then records take their place, for accuracy and loss alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from accordant.preferences.comparing.randomness import branch
from accordant.preferences.comparing.statistics import GROUP_ACCURACY, Sample, statistics
from accordant.preferences.measures import Limits, ParetoTest, PerUser, pareto_test
from accordant.preferences.measures.intervals import limits

Values = NDArray[np.float64]
Codes = NDArray[np.intp]
Units = Literal["users", "records"]

UNDEFINED = Limits(None, None, None, 1.0)
OF_RECORDS = ("accuracy", "log_loss")  # metrics that mean something if each "user" is a record
BLOCK = 500_000  # users in all resamples that are held at a time (4 MB per column)


@dataclass(frozen=True)
class Metric:
    """A value with its interval, and the number of users behind it."""

    limits: Limits
    n: int

    def to_json(self) -> dict[str, float | int | None]:
        """Return plain values."""
        return {"value": self.limits.value, "low": self.limits.low, "high": self.limits.high, "n": self.n}


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
    differences: Mapping[str, Mapping[tuple[str, str], Limits]]
    pareto: Mapping[str, ParetoTest]
    units: Units

    def difference(self, method: str, other: str, metric: str) -> Limits | None:
        """Return the metric of a method less that of another one; None if it was not measured."""
        pairs = self.differences[metric]
        if (method, other) in pairs:
            return pairs[method, other]
        turned = pairs.get((other, method))
        if turned is None:
            return None
        value, low, high = (None if each is None else -each for each in (turned.value, turned.high, turned.low))
        return Limits(value, low, high, turned.undefined)


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
    """
    samples = {
        name: Sample(
            each.accuracy[None], each.log_loss[None], each.sampling_variance[None], support[None], groups[None]
        )
        for name, each in found.items()
    }  # fmt: skip
    metrics: dict[str, dict[str, Metric]] = {name: {} for name in found}
    differences: dict[str, dict[tuple[str, str], Limits]] = {}
    whole, drawn = _values(samples, names, resamples, seed)
    first = next(iter(samples.values()))
    for metric in statistics(names):
        n = _counted(metric, names, first) if units == "users" or metric in OF_RECORDS else 0
        one, many = whole[metric], drawn[metric]
        shown = {name: _limits(one[name], many[name], n, level) for name in found}
        for name, each in shown.items():
            metrics[name][metric] = Metric(each, n)
        order = list(found)
        differences[metric] = {
            (later, earlier): _limits(one[later] - one[earlier], many[later] - many[earlier], n, level)
            for place, later in enumerate(order)
            for earlier in order[:place]
        }
    tests = {} if units == "records" else _tests(samples, names, seed, level)
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


def _limits(value: float, drawn: Values, n: int, level: float) -> Limits:
    """Return a value with its interval; none where one user would be drawn again and again, nothing for nobody."""
    if n == 0:
        return UNDEFINED
    found = limits(value, drawn, level)
    return found if n > 1 else Limits(found.value, None, None, found.undefined)


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


def _tests(samples: Mapping[str, Sample], names: tuple[str, ...], seed: int, level: float) -> dict[str, ParetoTest]:
    """Return the test of every method against the first, over groups with users; the others are named in its reason."""
    first, *_ = samples.values()
    members = first.group[0] >= 0
    if not members.any():
        return {}
    present, groups = np.unique(first.group[0, members], return_inverse=True)
    here = tuple(names[code] for code in present)
    absent = [name for name in names if name not in here]
    found = {
        name: pareto_test(
            first.accuracy[0, members], sample.accuracy[0, members], groups.astype(np.intp), names=here,
            level=level, generator=branch(seed, "tests"),
        )
        for name, sample in list(samples.items())[1:]
    }  # fmt: skip
    if not absent:
        return found
    without = f"; not tested, as nobody of them is measured: {', '.join(absent)}"
    return {name: replace(test, reason=test.reason + without) for name, test in found.items()}
