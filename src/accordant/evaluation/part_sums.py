"""A leaderboard on more contexts than fit in memory: from sums that every part of them adds to.

Every metric is a function of sums over contexts. Parts add up what each strategy contributes, apart in `BUCKETS` random
or systematic samples of all contexts; contexts of one person share a bucket. Values come from the sums over buckets,
intervals from resampling buckets in place of contexts or persons: the sums of `BUCKETS` samples know the variance of
the sum of all contexts to a relative error of √(2 / BUCKETS) = 7 %, which wider quantiles hold
(`statistics.wider_level` with as many units as buckets). The delete-a-group jackknife rests on the same (Kott 2001).

Memory and time for intervals do not depend on the number of contexts, and results do not depend on who added up what:
parts are added in their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from accordant.arrays import AnyArray, Codes, Values
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation.bootstrap import Resampled, Statistics, evaluated
from accordant.evaluation.comparison import compared
from accordant.evaluation.composite import DeclaredRanges, Normalisation, WeightedMetrics
from accordant.evaluation.intervals import Summary, Support, choices, extreme_contributions
from accordant.evaluation.leaderboard import Leaderboard
from accordant.evaluation.overlap import Overlap, matching_weights, unsupported_decisions
from accordant.evidence import Evidence, Groups
from accordant.metrics.metric import CountMetric, Metric, MetricResult, Range, SumMetric
from accordant.metrics.statistics import Cells, Contingency, Sums
from accordant.problem import DecisionProblem, value_label
from accordant.statistics import Units, weight_blocks

BUCKETS = 400
COUNT = "count "  # before the number of a grouping
SMALLEST = 50
"""Contexts of a bucket, at least: with fewer there are better intervals in memory."""


@dataclass(frozen=True, eq=False)
class PartSums:
    """What the contexts of a part add to everything that a leaderboard is made of.

    Attributes
    ----------
    names
        The strategies.
    ranges, withheld
        Of each metric on these contexts, by label: its range for one context, and why it gives no interval.
    values
        The values of each grouping column that occur here, in order, numbers or texts.
    arrays
        What is added up, by name: ``sizes`` (contexts, by bucket); ``count NUMBER`` (strategy, bucket, action, outcome,
        group) for each grouping; ``sum LABEL`` (strategy, bucket, column) for each metric of sums; ``support``
        (strategy, 3): Σw, Σw² and unsupported decisions; ``loose LABEL`` (strategy, end, column): what the least and
        the most possible reward of these would change; ``follows`` the log and ``tied`` (strategy,); ``taken``
        (strategy, action); ``agreement`` (strategy, strategy).
    persons
        Independent units among the contexts.
    """

    names: tuple[str, ...]
    ranges: Mapping[str, Range | None]
    withheld: Mapping[str, str]
    values: Mapping[str, tuple[float | str, ...]]
    arrays: Mapping[str, Values]
    persons: int

    @classmethod
    def of(
        cls, decisions: Mapping[str, Decisions], evidence: Evidence, metrics: Mapping[str, Metric], buckets: Codes
    ) -> Self:
        """Add up a part.

        Parameters
        ----------
        decisions, evidence, metrics
            See `accordant.evaluation.evaluate`.
        buckets
            From `random_buckets` or `buckets_of`, shape (context,).
        """
        statistics = Statistics.of(decisions, evidence, metrics)
        n = evidence.n_contexts
        arrays: dict[str, Values] = {"sizes": np.bincount(buckets, minlength=BUCKETS).astype(np.float64)}
        lines = statistics.decisions
        for number, cells in enumerate(statistics.cells.values()):
            arrays[f"{COUNT}{number}"] = np.stack([_counts(each, cells, buckets) for each in lines])
        for label in statistics.thetas:
            arrays[f"sum {label}"] = np.stack(
                [_bucket_sums(statistics.contributions(s, label), buckets) for s in range(len(lines))]
            )
        arrays |= _support_sums(statistics)
        arrays["follows"] = np.array([each.follows_log for each in lines], dtype=np.float64)
        arrays["tied"] = np.array([each.tied.sum() for each in lines], dtype=np.float64)
        arrays["taken"] = np.stack([each.probabilities().sum(axis=1) for each in lines])
        codes = np.stack([choices(s, each) for s, each in enumerate(lines)])
        arrays["agreement"] = np.array([(codes == row).sum(axis=1) for row in codes], dtype=np.float64)
        columns = dict.fromkeys(name for grouping in statistics.cells for name in grouping)
        return cls(
            statistics.names,
            {label: _per_context(metric, metric.range(evidence), n) for label, metric in metrics.items()},
            {label: metric.withheld(evidence) for label, metric in metrics.items()},
            {name: tuple(np.unique(evidence.log.contexts[name]).tolist()) for name in columns},
            arrays, evidence.n_independent,
        )  # fmt: skip


def random_buckets(n: int, seed: int, part: int) -> Codes:
    """Return a bucket for each of `n` independent contexts: as many in each, drawn by the seed and the part alone."""
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(part,)))
    return np.asarray(generator.permutation(n) % BUCKETS, dtype=np.intp)


def buckets_of(persons: AnyArray) -> Codes:
    """Return the bucket of each context by whose it is: the same for a person in every part, shape (context,)."""
    labels, codes = np.unique(persons.astype(str), return_inverse=True)
    digests = (hashlib.sha256(label.encode()).digest() for label in labels)
    own = np.array([int.from_bytes(digest[:7], "big") % BUCKETS for digest in digests], dtype=np.intp)
    return np.asarray(own[codes])


def summed_leaderboard(
    parts: Sequence[PartSums],
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
        Of all contexts, in order; with the same strategies and metrics.
    problem
        The decision problem.
    kinds, metrics, generator, resamples, level, candidates, selectable, normalisation, ranges
        See `accordant.evaluation.evaluate`.

    Raises
    ------
    InputError
        If there are too few contexts for intervals.
    """
    total = _Total.of(parts, problem, {label: metric for label, (metric, _) in metrics.items()})
    if total.n < SMALLEST * BUCKETS:
        raise InputError(
            f"{total.n} contexts; parts are for {SMALLEST * BUCKETS} and more, of which each of {BUCKETS} samples has "
            f"{SMALLEST}: evaluate fewer in memory"
        )
    drawn = total.resampled(resamples, generator) if resamples else None
    return compared(
        total.summary(), kinds, drawn, metrics, candidates=candidates, selectable=selectable, level=level,
        normalisation=normalisation, ranges=ranges,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Total:
    """The sums of all parts; see `PartSums`."""

    parts: Sequence[PartSums]
    problem: DecisionProblem
    metrics: Mapping[str, Metric]
    cells: Mapping[tuple[str, ...], Cells]
    arrays: Mapping[str, Values]

    @classmethod
    def of(cls, parts: Sequence[PartSums], problem: DecisionProblem, metrics: Mapping[str, Metric]) -> Self:
        groupings = list(dict.fromkeys(each.columns for each in metrics.values() if isinstance(each, CountMetric)))
        values = {
            name: np.unique(np.concatenate([np.array(part.values[name]) for part in parts]))
            for grouping in groupings for name in grouping
        }  # fmt: skip
        arrays = dict[str, Values]()
        for part in parts:
            for name, array in part.arrays.items():
                counted = name.startswith(COUNT)
                grouping = groupings[int(name.removeprefix(COUNT))] if counted else ()
                placed = _placed(array, grouping, part.values, values)
                arrays[name] = arrays[name] + placed if name in arrays else placed
        cells = {}
        for number, grouping in enumerate(groupings):
            sizes = arrays[f"{COUNT}{number}"][0].sum(axis=(0, 1, 2)).round().astype(np.intp)
            groups = Groups(grouping, _labels(grouping, values), np.zeros(0, dtype=np.intp))
            cells[grouping] = Cells(problem, groups, np.zeros(0, dtype=np.intp), sizes)
        return cls(parts, problem, metrics, cells, arrays)

    @property
    def n(self) -> int:
        return int(self.arrays["sizes"].sum())

    @property
    def persons(self) -> int:
        """At least so many persons: those of a part may be those of another."""
        clustered = any(part.persons < part.arrays["sizes"].sum() for part in self.parts)
        return max(part.persons for part in self.parts) if clustered else self.n

    def read(self, weights: Values) -> dict[str, Contingency | Sums]:
        """Return what each metric reads of buckets with weights (…, bucket), by label; the first axis: strategies."""
        found: dict[str, Contingency | Sums] = {}
        numbers = {grouping: number for number, grouping in enumerate(self.cells)}
        for label, metric in self.metrics.items():
            if isinstance(metric, CountMetric):
                counts = self.arrays[f"{COUNT}{numbers[metric.columns]}"]
                flat = counts.reshape(*counts.shape[:2], -1)
                table = (weights @ flat).reshape(len(flat), *weights.shape[:-1], *counts.shape[2:])
                found[label] = Contingency(table, self.cells[metric.columns])
            else:
                found[label] = Sums(weights @ self.arrays[f"sum {label}"], self.n, self.problem)
        return found

    def resampled(self, resamples: int, generator: np.random.Generator) -> Resampled:
        """Return the values of all metrics on resamples of buckets."""
        sizes = self.arrays["sizes"]
        weights = np.concatenate([
            block.weights for block in weight_blocks(Units.single(BUCKETS), resamples, generator)
        ], axis=1)  # fmt: skip
        weights *= sizes.sum() / (weights @ sizes)[:, None]
        return evaluated(self.metrics, self.read(weights))

    def summary(self) -> Summary:
        """Return what a leaderboard reads."""
        first, n = self.parts[0], self.n
        whole = self.read(np.ones(BUCKETS))
        results, tables = [], []
        for s in range(len(first.names)):
            own = {label: _of_strategy(read, s) for label, read in whole.items()}
            results.append({label: _result(self.metrics[label], read) for label, read in own.items()})
            tables.append(
                {read.cells.groups.attributes: read for read in own.values() if isinstance(read, Contingency)}
            )
        spans = {
            label: None if span is None else (span[0] * times, span[1] * times)
            for label, span in first.ranges.items()
            for times in (n if self.metrics[label].gamma == 0 else 1,)
        }
        withheld = {label: next((p.withheld[label] for p in self.parts if p.withheld[label]), "") for label in spans}
        taken, agreement = self.arrays["taken"], self.arrays["agreement"]
        always = tuple(
            self.problem.actions[int(row.argmax())] if row.max() == n and agreement[s, s] == n else None
            for s, row in enumerate(taken)
        )
        follows = self.arrays["follows"] > 0
        return Summary(
            first.names, self.metrics, results, tables, self._support(results, spans), withheld, spans, n, self.persons,
            BUCKETS, follows, self.arrays["tied"] / n, always,
            lambda one, other: float(agreement[one, other] / n),
        )  # fmt: skip

    def _support(self, results: Sequence[Mapping[str, MetricResult]], spans: Mapping[str, Range | None]) -> Support:
        """Return how far the log supports each strategy; see `Support.of`."""
        shape = (len(results), len(self.metrics))
        down, up, unbounded = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
        estimated = np.array([f"loose {label}" in self.arrays for label in self.metrics], dtype=bool)
        overlaps: list[Overlap | None] = [None] * shape[0]
        for s, sums in enumerate(self.arrays.get("support", ())):
            if self.arrays["follows"][s] > 0:
                continue
            weights, squares, unsupported = sums.tolist()
            found = overlaps[s] = Overlap(unsupported / self.n, weights**2 / squares if squares else 0.0)
            for m, (label, metric) in enumerate(self.metrics.items()):
                value = results[s][label].value
                if not estimated[m] or not unsupported or value is None or not isinstance(metric, SumMetric):
                    continue
                if not metric.monotone:
                    span = spans[label]
                    unbounded[s, m] = found.poor or span is None
                    down[s, m] = up[s, m] = 0.0 if span is None else found.unsupported * (span[1] - span[0])
                    continue
                totals = self.arrays[f"sum {label}"][s].sum(axis=0)
                ends = [totals + change for change in self.arrays[f"loose {label}"][s]]
                values = [float(metric.value(Sums(end, self.n, self.problem))) for end in ends]
                down[s, m], up[s, m] = max(0.0, value - min(values)), max(0.0, max(values) - value)
        return Support(tuple(overlaps), estimated, down, up, unbounded)


def _counts(decisions: Decisions, cells: Cells, buckets: Codes) -> Values:
    """Return the counts of one strategy, shape (bucket, action, outcome, group); expected ones if it is randomised."""
    shape = (BUCKETS, *cells.shape)
    n_cells = cells.shape[1] * cells.shape[2]
    size = int(np.prod(shape))
    if decisions.policy is None:
        place = (buckets * cells.shape[0] + decisions.codes) * n_cells + cells.codes
        return np.bincount(place, minlength=size).astype(np.float64).reshape(shape)
    found = np.zeros((BUCKETS, cells.shape[0], n_cells))
    for action, probabilities in enumerate(decisions.policy):
        sums = np.bincount(buckets * n_cells + cells.codes, probabilities, BUCKETS * n_cells)
        found[:, action] = sums.reshape(BUCKETS, n_cells)
    return found.reshape(shape)


def _bucket_sums(contributions: Values, buckets: Codes) -> Values:
    """Return sums of contributions (column, context), shape (bucket, column)."""
    return np.stack([np.bincount(buckets, row, BUCKETS) for row in contributions], axis=1)


def _support_sums(statistics: Statistics) -> dict[str, Values]:
    """Return ``support`` and ``loose LABEL`` of `PartSums.arrays`; nothing where nothing is estimated."""
    evidence, lines = statistics.evidence, statistics.decisions
    if evidence.propensities is None:
        return {}
    extremes = extreme_contributions(statistics)
    support = np.zeros((len(lines), 3))
    loose = {label: np.zeros((len(lines), 2, len(ends[0]))) for label, ends in extremes.items()}
    for s, decisions in enumerate(lines):
        if decisions.follows_log:
            continue
        weights = matching_weights(decisions, evidence.propensities, evidence.log.actions)
        unsupported = unsupported_decisions(decisions, evidence.propensities)
        support[s] = weights.sum(), np.square(weights).sum(), unsupported.sum()
        for label, ends in extremes.items():
            loose[label][s] = [np.einsum("cat,at->c", change, unsupported) for change in ends]
    return {"support": support} | {f"loose {label}": sums for label, sums in loose.items()}


def _per_context(metric: Metric, span: Range | None, n: int) -> Range | None:
    """Return the range of a metric on `n` contexts for one of them, if it is that of a total."""
    contexts = n if metric.gamma == 0 else 1
    return None if span is None else (span[0] / contexts, span[1] / contexts)


def _placed(
    counts: Values, grouping: Sequence[str], here: Mapping[str, Sequence[float | str]], values: Mapping[str, AnyArray]
) -> Values:
    """Return counts (…, group) with the groups of all parts in the place of those of one."""
    if not grouping:
        return counts
    shape = [len(here[name]) for name in grouping]
    found = np.zeros((*counts.shape[:-1], *(len(values[name]) for name in grouping)))
    places: list[Any] = [np.searchsorted(values[name], np.array(here[name])) for name in grouping]
    found[(Ellipsis, *np.ix_(*places))] = counts.reshape(*counts.shape[:-1], *shape)
    return found.reshape(*counts.shape[:-1], -1)


def _labels(grouping: Sequence[str], values: Mapping[str, AnyArray]) -> tuple[str, ...]:
    """Return the labels of groups as `Evidence.groups` makes them."""
    labels = [""]
    for name in grouping:
        texts = [value_label(value) for value in values[name]]
        labels = [f"{left} × {right}" if left else right for left in labels for right in texts]
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
