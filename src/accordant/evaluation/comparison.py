"""`evaluate`: from decisions and weighted metrics to a leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.bootstrap import Resampled, Statistics, resampled
from accordant.evaluation.composite import EQUAL, Composite, Normalisation, composite_score
from accordant.evaluation.leaderboard import (
    GroupEstimate,
    Leaderboard,
    LeaderboardRow,
    MetricCell,
    MetricColumn,
)
from accordant.evaluation.remarks import remarks
from accordant.evidence import Evidence
from accordant.metrics.metric import Metric, MetricResult
from accordant.statistics import Estimate, Interval, finite, percentile_interval

Values = NDArray[np.float64]
WeightedMetrics = Mapping[str, tuple[Metric, float]]


def evaluate(
    decisions: Mapping[str, Decisions],
    kinds: Mapping[str, str],
    evidence: Evidence,
    metrics: WeightedMetrics,
    *,
    candidates: Sequence[str],
    generator: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
    normalisation: Normalisation = "minmax",
) -> Leaderboard:
    """Evaluate strategies on some contexts.

    Parameters
    ----------
    decisions
        Strategy name to its decisions on the contexts of `evidence`.
    kinds
        Strategy name to its kind; ``baseline`` lines that always take one action count as constants.
    evidence
        What is known about the contexts.
    metrics
        Label to metric and weight (at least 0, not all 0); weight 0 shows the metric without counting it.
    candidates
        Names of the strategies that define the scale and can come first.
    generator
        Source of the resamples; the same state gives the same leaderboard.
    resamples
        Number of bootstrap resamples of contexts; 0 for none.
    level
        Coverage of the intervals.
    normalisation
        ``minmax`` or ``reference``, see `accordant.evaluation.composite`.

    Raises
    ------
    InputError
        If names, weights, decisions or metrics do not fit.
    """
    if not metrics:
        raise InputError("no metrics; a leaderboard needs at least one")
    for name in candidates:
        if name not in decisions:
            raise UnknownNameError("candidate strategy", name, decisions)
    for name in decisions:
        if name not in kinds:
            raise UnknownNameError("strategy without a kind:", name, kinds)
    statistics = Statistics.of(decisions, evidence, {label: metric for label, (metric, _) in metrics.items()})
    results = {name: statistics.results(s) for s, name in enumerate(decisions)}
    scale = _Scale(metrics, np.array([name in candidates for name in decisions]), normalisation)
    point = scale.scores(_raw(results))
    drawn = resampled(statistics, resamples=resamples, generator=generator) if resamples else None
    board = _Board(decisions, kinds, metrics, results, scale, point, drawn, level)
    rows = board.rows()
    columns = tuple(
        MetricColumn(label, metric.goal, float(point.weights[m]), bool(point.uninformative[m]), metric.describe())
        for m, (label, (metric, _)) in enumerate(metrics.items())
    )
    constant = None if board.best_constant is None else tuple(decisions)[board.best_constant]
    words = remarks(rows, columns, constant, decisions)
    return Leaderboard(rows, columns, evidence.n_contexts, resamples, level, normalisation, constant, words)


@dataclass(frozen=True, eq=False)
class _Scale:
    """How raw values become composite scores."""

    metrics: WeightedMetrics
    candidates: NDArray[np.bool_]
    normalisation: Normalisation

    def scores(self, raw: Values) -> Composite:
        """Return the composite of raw values of shape (..., strategy, metric)."""
        plain = [metric for metric, _ in self.metrics.values()]
        # the official code leaves the metric called Accuracy raw, whatever it measures
        accuracy = [label == "Accuracy" or metric.name == "accuracy" for label, (metric, _) in self.metrics.items()]
        return composite_score(
            raw,
            goals=[metric.goal for metric in plain],
            weights=[weight for _, weight in self.metrics.values()],
            candidates=self.candidates,
            normalisation=self.normalisation,
            accuracy=np.array(accuracy),
        )


@dataclass(frozen=True, eq=False)
class _Board:
    """Everything known about all lines, from which the rows are cut."""

    decisions: Mapping[str, Decisions]
    kinds: Mapping[str, str]
    metrics: WeightedMetrics
    results: Mapping[str, Mapping[str, MetricResult]]
    scale: _Scale
    point: Composite
    drawn: Resampled | None
    level: float

    @property
    def best(self) -> int | None:
        """Position of the candidate with the highest score; None if all are unranked.

        Among equals a baseline comes first: a strategy that only equals it has not earned its cost.
        """
        baseline = np.array([kind == "baseline" for kind in map(self.kinds.get, self.decisions)])
        first, plain = (
            _first(self.point.scores, allowed) for allowed in (self.scale.candidates, self.scale.candidates & baseline)
        )
        if first is None or plain is None or self.point.scores[plain] < self.point.scores[first] - EQUAL:
            return first
        return plain

    @property
    def best_constant(self) -> int | None:
        """Position of the constant baseline with the highest score; None if there is none."""
        constant = np.array(
            [self.kinds[name] == "baseline" and _is_constant(each) for name, each in self.decisions.items()]
        )
        return _first(self.point.scores, constant & self.scale.candidates)

    def rows(self) -> tuple[LeaderboardRow, ...]:
        """Return the rows, best first, unranked last."""
        scores = self.point.scores
        sampled = None if self.drawn is None else self.scale.scores(self.drawn.values).scores
        score_limits = None if sampled is None else percentile_interval(sampled, self.level)
        apart = self._distinguishable(sampled)
        cells = self._cells()
        constant = -np.inf if self.best_constant is None else scores[self.best_constant]
        rows = []
        for s, (name, each) in enumerate(self.decisions.items()):
            candidate = bool(self.scale.candidates[s])
            row = LeaderboardRow(
                strategy=name,
                kind=self.kinds[name],
                candidate=candidate,
                score=_estimate(finite(scores[s]), score_limits, (s,)),
                among_best=not apart[s] if candidate and sampled is not None and not np.isnan(scores[s]) else None,
                alike=None,
                tied=float(each.tied.mean()),
                below_best_constant=bool(scores[s] < constant - EQUAL),
                metrics=cells[s],
            )
            rows.append(row)
        best = None if self.best is None else tuple(self.decisions)[self.best]
        order = {row.strategy: -np.inf if row.score.value is None else row.score.value for row in rows}
        if best is not None:  # equals differ by rounding
            order[best] = max(order[row.strategy] for row in rows if row.candidate)
        return tuple(sorted(rows, key=lambda row: (-order[row.strategy], row.strategy != best)))

    def _distinguishable(self, sampled: Values | None) -> list[bool | None]:
        """Return for each strategy whether the interval of its difference to the best excludes 0."""
        best = self.best
        if sampled is None or best is None:
            return [None] * len(self.decisions)
        limits = percentile_interval(sampled[:, best, None] - sampled, self.level)
        ranked = ~np.isnan(self.point.scores) & ~np.isnan(limits.low)
        return [
            bool(limits.low[s] > EQUAL or limits.high[s] < -EQUAL) if ranked[s] and s != best else None
            for s in range(len(self.decisions))
        ]

    def _cells(self) -> list[dict[str, MetricCell]]:
        """Return each strategy's cells by metric label."""
        limits = None if self.drawn is None else percentile_interval(self.drawn.values, self.level)
        rates = {} if self.drawn is None else self.drawn.rates
        group_limits = {
            label: {rate: percentile_interval(values, self.level) for rate, values in found.items()}
            for label, found in rates.items()
        }
        rows = []
        for s, name in enumerate(self.decisions):
            cells = {}
            for m, label in enumerate(self.metrics):
                result = self.results[name][label]
                groups = _groups(result, group_limits.get(label), s)
                estimate = _estimate(result.value, limits, (s, m))
                normalised = finite(self.point.normalised[s, m])
                cells[label] = MetricCell(estimate, normalised, result.n, result.reason, groups)
            rows.append(cells)
        return rows


def win_shares(scores: Values, candidates: NDArray[np.bool_]) -> Values:
    """Return the share of resamples in which each candidate has the highest score, shape (strategy,).

    Parameters
    ----------
    scores
        Shape (resample, strategy); NaN if unranked, which never wins. Strategies within 1e-12 of the highest
        score share the win equally; a resample in which nobody is ranked has no winner.
    candidates
        Who can win, shape (strategy,).
    """
    able = np.where(candidates & ~np.isnan(scores), scores, -np.inf)
    top = able.max(axis=1, keepdims=True)
    first = (able >= top - EQUAL) & np.isfinite(able)
    shares = first / np.maximum(first.sum(axis=1, keepdims=True), 1)
    return np.asarray(shares.mean(axis=0))


def _first(scores: Values, allowed: NDArray[np.bool_]) -> int | None:
    able = np.where(allowed & ~np.isnan(scores), scores, -np.inf)
    return int(np.argmax(able)) if np.isfinite(able).any() else None


def _is_constant(decisions: Decisions) -> bool:
    return decisions.policy is None and bool((decisions.codes == decisions.codes[0]).all())


def _raw(results: Mapping[str, Mapping[str, MetricResult]]) -> Values:
    """Return raw values, shape (strategy, metric), NaN for None."""
    return np.array(
        [[np.nan if each.value is None else each.value for each in row.values()] for row in results.values()]
    )


def _estimate(value: float | None, limits: Interval | None, at: tuple[int, ...]) -> Estimate:
    if limits is None:
        return Estimate(value)
    undefined = float(limits.undefined[at])
    if value is None:
        return Estimate(None, undefined=undefined)
    return Estimate(value, finite(limits.low[at]), finite(limits.high[at]), undefined=undefined)


def _groups(result: MetricResult, limits: Mapping[str, Interval] | None, s: int) -> tuple[GroupEstimate, ...]:
    """Return the rates in each group with their limits."""
    labels = tuple(dict.fromkeys(group.label for group in result.by_group))
    return tuple(
        GroupEstimate(
            group.rate,
            group.label,
            _estimate(group.value, None if limits is None else limits[group.rate], (s, labels.index(group.label))),
            group.n,
        )
        for group in result.by_group
    )
