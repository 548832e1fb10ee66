"""Sums over contexts of many policies, on all contexts, on a part of them, and on resamples.

Metrics read sums that add over contexts and are linear in the probabilities of actions. So the sums of a lottery
between two policies are the mixture of their sums, and its metrics follow exactly, for ratios and gaps too.

`Additive` holds, for a metric that adds over contexts, what each action would contribute in each context. A metric is
additive in this sense if its signed value is c + Σ_t θ[a_t, t] for every policy. Accuracy, mean rewards and gaps of
rates with a fixed denominator are; a ratio whose denominator depends on the decisions (precision, predictive parity)
and the smallest or a product of mean rewards are not. Contributions are read off the metric itself by changing one
sum at a time, and believed only if they reproduce it on random policies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from accordant.arrays import Codes, Values
from accordant.decisions import Decisions
from accordant.evaluation.bootstrap import Statistics
from accordant.evidence import Evidence
from accordant.metrics.group import GroupCriterion
from accordant.metrics.metric import CountMetric, Metric, SumMetric
from accordant.metrics.statistics import Cells, Contingency, Sums
from accordant.statistics import Units, WeightBlock, cluster_codes, weight_blocks

ONE_BY_ONE = 8  # numbers in a row of which NumPy adds several at once


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over contexts of some policies.

    Attributes
    ----------
    statistics
        Policies and metrics.
    sums
        Shape (policy, resample, column).
    """

    statistics: Statistics
    sums: Values
    _along: dict[tuple[tuple[str, str], int, int], Values] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def on(cls, decisions: Mapping[str, Decisions], evidence: Evidence, metrics: Mapping[str, Metric]) -> Self:
        """Return the sums on all contexts, as a single resample."""
        return cls.among(decisions, evidence, metrics, np.arange(evidence.n_contexts))

    @classmethod
    def among(
        cls, decisions: Mapping[str, Decisions], evidence: Evidence, metrics: Mapping[str, Metric], contexts: Codes
    ) -> Self:
        """Return the sums on some contexts, scaled to the number of all."""
        statistics = Statistics.of(decisions, evidence, metrics)
        block = WeightBlock(slice(0, 1), slice(None), np.full((1, len(contexts)), evidence.n_contexts / len(contexts)))
        return cls(statistics, statistics.totals(_units(contexts, None), [block], 1))

    @classmethod
    def resampled(
        cls,
        decisions: Mapping[str, Decisions],
        evidence: Evidence,
        metrics: Mapping[str, Metric],
        contexts: Codes,
        resamples: int,
        generator: np.random.Generator,
    ) -> Self:
        """Return the sums on contexts drawn with replacement from some, scaled to the number of all."""
        statistics = Statistics.of(decisions, evidence, metrics)
        units = _units(contexts, evidence.clusters)
        blocks = _scaled(weight_blocks(units, resamples, generator), evidence.n_contexts / len(contexts))
        return cls(statistics, statistics.totals(units, blocks, resamples))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the policies."""
        return self.statistics.names

    def row(self, name: str) -> Values:
        """Return the sums of one policy, shape (resample, column)."""
        return np.asarray(self.sums[self.names.index(name)])

    def along(self, pair: tuple[str, str], shares: Sequence[float], column: int) -> Values:
        """Return a metric of lotteries between two policies, shape (share, resample), computed once.

        Parameters
        ----------
        pair
            Their names.
        shares
            Probabilities of the first of them.
        column
            Position of the metric.
        """
        key = (pair, len(shares), column)
        if key not in self._along:
            span = self.statistics.spans[self.labels[column]]
            first, second = (np.ascontiguousarray(self.row(name)[:, span].T) for name in pair)
            part = np.array(shares)[:, None, None]
            sums = np.swapaxes(part * first + (1 - part) * second, 1, 2)
            if not self._few_groups(self.labels[column]):  # more are added in an order that depends on where they lie
                sums = np.ascontiguousarray(sums)
            self._along[key] = self._value(self.labels[column], sums)
        return self._along[key]

    def values(self, sums: Values | None = None, columns: Sequence[int] | None = None) -> Values:
        """Return metrics of these sums, or of mixtures of them, shape (policy, resample, metric).

        Parameters
        ----------
        sums
            Shape (policy, resample, column); None for those of the policies.
        columns
            Positions of the metrics; None for all.
        """
        given, labels = self.sums if sums is None else sums, self.labels
        chosen = labels if columns is None else [labels[m] for m in columns]
        values = np.empty((*given.shape[:2], len(chosen)))
        for place, label in enumerate(chosen):
            values[:, :, place] = self._value(label, given[:, :, self.statistics.spans[label]])
        return values

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the metrics."""
        return tuple(self.statistics.spans)

    def _few_groups(self, label: str) -> bool:
        """Return whether a metric counts in so few groups that NumPy adds them one after another."""
        metric = self.statistics.metrics[label]
        return isinstance(metric, CountMetric) and self.statistics.cells[metric.columns].shape[2] < ONE_BY_ONE

    def _value(self, label: str, sums: Values) -> Values:
        """Return a metric of its own sums, shape (policy, resample); NaN of one that reads no sums."""
        metric = self.statistics.metrics[label]
        if isinstance(metric, CountMetric | SumMetric):
            return np.asarray(metric.value(self.statistics.read(label, sums)))  # type: ignore[arg-type]
        return np.full(sums.shape[:2], np.nan)


def mixed(totals: Values, first: Sequence[int], second: Sequence[int], shares: Values) -> Values:
    """Return the sums of lotteries that follow `first` with probability `share`, else `second`.

    Parameters
    ----------
    totals
        Shape (policy, column).
    first, second, shares
        Positions and probabilities, shape (mixture,).
    """
    part = np.asarray(shares)[:, None]
    return np.asarray(part * totals[list(first)] + (1 - part) * totals[list(second)])


def _units(contexts: Codes, clusters: Codes | None) -> Units:
    """Return units that are some contexts themselves, in the clusters of all contexts."""
    every = np.arange(len(contexts))
    own = None if clusters is None else cluster_codes(clusters[contexts])
    return Units(contexts, np.ones(len(contexts), dtype=np.int64), every, own)


def _scaled(blocks: Iterator[WeightBlock], factor: float) -> Iterator[WeightBlock]:
    for block in blocks:
        yield WeightBlock(block.resamples, block.units, block.weights * factor)


TRIALS = 24  # random policies on which contributions must reproduce the metric
CLOSE = 1e-8  # relative to the largest value seen


@dataclass(frozen=True, eq=False)
class Additive:
    """A metric as a sum over contexts.

    Attributes
    ----------
    contributions
        θ, shape (action, context).
    constant
        c.
    """

    contributions: Values
    constant: float


def signed(metric: Metric, evidence: Evidence) -> Metric:
    """Return the metric with a sign: a difference between two groups as first minus second; others stay as they are."""
    if isinstance(metric, GroupCriterion) and metric.goal == "zero" and metric.protected is None:
        labels = evidence.groups(metric.attributes).labels
        if len(metric.attributes) == 1 and len(labels) == 2 and len(metric.criterion) == 1:
            return dataclasses.replace(metric, protected=labels[0])
    return metric


def additive(metric: Metric, evidence: Evidence) -> Additive | None:
    """Return the metric as a sum over contexts, or None if it is not one."""
    if isinstance(metric, CountMetric):
        return _of_counts(metric, evidence)
    return _of_sums(metric, evidence) if isinstance(metric, SumMetric) else None


def _of_counts(metric: CountMetric, evidence: Evidence) -> Additive | None:
    """Move one (outcome, group) cell after the other from the first action to each other one."""
    cells = Cells.of(evidence, metric.columns)
    n_actions, n_cells = cells.shape[0], cells.shape[1] * cells.shape[2]
    sizes = np.bincount(cells.codes, minlength=n_cells).astype(np.float64)
    base = np.zeros((n_actions, n_cells))
    base[0] = sizes
    every = np.arange(n_cells)

    def value(counts: Values) -> Values:
        """Return the metric of counts of shape (..., action, cell)."""
        return metric.value(Contingency(counts.reshape(*counts.shape[:-1], *cells.shape[1:]), cells))

    constant = float(value(base))
    slopes = np.zeros((n_actions, n_cells))
    for action in range(1, n_actions):
        moved = np.repeat(base[None], n_cells, axis=0)
        moved[every, 0, every] = 0.0
        moved[every, action, every] = sizes
        slopes[action] = (value(moved) - constant) / np.maximum(sizes, 1)
    shares = np.random.default_rng(0).dirichlet(np.full(n_actions, 0.3), size=(TRIALS, n_cells))
    counts = np.swapaxes(shares, 1, 2) * sizes
    if not _same(value(counts), constant + (counts * slopes).sum(axis=(1, 2))):
        return None
    return Additive(np.ascontiguousarray(slopes[:, cells.codes]), constant)


def _of_sums(metric: SumMetric, evidence: Evidence) -> Additive | None:
    """Change one column of sums after the other, those that depend on the action."""
    theta = metric.checked_theta(evidence)
    n = evidence.n_contexts
    base = theta[:, 0].sum(axis=1)

    def value(totals: Values) -> Values:
        """Return the metric of totals of shape (..., column)."""
        return metric.value(Sums(totals, n, evidence.problem))

    constant, slopes = float(value(base)), np.zeros(len(theta))
    for column in np.flatnonzero((theta != theta[:, :1]).any(axis=(1, 2))):
        step = np.zeros(len(theta))
        step[column] = np.abs(theta[column] - theta[column, 0]).sum()
        slopes[column] = (float(value(base + step)) - constant) / step[column]
    contributions: Values = np.einsum("c,cat->at", slopes, theta - theta[:, :1])
    codes = np.random.default_rng(0).integers(0, theta.shape[1], (TRIALS, n))
    codes[: theta.shape[1]] = np.arange(min(TRIALS, theta.shape[1]))[:, None]
    columns = np.arange(n)
    totals = np.stack([theta[:, trial, columns].sum(axis=1) for trial in codes])
    sums = np.array([contributions[trial, columns].sum() for trial in codes])
    return Additive(np.asarray(contributions), constant) if _same(value(totals), constant + sums) else None


def _same(values: Values, sums: Values) -> bool:
    known = np.isfinite(values).all() and np.isfinite(sums).all()
    return bool(known and np.abs(values - sums).max() <= CLOSE * max(1.0, np.abs(values).max()))
