"""`evaluate`: from decisions and weighted metrics to a leaderboard."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.compute.fan_out import run_all
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.bootstrap import Resampled, Statistics, resampled
from accordant.evaluation.composite import EQUAL, CompositeScale, DeclaredRanges, Normalisation, WeightedMetrics
from accordant.evaluation.intervals import Results, Summary
from accordant.evaluation.leaderboard import GroupEstimate, Leaderboard, LeaderboardRow, MetricCell, MetricColumn
from accordant.evaluation.remarks import remarks
from accordant.evaluation.scored_lines import ScoredLines, with_limits
from accordant.evidence import Evidence
from accordant.json_values import finite
from accordant.metrics.metric import GroupValue, Range
from accordant.statistics import Estimate, wilson


def evaluate(
    decisions: Mapping[str, Decisions],
    kinds: Mapping[str, str],
    evidence: Evidence,
    metrics: WeightedMetrics,
    *,
    candidates: Sequence[str],
    selectable: Sequence[str] | None = None,
    generator: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
    normalisation: Normalisation = "natural",
    ranges: DeclaredRanges | None = None,
    refits: Sequence[Mapping[str, Decisions]] = (),
    n_jobs: int = 1,
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
        Names of the strategies that can come first; with ``relative`` and ``reference`` they also define the scale.
    selectable
        Names of those that may be chosen by their score on these contexts; None for all candidates.
    generator
        Source of the resamples; the same state gives the same leaderboard.
    resamples
        Number of bootstrap resamples of contexts; 0 for none.
    level
        Coverage of the intervals, and of the set of candidates that contains the best.
    normalisation
        ``natural``, ``relative`` or ``reference``, see `accordant.evaluation.composite`.
    ranges
        Label to the range of its metric on the ``natural`` scale, for a total per context, where it is not the
        metric's own.
    refits
        What the same strategies decide on the same contexts if their models are fitted without each of several parts of
        the data. Where decisions on held-out parts stand for those of models fitted on all, intervals are widened by
        what refitting changes; empty where the decisions are those of the models themselves.
    n_jobs
        Processes for the refits.

    Raises
    ------
    InputError
        If names, weights, ranges, decisions or metrics do not fit.
    """
    if not metrics:
        raise InputError("no metrics; a leaderboard needs at least one")
    check_lines(decisions, kinds, candidates)
    statistics = Statistics.of(decisions, evidence, {label: metric for label, (metric, _) in metrics.items()})
    others = [dataclasses.replace(statistics, decisions=tuple(refit[name] for name in decisions)) for refit in refits]
    draw = partial(_drawn, statistics, resamples, generator)
    tasks: list[Callable[[], Any]] = [draw, *(other.all_results for other in others)]  # the longest first
    done: list[Any] = run_all(tasks, n_jobs, "scoring on resamples") if others else [draw()]
    drawn, generator.bit_generator.state = done[0]
    return compared(
        Summary.of(statistics), kinds, drawn, metrics, candidates=candidates, selectable=selectable, level=level,
        normalisation=normalisation, ranges=ranges, refitted=done[1:],
    )  # fmt: skip


def check_lines(decisions: Mapping[str, Decisions], kinds: Mapping[str, str], candidates: Sequence[str]) -> None:
    """Raise UnknownNameError for a candidate without decisions, and for decisions of a strategy without a kind."""
    for name in candidates:
        if name not in decisions:
            raise UnknownNameError("candidate strategy", name, decisions)
    for name in decisions:
        if name not in kinds:
            raise UnknownNameError("strategy without a kind:", name, kinds)


def _drawn(
    statistics: Statistics, resamples: int, generator: np.random.Generator
) -> tuple[Resampled | None, Mapping[str, Any]]:
    """Return the metrics on resamples, and the state in which that leaves the generator, wherever it is done."""
    own = copy.deepcopy(generator)
    drawn = resampled(statistics, resamples=resamples, generator=own) if resamples else None
    return drawn, own.bit_generator.state


def compared(
    summary: Summary, kinds: Mapping[str, str], drawn: Resampled | None, metrics: WeightedMetrics, *,
    candidates: Sequence[str], selectable: Sequence[str] | None, level: float, normalisation: Normalisation,
    ranges: DeclaredRanges | None, refitted: Sequence[Results] = (),
) -> Leaderboard:  # fmt: skip
    """Return the leaderboard of strategies of which everything is known that it needs; see `evaluate`.

    Parameters
    ----------
    summary
        Values of all metrics.
    drawn
        The same on resamples; None for no intervals.
    refitted
        Values with models that are fitted without each of several parts of the data.
    kinds, metrics, candidates, selectable, level, normalisation, ranges
        See `evaluate`.
    """
    inside = [name in candidates for name in summary.names]
    scale = CompositeScale.on(metrics, summary.ranges, summary.n, inside, normalisation, ranges or {})
    able = np.array([name in (candidates if selectable is None else selectable) for name in summary.names])
    return _leaderboard(ScoredLines(summary, kinds, scale, able, drawn, level, refitted))


def _leaderboard(lines: ScoredLines) -> Leaderboard:
    """Return the leaderboard of lines of which everything is known."""
    rows, columns = _rows(lines), _columns(lines)
    constant = None if lines.best_constant is None else lines.names[lines.best_constant]
    always = dict(zip(lines.names, lines.summary.always, strict=True))
    words = remarks(rows, columns, constant, always, lines.summary.n, resampled=bool(len(lines.sampled)))
    return Leaderboard(
        rows, columns, lines.summary.n, len(lines.sampled), lines.level, lines.scale.normalisation, constant,
        words, lines.chosen_score(),
    )  # fmt: skip


def _columns(lines: ScoredLines) -> tuple[MetricColumn, ...]:
    """Return how each metric enters the score."""
    places = np.flatnonzero(lines.scale.candidates & (lines.leader == np.arange(len(lines.names))))
    parts = lines.point.weights * _spread(lines.point.normalised[places])
    shares = parts / parts.sum() if parts.sum() > 0 else np.zeros(len(lines.point.weights))
    natural = lines.scale.normalisation == "natural"
    return tuple(
        MetricColumn(
            label, metric.goal, float(lines.point.weights[m]), lines.uninformative(m), metric.describe(),
            float(shares[m]), lines.scale.ranges[m] if natural else None,
        )
        for m, (label, (metric, _)) in enumerate(lines.scale.metrics.items())
    )  # fmt: skip


def _rows(lines: ScoredLines) -> tuple[LeaderboardRow, ...]:
    """Return the rows, best first, unranked last."""
    scores = lines.point.scores
    constant = -np.inf if lines.best_constant is None else scores[lines.best_constant]
    estimates, among, cells = lines.estimates, lines.among_best(), _cells(lines)
    rows = [
        LeaderboardRow(
            strategy=name,
            kind=lines.kinds[name],
            candidate=bool(lines.scale.candidates[s]),
            score=estimates[s],
            among_best=among[s],
            alike=None if lines.leader[s] == s else lines.names[lines.leader[s]],
            tied=float(lines.summary.tied[s]),
            below_best_constant=bool(scores[s] < constant - EQUAL),
            metrics=cells[s],
            overlap=lines.support.overlaps[s] if lines.estimated else None,
        )
        for s, name in enumerate(lines.names)
    ]
    best = None if lines.best is None else lines.names[lines.best]
    order = {row.strategy: -np.inf if row.score.value is None else row.score.value for row in rows}
    if best is not None:  # equals differ by rounding
        order[best] = max(order[row.strategy] for row in rows if row.candidate)
    return tuple(sorted(rows, key=lambda row: (-order[row.strategy], row.strategy != best)))


def _cells(lines: ScoredLines) -> list[dict[str, MetricCell]]:
    """Return each strategy's cells by metric label."""
    rows = []
    for s in range(len(lines.names)):
        cells = {}
        for m, label in enumerate(lines.scale.metrics):
            result = lines.summary.results[s][label]
            estimate = Estimate(finite(lines.raw[s, m]), n=result.n)
            if lines.limits is not None and lines.drawn is not None:
                ends = lines.limits.low[s, m], lines.limits.high[s, m]
                if lines.choice is not None and lines.choice.concerns[s] and not np.isnan(ends[0]):
                    excess = lines.choice.excess(lines.raw[:, m], lines.drawn.values[:, :, m], lines.level)
                    ends = _wider(ends, excess, lines.summary.ranges[label])
                estimate = with_limits(
                    result.value, ends, lines.level, result.n, float(lines.limits.undefined[s, m]),
                    lines.limits.reasons[s][m],
                )  # fmt: skip
            groups = tuple(_group(lines, group) for group in result.by_group)
            normalised = finite(lines.point.normalised[s, m])
            cells[label] = MetricCell(estimate, normalised, result.n, result.reason or estimate.reason, groups)
        rows.append(cells)
    return rows


def _group(lines: ScoredLines, group: GroupValue) -> GroupEstimate:
    """Return a rate in one group with the interval of a share."""
    if group.value is None or lines.drawn is None:
        return GroupEstimate(group.rate, group.label, Estimate(group.value, n=group.n), group.n)
    low, high = wilson(group.value, group.n * lines.summary.independent / lines.summary.n, lines.level)
    estimate = Estimate(group.value, float(low), float(high), lines.level, group.n, 0.0)
    return GroupEstimate(group.rate, group.label, estimate, group.n)


def _wider(ends: tuple[float, float], excess: tuple[float, float], span: Range | None) -> tuple[float, float]:
    """Return limits that are moved apart, no farther than the range of the metric."""
    low, high = ends[0] - excess[0], ends[1] + excess[1]
    return (low, high) if span is None else (min(ends[0], max(low, span[0])), max(ends[1], min(high, span[1])))


def _spread(values: Values) -> Values:
    """Return the standard deviation over rows, NaN left out, shape (column,); 0 for columns without values."""
    known = ~np.isnan(values)
    n = np.maximum(known.sum(axis=0), 1)
    deviations = np.where(known, values - np.where(known, values, 0.0).sum(axis=0) / n, 0.0)
    return np.asarray(np.sqrt(np.square(deviations).sum(axis=0) / n))
