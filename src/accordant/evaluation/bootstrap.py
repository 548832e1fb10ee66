"""Paired bootstrap over contexts: many strategies and many metrics on the same resamples.

Metrics read sums over contexts only, so a resample is a vector of weights and a metric's value on it costs
one matrix product. If all metrics count (`CountMetric`), contexts with the same outcome, groups and decisions
are interchangeable: the resample is then one multinomial draw over those patterns, exactly as if contexts had
been drawn with replacement. Otherwise contexts are drawn block by block, so memory stays bounded.

Source: Efron 1979; percentile intervals: Efron and Tibshirani 1993, Section 13.3.

`Choice` says what choosing the best of several lines on the same contexts adds to its values: it is best partly by
luck. The choice is made anew in every resample, and what is chosen there is compared with its value on all contexts
(Efron 1983, for a choice among fixed rules).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.metrics.metric import CountMetric, Metric, MetricResult, SumMetric
from accordant.metrics.statistics import Cells, Contingency, Sums, check_decisions, contingency, expected_contributions
from accordant.statistics import Units, WeightBlock, percentile_interval, weight_blocks

Groups = tuple[str, ...]
AT_ONCE = 16_000_000  # weights of clusters held at a time (128 MB): what clusters sum to is computed anew for each
PATTERN_COST = 8  # drawing one multinomial cell takes about as long as drawing this many contexts


@dataclass(frozen=True, eq=False)
class Statistics:
    """Everything that the metrics sum over contexts, for every strategy.

    Attributes
    ----------
    names, decisions
        The strategies and their decisions.
    metrics
        The metrics by label.
    cells
        Cells of contexts by grouping columns, one entry for each grouping that some metric uses.
    thetas
        Contributions of each `SumMetric` by label, shape (column, action, context).
    followed
        Contributions of the logged actions as observed, shape (column, context), for decisions that follow the log;
        empty if there are none, or if nothing is estimated.
    evidence
        The evidence.
    """

    names: tuple[str, ...]
    decisions: tuple[Decisions, ...]
    metrics: Mapping[str, Metric]
    cells: Mapping[Groups, Cells]
    thetas: Mapping[str, Values]
    followed: Mapping[str, Values]
    evidence: Evidence

    @classmethod
    def of(cls, decisions: Mapping[str, Decisions], evidence: Evidence, metrics: Mapping[str, Metric]) -> Statistics:
        """Check decisions and metrics against the evidence, and prepare the sums."""
        for decided in decisions.values():
            check_decisions(decided, evidence)
        for metric in metrics.values():
            metric.check(evidence)
        groupings = dict.fromkeys(metric.columns for metric in metrics.values() if isinstance(metric, CountMetric))
        thetas = {
            label: metric.checked_theta(evidence) for label, metric in metrics.items() if isinstance(metric, SumMetric)
        }
        cells = {columns: Cells.of(evidence, columns) for columns in groupings}
        followed = _followed(decisions, evidence, metrics)
        return cls(tuple(decisions), tuple(decisions.values()), metrics, cells, thetas, followed, evidence)

    def units(self) -> Units:
        """Return contexts in clusters, patterns if all metrics count and there are few of them, or contexts."""
        n, clusters = self.evidence.n_contexts, self.evidence.clusters
        if clusters is not None:
            return Units.single(n, clusters)
        plain = all(decided.policy is None or _constant(decided.policy) for decided in self.decisions)
        if plain and not self.thetas:
            columns = [cells.codes for cells in self.cells.values()]
            units = Units.alike([*columns, *(decided.codes for decided in self.decisions if decided.policy is None)], n)
            if len(units.members) * PATTERN_COST <= n:
                return units
        return Units.single(n)

    def rows(self, strategy: int, contexts: Codes) -> Values:
        """Return what each of some contexts adds to every sum of one strategy, shape (context, column)."""
        decisions, index = self.decisions[strategy], np.arange(len(contexts))
        parts = []
        for cells in self.cells.values():
            actions, n_cells = cells.shape[0], cells.shape[1] * cells.shape[2]
            part = np.zeros((len(contexts), actions, n_cells))
            if decisions.policy is None:
                part[index, decisions.codes[contexts], cells.codes[contexts]] = 1.0
            else:
                part[index, :, cells.codes[contexts]] = decisions.policy[:, contexts].T
            parts.append(part.reshape(len(contexts), -1))
        parts += [self.contributions(strategy, label, contexts).T for label in self.thetas]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(contexts), 0))

    def contributions(self, strategy: int, label: str, contexts: Codes | slice = slice(None)) -> Values:
        """Return what each of some contexts adds to one `SumMetric` of one strategy, shape (column, context)."""
        decisions = self.decisions[strategy]
        if decisions.follows_log and self.followed:
            return np.asarray(self.followed[label][:, contexts])
        return expected_contributions(self.thetas[label], decisions, contexts)

    def same_theta(self) -> dict[str, str]:
        """Return the first label of those with the same contributions, by label: several metrics read the rewards."""
        first = dict[tuple[object, int], str]()
        return {
            label: first.setdefault((type(self.metrics[label]).theta, id(theta)), label)  # type: ignore[attr-defined]
            for label, theta in self.thetas.items()
        }

    def results(self, strategy: int) -> dict[str, MetricResult]:
        """Return the result of each metric for one strategy on all contexts, as `Metric.evaluate` would."""
        decisions, n = self.decisions[strategy], self.evidence.n_contexts
        tables = {columns: contingency(decisions, cells) for columns, cells in self.cells.items()}
        results = {}
        for label, metric in self.metrics.items():
            if isinstance(metric, CountMetric):
                results[label] = metric.result(tables[metric.columns])
            elif isinstance(metric, SumMetric):
                totals = self.contributions(strategy, label).sum(axis=1)
                results[label] = metric.result(Sums(totals, n, self.evidence.problem))
        return results

    def all_results(self) -> list[dict[str, MetricResult]]:
        """Return `results` of every strategy."""
        return [self.results(s) for s in range(len(self.decisions))]

    @cached_property
    def spans(self) -> dict[str, slice]:
        """Columns of sums that each metric reads, by label; metrics of the same groups read the same."""
        tables, start = dict[Groups, slice](), 0
        for columns, cells in self.cells.items():
            tables[columns] = slice(start, start + int(np.prod(cells.shape)))
            start = tables[columns].stop
        slices = dict[str, slice]()
        for label, metric in self.metrics.items():
            if isinstance(metric, CountMetric):
                slices[label] = tables[metric.columns]
            else:
                slices[label] = slice(start, start + len(self.thetas[label]))
                start = slices[label].stop
        return slices

    def read(self, label: str, sums: Values) -> Contingency | Sums:
        """Return what a metric reads from its own sums, shape (..., column of its span)."""
        metric = self.metrics[label]
        if isinstance(metric, CountMetric):
            cells = self.cells[metric.columns]
            return Contingency(sums.reshape(*sums.shape[:-1], *cells.shape), cells)
        return Sums(sums, self.evidence.n_contexts, self.evidence.problem)

    def split(self, totals: Values) -> dict[str, Contingency | Sums]:
        """Return what each metric reads from sums of shape (..., column), by label."""
        return {label: self.read(label, totals[..., span]) for label, span in self.spans.items()}

    def resampled(self, units: Units, blocks: Iterable[WeightBlock], resamples: int) -> Resampled:
        """Return the values of all metrics on every resample."""
        return evaluated(self.metrics, self.split(self.totals(units, blocks, resamples)))

    def totals(self, units: Units, blocks: Iterable[WeightBlock], resamples: int) -> Values:
        """Return the sums of every strategy on every resample, shape (strategy, resample, column)."""
        totals: Values | None = None
        clustered = units.clusters is not None
        for block in _of_clusters(units, blocks) if clustered else blocks:
            contexts = units.members if clustered else units.members[block.units]
            for s in range(len(self.decisions)):
                rows = self.rows(s, contexts)
                part = block.weights @ (_sums(rows, units.clusters) if units.clusters is not None else rows)
                if totals is None:
                    totals = np.zeros((len(self.decisions), resamples, part.shape[1]))
                totals[s, block.resamples] += part
        return np.zeros((len(self.decisions), resamples, 0)) if totals is None else totals


@dataclass(frozen=True, eq=False)
class Resampled:
    """Values of all metrics for all strategies on the same resamples.

    Attributes
    ----------
    values
        Shape (resample, strategy, metric); NaN where a metric is not defined on a resample.
    parts
        Metric label → values whose smallest the metric is, shape (resample, strategy, part), for such metrics.
    """

    values: Values
    parts: Mapping[str, Values]


def bootstrap_metrics(
    decisions: Mapping[str, Decisions],
    evidence: Evidence,
    metrics: Mapping[str, Metric],
    *,
    resamples: int,
    generator: np.random.Generator,
) -> Resampled:
    """Evaluate every metric for every strategy on the same resamples of contexts.

    Parameters
    ----------
    decisions
        Strategy name to its decisions on the contexts of `evidence`.
    evidence
        What is known about the contexts.
    metrics
        Label to metric.
    resamples
        Number of resamples, at least 1.
    generator
        Source of randomness; the same state gives the same bytes.

    Raises
    ------
    InputError
        If decisions do not fit the evidence, or a metric lacks something.
    """
    return resampled(Statistics.of(decisions, evidence, metrics), resamples=resamples, generator=generator)


def resampled(statistics: Statistics, *, resamples: int, generator: np.random.Generator) -> Resampled:
    """Return what `bootstrap_metrics` returns, from prepared statistics."""
    if resamples < 1:
        raise InputError(f"resamples is {resamples}; allowed: 1 or more")
    units = statistics.units()
    blocks = weight_blocks(units, resamples, generator)
    return statistics.resampled(units, blocks, resamples)


def evaluated(metrics: Mapping[str, Metric], sums: Mapping[str, Contingency | Sums]) -> Resampled:
    """Return the values of metrics from what each reads on resamples, with leading axes (strategy, resample)."""
    values, parts = list[Values](), dict[str, Values]()
    for label, read in sums.items():
        metric = metrics[label]
        if isinstance(metric, CountMetric) and isinstance(read, Contingency):
            values.append(metric.value(read).T)
        elif isinstance(metric, SumMetric) and isinstance(read, Sums):
            values.append(metric.value(read).T)
            least = metric.least_of(read)
            if least is not None:
                parts[label] = np.swapaxes(least, 0, 1)
    return Resampled(np.stack(values, axis=-1), parts)


def _of_clusters(units: Units, blocks: Iterable[WeightBlock]) -> Iterator[WeightBlock]:
    """Yield the weights of clusters, which are those of any of their units, for as many resamples as fit in memory."""
    assert units.clusters is not None
    _, first = np.unique(units.clusters, return_index=True)
    kept: list[WeightBlock] = []
    for block in blocks:
        kept.append(WeightBlock(block.resamples, block.units, block.weights[:, first]))
        if sum(part.weights.size for part in kept) >= AT_ONCE:
            yield _joined(kept)
            kept = []
    if kept:
        yield _joined(kept)


def _joined(blocks: Sequence[WeightBlock]) -> WeightBlock:
    resamples = slice(blocks[0].resamples.start, blocks[-1].resamples.stop)
    return WeightBlock(resamples, blocks[0].units, np.concatenate([block.weights for block in blocks]))


def _sums(rows: Values, clusters: Codes) -> Values:
    """Return the sums of rows in each cluster, shape (cluster, column)."""
    order = np.argsort(clusters, kind="stable")
    return np.asarray(np.add.reduceat(rows[order], np.flatnonzero(np.diff(clusters[order], prepend=-1)), axis=0))


def _followed(
    decisions: Mapping[str, Decisions], evidence: Evidence, metrics: Mapping[str, Metric]
) -> dict[str, Values]:
    """Return `Statistics.followed`."""
    logged = next((decided for decided in decisions.values() if decided.follows_log), None)
    if logged is None:
        return {}
    known = evidence.as_observed()
    if known is evidence:
        return {}
    return {
        label: expected_contributions(metric.checked_theta(known), logged)
        for label, metric in metrics.items()
        if isinstance(metric, SumMetric)
    }


def _constant(policy: NDArray[np.floating]) -> bool:
    """Whether a randomised policy is the same in every context."""
    return bool((policy == policy[:, :1]).all())


@dataclass(frozen=True, eq=False)
class Choice:
    """A line that is chosen for its score.

    Attributes
    ----------
    line
        Its position.
    anew
        The line that is chosen on each resample, −1 if none, shape (resample,).
    concerns
        Which lines are chosen, or decide like the one that is, shape (strategy,).
    """

    line: int
    anew: Codes
    concerns: Mask

    @classmethod
    def of(cls, scores: Values, drawn: Values, selectable: Mask, leader: Codes) -> Self | None:
        """Return the choice of the highest score; None if no selectable line has one.

        Parameters
        ----------
        scores, drawn
            Scores on all contexts and on resamples, shape (strategy,) and (resample, strategy).
        selectable
            Which lines can be chosen, shape (strategy,).
        leader
            The line that stands for each, itself or one that decides alike, shape (strategy,).
        """
        line = first_of(scores, selectable)
        if line is None:
            return None
        defined = selectable & ~np.isnan(scores) & ~np.isnan(drawn)
        anew = np.where(defined.any(axis=1), np.where(defined, drawn, -np.inf).argmax(axis=1), -1)
        return cls(line, anew, np.asarray(leader == leader[line]))

    def optimism(self, values: Values, drawn: Values) -> float:
        """Return by how much the value of the line is too good on average, at least 0; see `excess`."""
        errors = self._errors(values, drawn)
        return max(0.0, float(errors.mean())) if len(errors) else 0.0

    def excess(self, values: Values, drawn: Values, level: float) -> tuple[float, float]:
        """Return how much farther than the line's own error the error of choosing reaches, each at least 0.

        By so much the lower limit of the line goes down and the upper one up. Both are 0 if no other is ever chosen.

        Parameters
        ----------
        values, drawn
            Scores, or a metric of which more is better or worse, shape (strategy,) and (resample, strategy).
        level
            Coverage.
        """
        chosen, own = self._errors(values, drawn), _finite(drawn[:, self.line] - values[self.line])
        if not len(chosen) or not len(own):
            return 0.0, 0.0
        of_choice, of_line = percentile_interval(chosen, level), percentile_interval(own, level)
        return max(0.0, float(of_choice.high - of_line.high)), max(0.0, float(of_line.low - of_choice.low))

    def _errors(self, values: Values, drawn: Values) -> Values:
        """Return what the line chosen on a resample has there less what it has on all contexts, where defined."""
        every = np.flatnonzero(self.anew >= 0)
        return _finite(drawn[every, self.anew[every]] - values[self.anew[every]])


def first_of(scores: Values, allowed: Mask) -> int | None:
    """Return the position of the highest defined score among those allowed; None if there is none."""
    able = np.where(allowed & ~np.isnan(scores), scores, -np.inf)
    return int(np.argmax(able)) if np.isfinite(able).any() else None


def _finite(errors: Values) -> Values:
    return np.asarray(errors[np.isfinite(errors)])
