"""Any metric of scikit-learn, in each group, with intervals of the values and of what lies between them.

    by_group              the metric on the rows of each group
    difference            largest minus smallest value over groups
    ratio                 smallest divided by largest value
    difference to overall farthest distance of a group from the value of all rows
    ratio to overall      farthest ratio of a group and all rows, turned so that it is at most 1

These are what fairlearn's `MetricFrame` calls `difference` and `ratio`, ``between_groups`` and ``to_overall``.

How values would vary is drawn in one of two ways. Where truth and prediction are labels and rows are independent and
weigh the same, a metric is a function of the shares of the cells (group, truth, prediction): they are drawn from their
Dirichlet posterior with 1/K in each cell, K labels. For a share of one cell in two, such as recall, that is the
Jeffreys interval (Brown, Cai and DasGupta 2001), which says something where a group of five has a recall of 1.
Everything else is resampled by rows, or by whole clusters, and limits are widened for few
(`accordant.statistics.wider_level`) and hold those corrected for bias.

A largest difference is never below 0 and so is too large on average. Its lower limit is the largest lower limit of
simultaneous differences, its upper one the largest upper limit of single ones, as in `statistics.proportions.spread`:
groups that are truly alike keep 0 inside.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.contexts import Contexts
from accordant.errors import InputError
from accordant.metrics.group_distances import Comparison, differences, largest_limits, pairs, ratios, to_overall
from accordant.metrics.statistics import MAX_GROUPS
from accordant.problem import value_label
from accordant.randomness import generator
from accordant.statistics import Estimate, cluster_codes, percentile_interval, resample_counts, wider_level

MOST_LABELS = 12  # more are numbers, or need more rows in each cell than there are


@dataclass(frozen=True)
class GroupComparison:
    """A metric in groups.

    Attributes
    ----------
    metric
        Its name.
    overall
        On all rows.
    by_group
        Label of a group to the value in it.
    difference, ratio
        Largest minus smallest value over groups; smallest divided by largest.
    difference_to_overall, ratio_to_overall
        Farthest distance of a group from the value of all rows; farthest ratio, at most 1.
    within
        Label of a control group to the same comparison among its rows; empty without control.
    """

    metric: str
    overall: Estimate
    by_group: Mapping[str, Estimate]
    difference: Estimate
    ratio: Estimate
    difference_to_overall: Estimate
    ratio_to_overall: Estimate
    within: Mapping[str, GroupComparison] = field(default_factory=dict)

    def rows(self) -> Iterator[tuple[str, str, Estimate]]:
        """Yield control group, what is measured, and its estimate."""
        for control, comparison in (("", self), *self.within.items()):
            yield control, "overall", comparison.overall
            for label, estimate in comparison.by_group.items():
                yield control, label, estimate
            for name in ("difference", "ratio", "difference_to_overall", "ratio_to_overall"):
                yield control, name.replace("_", " "), getattr(comparison, name)

    def to_frame(self) -> Any:
        """Return `rows` as a pandas data frame with value, low, high, n and reason."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"control": control, "of": what, "value": estimate.value, "low": estimate.low, "high": estimate.high,
                 "n": estimate.n, "reason": estimate.reason}
                for control, what, estimate in self.rows()
            ]
        )  # fmt: skip

    def __str__(self) -> str:
        width = max(len(f"{control} {what}") for control, what, _ in self.rows())
        lines = (f"{f'{control} {what}'.strip():{width}}  {estimate}" for control, what, estimate in self.rows())
        return "\n".join([self.metric, *lines])


def by_group(
    metric: Callable[..., Any],
    y_true: Any,
    y_pred: Any,
    *,
    groups: Any,
    control: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    resamples: int = 300,
    level: float = 0.95,
    random_state: int = 0,
) -> GroupComparison:
    """Return a metric in each group, with intervals.

    Parameters
    ----------
    metric
        ``metric(y_true, y_pred)`` or ``metric(y_true, y_pred, sample_weight=…)``, as those of `sklearn.metrics`;
        `functools.partial` sets what else it takes.
    y_true, y_pred
        What happened, and what was decided, predicted or scored, shape (row,).
    groups
        Group of each row, or a frame whose columns make groups by their combinations.
    control
        Within which values groups are compared too, likewise.
    sample_weight
        Weight of each row, at least 0, shape (row,).
    clusters
        Whose each row is, shape (row,): rows of one person are drawn together.
    resamples
        Number of draws; 0 for values without intervals. Each calls the metric once for all rows and once for each
        group, and one of scikit-learn takes about a thousandth of a second.
    level
        Coverage of each interval, in (0, 1); that of a difference or ratio holds for all pairs of groups together.
    random_state
        Seed.

    Raises
    ------
    InputError
        If lengths differ, there are more than 256 groups, or the metric takes no weights and some were given.
    """
    rows = _Rows.of(metric, y_true, y_pred, groups, sample_weight, clusters, resamples, level, random_state)
    comparison = rows.comparison()
    if control is None:
        return comparison
    labels, codes = group_codes(control, "control")
    rows.check_length("control", codes)
    within = {
        label: rows.take(np.flatnonzero(codes == code)).comparison() for code, label in enumerate(labels)
    }  # fmt: skip
    return GroupComparison(**{**vars(comparison), "within": within})


def group_codes(given: Any, name: str = "groups") -> tuple[tuple[str, ...], Codes]:
    """Return labels of groups that occur, and the code of each row: a column, or combinations of those of a frame."""
    framed = isinstance(given, Mapping) or hasattr(given, "columns")
    columns = Contexts.of(given) if framed else Contexts({name: given})
    texts = np.array([""] * columns.n_contexts, dtype=object)
    for place, column in enumerate(columns):
        own = np.array([value_label(cell) for cell in columns[column].tolist()], dtype=object)
        texts = own if place == 0 else texts + " × " + own
    labels, codes = np.unique(texts.astype(str), return_inverse=True)
    if len(labels) > MAX_GROUPS:
        raise InputError(f"{name} makes {len(labels)} groups; at most {MAX_GROUPS}: put it into classes")
    return tuple(labels.tolist()), codes.ravel()


@dataclass(frozen=True, eq=False)
class _Rows:
    """What is compared."""

    metric: Callable[..., Any]
    takes_weights: bool
    truth: NDArray[Any]
    predicted: NDArray[Any]
    labels: tuple[str, ...]
    codes: Codes
    weights: Values | None
    clusters: Codes | None
    resamples: int
    level: float
    random_state: int

    @classmethod
    def of(
        cls, metric: Any, y_true: Any, y_pred: Any, groups: Any, sample_weight: Any, clusters: Any, resamples: int,
        level: float, random_state: int,
    ) -> _Rows:  # fmt: skip
        """Check what was given to `by_group`, and leave out weights that are all alike."""
        truth, predicted = np.asarray(y_true), np.asarray(y_pred)
        labels, codes = group_codes(groups)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weights is not None and (weights == weights[:1]).all():
            weights = None
        takes = "sample_weight" in inspect.signature(metric).parameters
        if weights is not None and not takes:
            raise InputError(f"{_name(metric)} takes no sample_weight; leave it out, or give a metric that does")
        drawn = None if clusters is None else cluster_codes(np.asarray(clusters))
        rows = cls(metric, takes, truth, predicted, labels, codes, weights, drawn, resamples, level, random_state)
        for name, column in (("y_pred", predicted), ("groups", codes), ("sample_weight", weights), ("clusters", drawn)):
            if column is not None:
                rows.check_length(name, column)
        if resamples < 0:
            raise InputError(f"resamples is {resamples}; allowed: at least 0")
        return rows

    def check_length(self, name: str, values: Any) -> None:
        """Refuse a column with another number of rows than the truth."""
        if len(values) != len(self.truth):
            raise InputError(f"{name} has {len(values)} rows, y_true has {len(self.truth)}")

    def take(self, rows: Codes) -> _Rows:
        """Return some rows, with the groups that occur among them."""
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        return _Rows(
            self.metric, self.takes_weights, self.truth[rows], self.predicted[rows],
            tuple(self.labels[code] for code in present), codes.ravel(),
            None if self.weights is None else self.weights[rows],
            None if self.clusters is None else cluster_codes(self.clusters[rows]),
            self.resamples, self.level, self.random_state,
        )  # fmt: skip

    def comparison(self) -> GroupComparison:
        """Return all values and intervals."""
        values, reasons = self._values(self.truth, self.predicted, self.codes, self.weights)
        drawn = np.array(list(self._draws())).reshape(-1, len(self.labels) + 1)
        sizes = np.bincount(self.codes, minlength=len(self.labels))
        levels = np.full(len(values), self.level)
        if not self._by_cells:
            levels = wider_level(self.level, self._units(np.array([len(self.truth), *sizes])).astype(np.float64))
        around = None if self._by_cells else values  # resamples of a skewed metric lie to one side of it
        limits = percentile_interval(drawn, levels, around) if len(drawn) else None
        estimates = [
            self._estimate(value, None if limits is None else (limits.low[g], limits.high[g]), n, reason)
            for g, (value, n, reason) in enumerate(zip(values, (len(self.truth), *sizes), reasons, strict=True))
        ]
        least = self.level if self._by_cells else float(levels[1:].max())
        compared = {
            "difference": self._farthest(values, drawn, least, differences(pairs)),
            "ratio": self._farthest(values, drawn, least, ratios(pairs)),
            "difference_to_overall": self._farthest(values, drawn, least, differences(to_overall)),
            "ratio_to_overall": self._farthest(values, drawn, least, ratios(to_overall)),
        }
        by = dict(zip(self.labels, estimates[1:], strict=True))
        return GroupComparison(
            _name(self.metric), estimates[0], by, compared["difference"], compared["ratio"],
            compared["difference_to_overall"], compared["ratio_to_overall"],
        )  # fmt: skip

    @property
    def _by_cells(self) -> bool:
        """Whether truth and prediction are labels of rows that are independent and weigh the same."""
        if self.weights is not None or self.clusters is not None or not self.takes_weights:
            return False
        return len(self._names) <= MOST_LABELS and all(map(_are_labels, (self.truth, self.predicted)))

    @property
    def _names(self) -> NDArray[Any]:
        return np.unique(np.concatenate([np.unique(self.truth), np.unique(self.predicted)]))

    def _units(self, sizes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the number of independent units among all rows, and in each group."""
        if self.clusters is None:
            return sizes
        within = [len(np.unique(self.clusters[self.codes == g])) for g in range(len(self.labels))]
        return np.array([int(self.clusters.max()) + 1, *within])

    def _draws(self) -> Iterator[Values]:
        """Yield values of all rows and of each group on every draw, shape (1 + group,)."""
        if not self.resamples:
            return
        draw = generator(self.random_state, "resamples")
        if self._by_cells:
            yield from self._cell_draws(draw)
            return
        n_units = len(self.truth) if self.clusters is None else int(self.clusters.max()) + 1
        for _ in range(self.resamples):
            counts = resample_counts(n_units, 1, draw)[0].astype(np.float64)
            weights = counts if self.clusters is None else counts[self.clusters]
            weights = weights if self.weights is None else weights * self.weights
            yield self._values(self.truth, self.predicted, self.codes, weights)[0]

    def _cell_draws(self, draw: np.random.Generator) -> Iterator[Values]:
        names = self._names
        k = len(names)
        cell = (self.codes * k + np.searchsorted(names, self.truth)) * k + np.searchsorted(names, self.predicted)
        counts = np.bincount(cell, minlength=len(self.labels) * k * k)
        group, truth, predicted = np.unravel_index(np.arange(len(counts)), (len(self.labels), k, k))
        for _ in range(self.resamples):
            weights = draw.standard_gamma(counts + 1.0 / k)
            yield self._values(names[truth], names[predicted], group, weights)[0]

    def _values(
        self, truth: NDArray[Any], predicted: NDArray[Any], codes: Codes, weights: Values | None
    ) -> tuple[Values, list[str]]:
        """Return the metric on all rows and in each group, NaN where it is not defined, and why not."""
        measurements = [self._value(truth, predicted, weights, np.ones(len(truth), bool))]
        measurements += [self._value(truth, predicted, weights, codes == g) for g in range(len(self.labels))]
        return np.array([value for value, _ in measurements]), [reason for _, reason in measurements]

    def _value(
        self, truth: NDArray[Any], predicted: NDArray[Any], weights: Values | None, rows: Mask
    ) -> tuple[float, str]:
        if weights is not None:
            rows = rows & (weights > 0)
        if not rows.any():
            return np.nan, "no rows (n=0)"
        call = partial(self.metric, truth[rows], predicted[rows])
        if weights is not None and self.takes_weights:
            call = partial(call, sample_weight=weights[rows])
        elif weights is not None:
            repeated = np.repeat(np.flatnonzero(rows), np.rint(weights[rows]).astype(np.intp))
            call = partial(self.metric, truth[repeated], predicted[repeated])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                value = float(call())
            except (ValueError, ZeroDivisionError) as error:
                return np.nan, str(error)
        undefined = [str(warning.message) for warning in said if warning.category.__name__ == "UndefinedMetricWarning"]
        return (np.nan, undefined[0]) if undefined else (value, "" if np.isfinite(value) else "not defined")

    def _estimate(self, value: float, limits: tuple[Any, Any] | None, n: int | None, reason: str) -> Estimate:
        if not np.isfinite(value):
            return Estimate(None, n=n, reason=reason or "not defined")
        if limits is None or not np.isfinite(limits).all():
            return Estimate(float(value), n=n, reason="" if limits is None else "no draw has a value")
        low, high = min(float(limits[0]), value), max(float(limits[1]), value)
        return Estimate(float(value), float(low), float(high), self.level, n)

    def _farthest(self, values: Values, drawn: Values, level: float, compare: Comparison) -> Estimate:
        """Return the comparison that is farthest from groups being alike, with its interval."""
        if len(self.labels) < 2:
            return Estimate(None, reason=f"nothing to compare: only the group {', '.join(self.labels)}")
        missing = [label for label, value in zip(self.labels, values[1:], strict=True) if np.isnan(value)]
        if missing or np.isnan(values[0]):
            return Estimate(None, reason=f"not defined in group {', '.join(missing) or 'of all rows'}")
        single = compare.of(values[None])[0]
        if np.isnan(single).any():
            return Estimate(None, reason="a ratio needs values of at least 0, not all of them 0")
        farthest = float(single.max())
        limits = None
        if len(drawn):
            limits = largest_limits(compare.of(drawn), level)
            limits = max(limits[0], compare.alike), limits[1]
        shown = compare.shown
        between = None if limits is None else tuple(sorted((shown(limits[0]), shown(limits[1]))))
        return self._estimate(shown(farthest), between, len(self.truth), "")  # type: ignore[arg-type]


def _are_labels(values: NDArray[Any]) -> bool:
    """Return whether values are names or whole numbers."""
    return values.dtype.kind in "biuUSO" or (values.dtype.kind == "f" and bool((values % 1 == 0).all()))


def _name(metric: Any) -> str:
    while isinstance(metric, partial):
        metric = metric.func
    return str(getattr(metric, "__name__", type(metric).__name__))
