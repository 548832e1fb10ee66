"""A leaderboard on more contexts than fit in memory: from sums that every part of them adds to.

Values come from the sums over the buckets of `evaluation.part_sums`, intervals from resampling buckets in place of
contexts or persons: the sums of `BUCKETS` samples know the variance of the sum of all contexts to a relative error of
√(2 / BUCKETS) = 7 %, which wider quantiles hold (`statistics.wider_level` with as many units as buckets). The
delete-a-group jackknife rests on the same (Kott 2001).

Memory and time for intervals do not depend on the number of contexts, and results do not depend on who added up what:
parts are added in their order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Self

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.evaluation.bootstrap import Resampled, evaluated
from accordant.evaluation.comparison import compared
from accordant.evaluation.composite import DeclaredRanges, Normalisation, WeightedMetrics
from accordant.evaluation.intervals import Summary, Support
from accordant.evaluation.leaderboard import Leaderboard
from accordant.evaluation.overlap import Overlap, too_many_rare
from accordant.evaluation.part_sums import BUCKETS, COUNT, LOOSE, PERSONS, SUM, PartSums
from accordant.evidence import Groups
from accordant.metrics.metric import CountMetric, Metric, MetricResult, Range, SumMetric
from accordant.metrics.statistics import MAX_GROUPS, Cells, Contingency, Sums
from accordant.problem import DecisionProblem, value_label
from accordant.statistics import Units, weight_blocks

SMALLEST = 50
"""Contexts of a bucket, at least: with fewer there are better intervals in memory."""


def summed_leaderboard(
    parts: Iterable[PartSums],
    problem: DecisionProblem,
    kinds: Mapping[str, str],
    metrics: WeightedMetrics,
    *,
    generator: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
    candidates: Sequence[str],
    selectable: Sequence[str] | None = None,
    normalisation: Normalisation = "natural",
    ranges: DeclaredRanges | None = None,
) -> Leaderboard:
    """Return the leaderboard of all parts together.

    Parameters
    ----------
    parts
        Of all contexts, in order; with the same strategies and metrics. One is read at a time.
    problem
        The decision problem.
    kinds, metrics, generator, resamples, level, candidates, selectable, normalisation, ranges
        See `accordant.evaluation.evaluate`.

    Raises
    ------
    InputError
        If there are too few contexts for intervals, or parts do not fit together.
    """
    sums = reduce(PartSums.plus, parts)
    if sums.n < SMALLEST * BUCKETS:
        raise InputError(
            f"{sums.n} contexts; parts are for {SMALLEST * BUCKETS} and more, of which each of {BUCKETS} samples has "
            f"{SMALLEST}: evaluate fewer in memory"
        )
    total = _Total.of(sums, problem, {label: metric for label, (metric, _) in metrics.items()})
    drawn = total.resampled(resamples, generator) if resamples else None
    leaderboard = compared(
        total.summary(), kinds, drawn, metrics, candidates=candidates, selectable=selectable, level=level,
        normalisation=normalisation, ranges=ranges,
    )  # fmt: skip
    return replace(leaderboard, remarks=(*leaderboard.remarks, *_of_persons(sums)))


@dataclass(frozen=True, eq=False)
class _Total:
    """The sums of all parts, and what they mean."""

    sums: PartSums
    problem: DecisionProblem
    metrics: Mapping[str, Metric]
    cells: Mapping[tuple[str, ...], Cells]

    @classmethod
    def of(cls, sums: PartSums, problem: DecisionProblem, metrics: Mapping[str, Metric]) -> Self:
        """Return the sums with the groups that occur in any part."""
        groupings = dict.fromkeys(metric.columns for metric in metrics.values() if isinstance(metric, CountMetric))
        nobody = np.zeros(0, dtype=np.intp)
        cells = {}
        for grouping in groupings:
            labels = _labels(grouping, sums.values)
            sizes = sums.arrays[COUNT + json.dumps(grouping)][0].sum(axis=(0, 1, 2)).round().astype(np.intp)
            cells[grouping] = Cells(problem, Groups(grouping, labels, nobody), nobody, sizes)
        return cls(sums, problem, metrics, cells)

    @property
    def filled(self) -> Codes:
        """Buckets that hold contexts: all, unless there are few persons."""
        return np.flatnonzero(self.sums.arrays["sizes"])

    def read(self, weights: Values, buckets: Codes) -> dict[str, Contingency | Sums]:
        """Return what each metric reads of buckets with weights (…, bucket), by label; the first axis: strategies."""
        readings: dict[str, Contingency | Sums] = {}
        tables = dict[tuple[str, ...], Contingency]()
        for columns, cells in self.cells.items():
            counts = self.sums.arrays[COUNT + json.dumps(columns)][:, buckets]
            table = weights @ counts.reshape(*counts.shape[:2], -1)
            tables[columns] = Contingency(table.reshape(*table.shape[:-1], *counts.shape[2:]), cells)
        for label, metric in self.metrics.items():
            if isinstance(metric, CountMetric):
                readings[label] = tables[metric.columns]
            else:
                totals = weights @ self.sums.arrays[SUM + label][:, buckets]
                readings[label] = Sums(totals, self.sums.n, self.problem)
        return readings

    def resampled(self, resamples: int, generator: np.random.Generator) -> Resampled:
        """Return the values of all metrics on resamples of buckets."""
        sizes = self.sums.arrays["sizes"][self.filled]
        blocks = weight_blocks(Units.single(len(sizes)), resamples, generator)
        weights = np.concatenate([block.weights for block in blocks], axis=1)
        weights *= sizes.sum() / (weights @ sizes)[:, None]
        return evaluated(self.metrics, self.read(weights, self.filled))

    def summary(self) -> Summary:
        """Return what a leaderboard reads."""
        sums, n = self.sums, self.sums.n
        whole = self.read(np.ones(BUCKETS), np.arange(BUCKETS))
        results, tables = [], []
        for s in range(len(sums.names)):
            own = {label: _of_strategy(read, s) for label, read in whole.items()}
            results.append({label: _result(self.metrics[label], read) for label, read in own.items()})
            tables.append(
                {read.cells.groups.attributes: read for read in own.values() if isinstance(read, Contingency)}
            )
        spans = {label: _of_all(metric, sums.ranges[label], n) for label, metric in self.metrics.items()}
        taken, agreement, randomised = (sums.arrays[name] for name in ("taken", "agreement", "randomised"))
        always = tuple(
            self.problem.actions[int(row.argmax())] if round(row.max()) == n and not drawn else None
            for row, drawn in zip(taken, randomised, strict=True)
        )
        follows = sums.arrays["follows"] > 0
        return Summary(
            sums.names, self.metrics, results, tables, self._support(results, spans), sums.withheld, spans, n,
            sums.independent, len(self.filled), follows, sums.arrays["tied"] / n, always,
            lambda one, other: float(agreement[one, other] / n),
        )  # fmt: skip

    def _support(self, results: Sequence[Mapping[str, MetricResult]], spans: Mapping[str, Range | None]) -> Support:
        """Return how far the log supports each strategy; see `Support.of`."""
        arrays, n, shape = self.sums.arrays, self.sums.n, (len(results), len(self.metrics))
        down, up, unbounded = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
        estimated = np.array([LOOSE + label in arrays for label in self.metrics], dtype=bool)
        overlaps: list[Overlap | None] = [None] * shape[0]
        for s, sums in enumerate(arrays.get("support", ())):
            if arrays["follows"][s] > 0:
                continue
            weights, squares, expected, *below = sums.tolist()
            threshold = int(too_many_rare(below[1], expected, n))
            overlap = overlaps[s] = Overlap(below[threshold] / n, weights**2 / squares if squares else 0.0)
            for m, (label, metric) in enumerate(self.metrics.items()):
                value = results[s][label].value
                if not estimated[m] or not overlap.unsupported or value is None or not isinstance(metric, SumMetric):
                    continue
                if not metric.monotone:
                    span = spans[label]
                    unbounded[s, m] = overlap.poor or span is None
                    down[s, m] = up[s, m] = 0.0 if span is None else overlap.unsupported * (span[1] - span[0])
                    continue
                totals = arrays[SUM + label][s].sum(axis=0)
                ends = [totals + change for change in arrays[LOOSE + label][s, threshold]]
                values = [float(metric.value(Sums(end, n, self.problem))) for end in ends]
                down[s, m], up[s, m] = max(0.0, value - min(values)), max(0.0, max(values) - value)
        return Support(tuple(overlaps), estimated, down, up, unbounded)


def _of_persons(sums: PartSums) -> list[str]:
    """Say how many persons there are, and how that is known."""
    if sums.persons is None:
        return []
    count = f"{sums.independent:,}" if len(sums.persons) < PERSONS else f"about {sums.independent:,}"
    told = "" if len(sums.persons) < PERSONS else ", estimated to 1 %"
    return [f"The {sums.n:,} rows belong to {count} persons{told}; intervals are for persons."]


def _of_all(metric: Metric, span: Range | None, n: int) -> Range | None:
    """Return the range of a metric on `n` contexts; see `_per_context`."""
    contexts = n if metric.gamma == 0 else 1
    return None if span is None else (span[0] * contexts, span[1] * contexts)


def _labels(grouping: Sequence[str], values: Mapping[str, Sequence[float | str]]) -> tuple[str, ...]:
    """Return the labels of groups as `Evidence.groups` makes them."""
    labels = [""]
    for name in grouping:
        texts = [value_label(value) for value in values[name]]
        labels = [f"{left} × {right}" if left else right for left in labels for right in texts]
    if len(labels) > MAX_GROUPS:
        raise InputError(
            f"{' × '.join(grouping)} makes {len(labels)} groups; at most {MAX_GROUPS}: put it into classes"
        )
    return tuple(labels)


def _of_strategy(read: Contingency | Sums, s: int) -> Contingency | Sums:
    return (
        replace(read, counts=read.counts[s]) if isinstance(read, Contingency) else replace(read, totals=read.totals[s])
    )


def _result(metric: Metric, read: Contingency | Sums) -> MetricResult:
    if isinstance(metric, CountMetric) and isinstance(read, Contingency):
        return metric.result(read)
    assert isinstance(metric, SumMetric)
    assert isinstance(read, Sums)
    return metric.result(read)
