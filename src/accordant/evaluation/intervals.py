"""Intervals of metrics and scores: from resamples, widened by what resamples do not show.

    few cases       quantiles of Student's t for the effective number of cases (`statistics.wider_level`)
    small counts    shares and their differences as Wilson and Newcombe give them, so that what was never seen may be
    no variation    a mean in a known range that never varied but by rounding gets the interval of a share
    no overlap      decisions that the log does not support may bring anything in the range (`evaluation.overlap`)

Where none of this helps, the interval is withheld, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.decisions import Decisions
from accordant.evaluation.bootstrap import Resampled, Statistics
from accordant.evaluation.overlap import Overlap, overlap, unsupported_decisions
from accordant.evidence import Evidence
from accordant.metrics.metric import CountMetric, Goal, Metric, MetricResult, Range, SumMetric
from accordant.metrics.statistics import Contingency, Sums, contingency
from accordant.statistics import bounded, normal_quantile, percentile_interval, wider_level
from accordant.statistics.resampling import ROUNDING

Ranges = Sequence[Range | None]
Results = Sequence[Mapping[str, MetricResult]]


@dataclass(frozen=True, eq=False)
class MetricLimits:
    """Intervals of all metrics of all strategies.

    Attributes
    ----------
    low, high
        Limits; NaN where there is no value or the interval is withheld, shape (strategy, metric).
    undefined
        Share of resamples without a value, same shape.
    drawn_low, drawn_high
        Limits from resamples alone, same shape.
    sampled_low, sampled_high
        Limits that hold small counts and minima too, before what refits and missing support add, same shape.
    reasons
        Why an interval is withheld; empty if it is not, by strategy and metric.
    """

    low: Values
    high: Values
    undefined: Values
    drawn_low: Values
    drawn_high: Values
    sampled_low: Values
    sampled_high: Values
    reasons: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Support:
    """How far the log supports each strategy, and what its unsupported decisions leave open.

    Attributes
    ----------
    overlaps
        One for each strategy; None where nothing is estimated from decisions of others.
    estimated
        Which metrics read rewards or levels that are estimated with propensities, shape (metric,).
    down, up
        By how much each metric could be lower and higher than estimated, shape (strategy, metric).
    open
        Whether a metric could be off by something that has no bound here, same shape.
    """

    overlaps: tuple[Overlap | None, ...]
    estimated: Mask
    down: Values
    up: Values
    open: Mask

    @classmethod
    def of(cls, statistics: Statistics, results: Results) -> Self:
        """Judge every strategy of some statistics."""
        evidence, shape = statistics.evidence, (len(statistics.names), len(statistics.metrics))
        overlaps: list[Overlap | None] = []
        down, up, unbounded = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
        extremes = extreme_contributions(statistics)
        for s, decisions in enumerate(statistics.decisions):
            if evidence.propensities is None or decisions.follows_log:
                overlaps.append(None)
                continue
            own_overlap = overlap(decisions, evidence.propensities, evidence.log.actions)
            overlaps.append(own_overlap)
            loose = unsupported_decisions(decisions, evidence.propensities)
            for m, label in enumerate(statistics.metrics) if loose.any() else ():
                metric, value = statistics.metrics[label], results[s][label].value
                if label not in extremes or value is None or not isinstance(metric, SumMetric):
                    continue
                if not metric.monotone:
                    span = metric.range(evidence)
                    unbounded[s, m] = own_overlap.poor or span is None
                    down[s, m] = up[s, m] = 0.0 if span is None else own_overlap.unsupported * (span[1] - span[0])
                    continue
                totals = statistics.contributions(s, label).sum(axis=1)
                ends = [totals + np.einsum("cat,at->c", change, loose) for change in extremes[label]]
                values = [float(metric.value(Sums(end, evidence.n_contexts, evidence.problem))) for end in ends]
                down[s, m], up[s, m] = max(0.0, value - min(values)), max(0.0, max(values) - value)
        estimated = np.array([label in extremes for label in statistics.metrics], dtype=bool)
        return cls(tuple(overlaps), estimated, down, up, unbounded)

    def cases(self, independent: float) -> Values:
        """Return the number of cases that each metric of each strategy rests on, of so many independent ones."""
        cases = np.full(self.down.shape, float(independent))
        for s, own_overlap in enumerate(self.overlaps):
            if own_overlap is not None:
                cases[s, self.estimated] = min(own_overlap.effective, independent)
        return cases


def extreme_contributions(statistics: Statistics) -> dict[str, tuple[Values, Values]]:
    """Return by how much the contribution of every action changes if its reward is the least and the most possible.

    By label, only for metrics that change, each of shape (column, action, context).
    """
    evidence, extremes = statistics.evidence, dict[str, tuple[Values, Values]]()
    if evidence.propensities is None:
        return extremes
    worst, best = _with_rewards(evidence, 0), _with_rewards(evidence, 1)
    for label, read in statistics.same_theta().items():
        if read != label:
            extremes |= {label: extremes[read]} if read in extremes else {}
            continue
        metric, theta = statistics.metrics[label], statistics.thetas[label]
        assert isinstance(metric, SumMetric)
        least, most = metric.checked_theta(worst) - theta, metric.checked_theta(best) - theta
        if least.any() or most.any():
            extremes[label] = least, most
    return extremes


def _with_rewards(evidence: Evidence, end: int) -> Evidence:
    """Return the evidence with all estimated rewards and outcome levels at the lower (0) or upper (1) end."""
    rewards = evidence.rewards
    if evidence.estimated is not None:
        rewards = np.where(evidence.estimated[:, None, None], float(end), rewards)
    levels = evidence.robust_levels
    if levels is not None:
        levels = np.full(levels.shape, evidence.outcome_range[end])
    return replace(evidence, rewards=rewards, robust_levels=levels)


@dataclass(frozen=True, eq=False)
class Summary:
    """What is read of strategies on some contexts, whether these are in memory or were added up part by part.

    Attributes
    ----------
    names, metrics
        Strategies and metrics by label.
    results
        Value of each metric by strategy.
    tables
        Counts on all contexts by strategy and grouping columns.
    support
        How far the log supports each strategy.
    withheld
        Why a metric gives no interval on these contexts, whoever decides, by label.
    ranges
        Range of each metric on these contexts, None if it does not say, by label.
    n, independent
        Contexts; and persons, if several of them can belong to one.
    drawn_from
        Units that were resampled: as many as are independent, or as the buckets that they were added up in.
    follows_log, tied
        Whether a strategy is the log, and in which share of contexts it met a tie, shape (strategy,).
    always
        The action that a strategy takes in every context, None if it does not.
    agreement
        Share of contexts in which two strategies decide alike, by their positions.
    """

    names: tuple[str, ...]
    metrics: Mapping[str, Metric]
    results: Results
    tables: Sequence[Mapping[tuple[str, ...], Contingency]]
    support: Support
    withheld: Mapping[str, str]
    ranges: Mapping[str, Range | None]
    n: int
    independent: int
    drawn_from: int
    follows_log: Mask
    tied: Values
    always: tuple[str | None, ...]
    agreement: Callable[[int, int], float]

    @classmethod
    def of(cls, statistics: Statistics) -> Self:
        """Return the summary of decisions in memory."""
        evidence, decisions = statistics.evidence, statistics.decisions
        results = [statistics.results(s) for s in range(len(decisions))]
        codes = [choices(s, decided) for s, decided in enumerate(decisions)]
        return cls(
            statistics.names, statistics.metrics, results,
            [{columns: contingency(decided, cells) for columns, cells in statistics.cells.items()}
             for decided in decisions],
            Support.of(statistics, results),
            {label: metric.withheld(evidence) for label, metric in statistics.metrics.items()},
            {label: metric.range(evidence) for label, metric in statistics.metrics.items()},
            evidence.n_contexts, evidence.n_independent, evidence.n_independent,
            np.array([decided.follows_log for decided in decisions], dtype=bool),
            np.array([decided.tied.mean() for decided in decisions]),
            tuple(str(decided.actions[0]) if decided.constant else None for decided in decisions),
            lambda one, other: float((codes[one] == codes[other]).mean()),
        )  # fmt: skip


def choices(s: int, decisions: Decisions) -> NDArray[np.int64]:
    """Return codes of what strategy `s` decides; where it draws, a code of its own: nobody else need draw the same."""
    codes = decisions.codes.astype(np.int64)
    return codes if decisions.policy is None else np.where((decisions.policy > 0).sum(axis=0) > 1, -1 - s, codes)


def metric_limits(summary: Summary, drawn: Resampled, ranges: Ranges, level: float, variances: Values) -> MetricLimits:
    """Return intervals of all metrics.

    Parameters
    ----------
    summary
        Strategies, metrics, and their values.
    drawn
        Values on resamples.
    ranges
        Range of each metric; None if it has none.
    level
        Coverage.
    variances
        What refitting the models adds to the variance of each value, shape (strategy, metric).
    """
    support, cases = summary.support, summary.support.cases(summary.drawn_from)
    values = np.array([[_number(row[label].value) for label in summary.metrics] for row in summary.results])
    limits = percentile_interval(drawn.values, wider_level(level, cases), values)
    low, high = limits.low.copy(), limits.high.copy()
    for m, label in enumerate(summary.metrics):
        if label in drawn.parts:
            low[:, m], high[:, m] = _least(drawn.parts[label], level, cases[:, m])
    reasons = [list(row) for row in _withheld(summary)]
    sampled_low, sampled_high = np.full(low.shape, np.nan), np.full(high.shape, np.nan)
    share = summary.independent / summary.n
    for s, tables in enumerate(summary.tables):
        for m, (label, metric) in enumerate(summary.metrics.items()):
            result = summary.results[s][label]
            if reasons[s][m] or result.value is None or np.isnan(low[s, m]):
                low[s, m] = high[s, m] = np.nan
                continue
            ends = low[s, m], high[s, m]
            if isinstance(metric, CountMetric):
                ends = _joined(ends, metric.limits(tables[metric.columns], level, share))
            if not ends[1] - ends[0] > ROUNDING * max(1.0, abs(result.value)):
                ends = _unvaried(result, share, summary.ranges[label] or ranges[m], level)
            sampled_low[s, m], sampled_high[s, m] = ends
            if np.isnan(ends[0]):
                reasons[s][m] = "it was the same on all resamples, and the metric has no range"
            ends = _spread_out(ends, result.value, normal_quantile(level) * float(np.sqrt(variances[s, m])))
            low[s, m], high[s, m] = ends[0] - support.down[s, m], ends[1] + support.up[s, m]
    return MetricLimits(
        low, high, limits.undefined, limits.low, limits.high, sampled_low, sampled_high, tuple(map(tuple, reasons))
    )


def _least(parts: Values, level: float, cases: Values) -> tuple[Values, Values]:
    """Return limits of the smallest of several means, each of shape (strategy,).

    It is no smaller than the smallest of their lower limits, and no larger than the smallest of upper limits that hold
    together (Bonferroni).

    Parameters
    ----------
    parts
        Means on resamples, shape (resample, strategy, part).
    level
        Coverage.
    cases
        Effective number of cases of each strategy, shape (strategy,).
    """
    single, together = (wider_level(1 - (1 - level) / k, cases)[:, None] for k in (1, parts.shape[-1]))
    every = np.ones(parts.shape[1:])
    low = percentile_interval(parts, single * every).low.min(axis=-1)
    return low, percentile_interval(parts, together * every).high.min(axis=-1)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _joined(ends: tuple[float, float], other: tuple[float, float] | None) -> tuple[float, float]:
    """Return the interval that holds both."""
    return ends if other is None else (min(ends[0], other[0]), max(ends[1], other[1]))


def _spread_out(ends: tuple[float, float], value: float, half: float) -> tuple[float, float]:
    """Return limits around a value, moved away from it by an independent half-width."""
    low, high = max(value - ends[0], 0.0), max(ends[1] - value, 0.0)
    return ends[0] - (float(np.hypot(low, half)) - low), ends[1] + (float(np.hypot(high, half)) - high)


def _unvaried(result: MetricResult, share: float, span: Range | None, level: float) -> tuple[float, float]:
    """Return the interval of a value that was the same on all resamples; NaN if nothing is known about its range."""
    if span is None or result.value is None or not result.n:
        return np.nan, np.nan
    low, high = bounded(result.value, result.n * share, *span, level)
    return min(result.value, float(low)), max(result.value, float(high))


def _withheld(summary: Summary) -> tuple[tuple[str, ...], ...]:
    """Return why there is no interval, by strategy and metric; empty where there is one."""
    reasons, support = [], summary.support
    for s, own_overlap in enumerate(support.overlaps):
        row = []
        for m, label in enumerate(summary.metrics):
            reason = "" if summary.follows_log[s] else summary.withheld[label]
            if not reason and own_overlap is not None and support.estimated[m]:
                if own_overlap.scarce:
                    reason = (
                        "the logged cases that match its decisions weigh no more than "
                        f"{own_overlap.effective:.0f} cases"
                    )
                elif support.open[s, m]:
                    reason = own_overlap.reason
            row.append(reason)
        reasons.append(tuple(row))
    return tuple(reasons)


def score_limits(
    scores: Values, drawn: Values, metrics: MetricLimits, values: Values, slopes: Values, goals: Sequence[Goal],
    support: Support, cases: Values, level: float, variances: Values,
) -> tuple[Values, Values]:  # fmt: skip
    """Return limits of composite scores, each of shape (strategy,).

    Where small counts reach further than resamples, how far they reach is added to the score's interval in squares;
    what has no support is added as it is, because nothing averages it out.

    Parameters
    ----------
    scores, drawn
        Scores, and scores on resamples, shape (strategy,) and (resample, strategy).
    metrics, values
        Intervals and values of the metrics, shape (strategy, metric).
    slopes, goals
        How much a score changes with each metric, at least 0, shape (metric,); and what is better.
    support
        How far the log supports each strategy.
    cases
        Effective number of cases of each strategy, shape (strategy,).
    level
        Coverage.
    variances
        What refitting the models adds to the variance of each score, shape (strategy,).
    """
    limits = percentile_interval(drawn, wider_level(level, cases), scores)
    beyond = [
        np.nan_to_num(np.maximum(np.square(reached) - np.square(drawn_only), 0.0))
        for reached, drawn_only in zip(
            _changes(values, metrics.sampled_low, metrics.sampled_high, goals),
            _changes(values, metrics.drawn_low, metrics.drawn_high, goals),
            strict=True,
        )
    ]
    # a gap is too large where it is near zero, and so is its distance from zero on resamples: that is no noise
    reaching = (np.array(goals) == "zero") & (metrics.sampled_low <= 0) & (metrics.sampled_high >= 0)
    beyond[1] = np.where(reaching, np.square(values), beyond[1])
    unsupported = _changes(values, values - support.down, values + support.up, goals)
    refitted = normal_quantile(level) ** 2 * variances
    ends = []
    for k, (sign, limit) in enumerate(((-1, limits.low), (1, limits.high))):
        own = np.square(np.maximum(sign * (limit - scores), 0.0))
        sampled = np.sqrt(own + refitted + (beyond[k] * slopes**2).sum(axis=1))
        ends.append(scores + sign * (sampled + np.nan_to_num(unsupported[k] * slopes).sum(axis=1)))
    return ends[0], ends[1]


def _changes(values: Values, low: Values, high: Values, goals: Sequence[Goal]) -> tuple[Values, Values]:
    """Return by how much metrics could be worse and better than they are, within limits, shape (strategy, metric)."""
    kinds = np.array(goals)
    below, above = np.maximum(values - low, 0.0), np.maximum(high - values, 0.0)
    size = np.abs(values)
    farther = np.maximum(np.maximum(np.abs(low), np.abs(high)) - size, 0.0)
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    nearer = np.maximum(size - nearest, 0.0)
    worse = np.where(kinds == "zero", farther, np.where(kinds == "max", below, above))
    better = np.where(kinds == "zero", nearer, np.where(kinds == "max", above, below))
    return worse, better
