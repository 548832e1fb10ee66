"""`evaluate`: from decisions and weighted metrics to a leaderboard."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.compute.fan_out import run_all
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.bootstrap import Choice, Resampled, Statistics, first_of, resampled
from accordant.evaluation.composite import (
    EQUAL,
    Composite,
    CompositeScale,
    DeclaredRanges,
    Normalisation,
    WeightedMetrics,
)
from accordant.evaluation.intervals import MetricLimits, Results, Summary, Support, metric_limits, score_limits
from accordant.evaluation.leaderboard import GroupEstimate, Leaderboard, LeaderboardRow, MetricCell, MetricColumn
from accordant.evaluation.remarks import remarks
from accordant.evidence import Evidence
from accordant.json_values import finite
from accordant.metrics.metric import GroupValue, MetricResult, Range
from accordant.statistics import Estimate, best_set, refit_variance, widened, wilson
from accordant.statistics.comparison import ALIKE, first_alike


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
    for name in candidates:
        if name not in decisions:
            raise UnknownNameError("candidate strategy", name, decisions)
    for name in decisions:
        if name not in kinds:
            raise UnknownNameError("strategy without a kind:", name, kinds)
    statistics = Statistics.of(decisions, evidence, {label: metric for label, (metric, _) in metrics.items()})
    others = [dataclasses.replace(statistics, decisions=tuple(each[name] for name in decisions)) for each in refits]
    draw = partial(_drawn, statistics, resamples, generator)
    tasks: list[Callable[[], Any]] = [draw, *(each.all_results for each in others)]  # the longest first
    done: list[Any] = run_all(tasks, n_jobs, "scoring on resamples") if others else [draw()]
    drawn, generator.bit_generator.state = done[0]
    return compared(
        Summary.of(statistics), kinds, drawn, metrics, candidates=candidates, selectable=selectable, level=level,
        normalisation=normalisation, ranges=ranges, refitted=done[1:],
    )  # fmt: skip


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
    return _Board(summary, kinds, scale, able, drawn, level, refitted).leaderboard()


@dataclass(frozen=True, eq=False)
class _Board:
    """Everything known about all lines, from which the leaderboard is made."""

    summary: Summary
    kinds: Mapping[str, str]
    scale: CompositeScale
    selectable: Mask
    drawn: Resampled | None
    level: float
    refitted: Sequence[Results]

    @property
    def names(self) -> tuple[str, ...]:
        """The strategies."""
        return self.summary.names

    @cached_property
    def raw(self) -> Values:
        """Raw values, shape (strategy, metric), NaN for None."""
        return raw_values(self.summary.results)

    @cached_property
    def refits(self) -> Values:
        """Raw values after refitting, shape (refit, strategy, metric)."""
        return np.array([raw_values(each) for each in self.refitted]).reshape(-1, *self.raw.shape)

    @cached_property
    def point(self) -> Composite:
        """Scores on all contexts."""
        return self.scale.scores(self.raw)

    @cached_property
    def sampled(self) -> Values:
        """Scores on resamples, shape (resample, strategy)."""
        return np.zeros((0, len(self.names))) if self.drawn is None else self.scale.scores(self.drawn.values).scores

    @property
    def support(self) -> Support:
        """How far the log supports each strategy."""
        return self.summary.support

    @property
    def estimated(self) -> bool:
        """Whether a metric that carries weight is estimated from decisions of others."""
        return bool((self.support.estimated & (self.point.weights > 0)).any())

    @cached_property
    def limits(self) -> MetricLimits | None:
        """Intervals of the metrics."""
        if self.drawn is None:
            return None
        return metric_limits(self.summary, self.drawn, self.scale.ranges, self.level, refit_variance(self.refits))

    @cached_property
    def leader(self) -> NDArray[np.intp]:
        """The candidate that stands for each line, itself or one that decides alike, shape (strategy,)."""
        found = np.arange(len(self.names), dtype=np.intp)
        places = np.flatnonzero(self.scale.candidates)
        places = places[np.argsort([self.kinds[self.names[s]] != "baseline" for s in places], kind="stable")]
        share = self.summary.agreement
        found[places] = places[
            first_alike(len(places), lambda one, other: share(int(places[one]), int(places[other])) >= ALIKE)
        ]
        return found

    @cached_property
    def comparable(self) -> Mask:
        """Which lines are compared: candidates whose score has an interval and enough support, shape (strategy,)."""
        able = self.scale.candidates & (self.leader == np.arange(len(self.names)))
        if self.estimated:
            able &= np.array([each is None or not each.poor for each in self.support.overlaps])
        return np.asarray(able & np.array([not self.withheld(s) for s in range(len(self.names))]))

    def withheld(self, s: int) -> str:
        """Return why the score of a strategy has no interval: a reason of a metric that carries weight."""
        if self.limits is None:
            return ""
        reasons = zip(self.scale.metrics.values(), self.limits.reasons[s], strict=True)
        return next((reason for (_, weight), reason in reasons if weight > 0 and reason), "")

    @property
    def best(self) -> int | None:
        """Position of the candidate with the highest score; None if all are unranked.

        Among equals a baseline comes first: a strategy that only equals it has not earned its cost.
        """
        baseline = np.array([self.kinds[name] == "baseline" for name in self.names])
        first, plain = (
            first_of(self.point.scores, allowed)
            for allowed in (self.scale.candidates, self.scale.candidates & baseline)
        )
        if first is None or plain is None or self.point.scores[plain] < self.point.scores[first] - EQUAL:
            return first
        return plain

    @property
    def best_constant(self) -> int | None:
        """Position of the constant baseline with the highest score; None if there is none."""
        lines = zip(self.names, self.summary.always, strict=True)
        constant = np.array([self.kinds[name] == "baseline" and each is not None for name, each in lines])
        return first_of(self.point.scores, constant & self.scale.candidates)

    def leaderboard(self) -> Leaderboard:
        """Return the leaderboard."""
        rows, columns = self.rows(), self.columns()
        constant = None if self.best_constant is None else self.names[self.best_constant]
        always = dict(zip(self.names, self.summary.always, strict=True))
        words = remarks(rows, columns, constant, always, self.summary.n, resampled=bool(len(self.sampled)))
        return Leaderboard(
            rows, columns, self.summary.n, len(self.sampled), self.level, self.scale.normalisation, constant,
            words, self.chosen_score(),
        )  # fmt: skip

    def columns(self) -> tuple[MetricColumn, ...]:
        """Return how each metric enters the score."""
        places = np.flatnonzero(self.scale.candidates & (self.leader == np.arange(len(self.names))))
        parts = self.point.weights * _spread(self.point.normalised[places])
        shares = parts / parts.sum() if parts.sum() > 0 else np.zeros(len(self.point.weights))
        natural = self.scale.normalisation == "natural"
        return tuple(
            MetricColumn(
                label, metric.goal, float(self.point.weights[m]), self._uninformative(m), metric.describe(),
                float(shares[m]), self.scale.ranges[m] if natural else None,
            )
            for m, (label, (metric, _)) in enumerate(self.scale.metrics.items())
        )  # fmt: skip

    def _uninformative(self, m: int) -> bool:
        """Whether no candidate differs from another on a metric by more than its noise, all compared together."""
        if self.drawn is None or bool(self.point.uninformative[m]):
            return bool(self.point.uninformative[m])
        turned = self.scale.metrics[tuple(self.scale.metrics)[m]][0].goal
        values, drawn = (
            np.abs(each) if turned == "zero" else each for each in (self.raw[:, m], self.drawn.values[:, :, m])
        )
        span = self.scale.ranges[m]
        error = 0.0 if span is None else (span[1] - span[0]) / self.summary.independent
        drawn = widened(drawn, self.summary.drawn_from, self.level)
        found = best_set(values, drawn, level=self.level, able=self.comparable, error=error)
        return bool(found.compared.sum() > 1 and found.member[found.compared].all())

    def rows(self) -> tuple[LeaderboardRow, ...]:
        """Return the rows, best first, unranked last."""
        scores = self.point.scores
        constant = -np.inf if self.best_constant is None else scores[self.best_constant]
        estimates, among, cells = self.estimates, self._among_best(), self._cells()
        rows = [
            LeaderboardRow(
                strategy=name,
                kind=self.kinds[name],
                candidate=bool(self.scale.candidates[s]),
                score=estimates[s],
                among_best=among[s],
                alike=None if self.leader[s] == s else self.names[self.leader[s]],
                tied=float(self.summary.tied[s]),
                below_best_constant=bool(scores[s] < constant - EQUAL),
                metrics=cells[s],
                overlap=self.support.overlaps[s] if self.estimated else None,
            )
            for s, name in enumerate(self.names)
        ]
        best = None if self.best is None else self.names[self.best]
        order = {row.strategy: -np.inf if row.score.value is None else row.score.value for row in rows}
        if best is not None:  # equals differ by rounding
            order[best] = max(order[row.strategy] for row in rows if row.candidate)
        return tuple(sorted(rows, key=lambda row: (-order[row.strategy], row.strategy != best)))

    @cached_property
    def estimates(self) -> list[Estimate]:
        """Return the score of each strategy with its interval, which does not depend on who else is listed."""
        if self.drawn is None or self.limits is None:
            return [Estimate(finite(score)) for score in self.point.scores]
        counted = self.point.weights > 0
        cases = self.support.cases(self.summary.drawn_from)[:, counted].min(axis=1)
        low, high = score_limits(
            self.point.scores, self.sampled, self.limits, self.raw, self.scale.slopes(self.raw),
            [metric.goal for metric, _ in self.scale.metrics.values()], self.support, cases, self.level,
            refit_variance(self.scale.scores(self.refits).scores),
        )  # fmt: skip
        undefined = np.isnan(self.sampled).mean(axis=0)
        return [
            _estimate(
                finite(score), (low[s], high[s]), self.level, float(self.summary.n), float(undefined[s]),
                self.withheld(s),
            )
            for s, score in enumerate(self.point.scores)
        ]  # fmt: skip

    def _among_best(self) -> list[bool | None]:
        """Return for each strategy whether it is in the set that contains the best."""
        if not len(self.sampled):
            return [None] * len(self.names)
        found = best_set(
            self.point.scores, widened(self.sampled, self.summary.drawn_from, self.level),
            level=self.level, able=self.comparable, error=1 / self.summary.independent,
        )  # fmt: skip
        return [
            bool(found.member[self.leader[s]]) if self.scale.candidates[s] and found.compared[self.leader[s]] else None
            for s in range(len(self.names))
        ]

    def chosen_score(self) -> Estimate | None:
        """Return the score of the best selectable line, corrected for having been chosen on these contexts.

        The optimism of choosing is estimated by choosing anew in every resample and comparing the score there with that
        on all contexts (Efron 1983, for a choice among fixed rules).
        """
        if self.choice is None or self.withheld(self.choice.line):
            return None
        single, score = self.estimates[self.choice.line], float(self.point.scores[self.choice.line])
        if single.low is None or single.high is None:
            return None
        below, above = self.choice.excess(self.point.scores, self.sampled, self.level)
        optimism = self.choice.optimism(self.point.scores, self.sampled)
        return Estimate(score - optimism, single.low - below, single.high + above, self.level, single.n)

    @cached_property
    def choice(self) -> Choice | None:
        """The best selectable line and how it is chosen; None if there is none, or nothing is resampled."""
        return Choice.of(self.point.scores, self.sampled, self.selectable, self.leader) if len(self.sampled) else None

    def _cells(self) -> list[dict[str, MetricCell]]:
        """Return each strategy's cells by metric label."""
        rows = []
        for s in range(len(self.names)):
            cells = {}
            for m, label in enumerate(self.scale.metrics):
                result = self.summary.results[s][label]
                estimate = Estimate(finite(self.raw[s, m]), n=result.n)
                if self.limits is not None and self.drawn is not None:
                    ends = self.limits.low[s, m], self.limits.high[s, m]
                    if self.choice is not None and self.choice.concerns[s] and not np.isnan(ends[0]):
                        excess = self.choice.excess(self.raw[:, m], self.drawn.values[:, :, m], self.level)
                        ends = _wider(ends, excess, self.summary.ranges[label])
                    estimate = _estimate(
                        result.value, ends, self.level, result.n, float(self.limits.undefined[s, m]),
                        self.limits.reasons[s][m],
                    )  # fmt: skip
                groups = tuple(self._group(each) for each in result.by_group)
                normalised = finite(self.point.normalised[s, m])
                cells[label] = MetricCell(estimate, normalised, result.n, result.reason or estimate.reason, groups)
            rows.append(cells)
        return rows

    def _group(self, group: GroupValue) -> GroupEstimate:
        """Return a rate in one group with the interval of a share."""
        if group.value is None or self.drawn is None:
            return GroupEstimate(group.rate, group.label, Estimate(group.value, n=group.n), group.n)
        low, high = wilson(group.value, group.n * self.summary.independent / self.summary.n, self.level)
        estimate = Estimate(group.value, float(low), float(high), self.level, group.n, 0.0)
        return GroupEstimate(group.rate, group.label, estimate, group.n)


def _wider(ends: tuple[float, float], excess: tuple[float, float], span: Range | None) -> tuple[float, float]:
    """Return limits that are moved apart, no farther than the range of the metric."""
    low, high = ends[0] - excess[0], ends[1] + excess[1]
    return (low, high) if span is None else (min(ends[0], max(low, span[0])), max(ends[1], min(high, span[1])))


def raw_values(results: Sequence[Mapping[str, MetricResult]]) -> Values:
    """Return the values of results by strategy and label, shape (strategy, metric), NaN for None."""
    found = [[np.nan if each.value is None else each.value for each in row.values()] for row in results]
    return np.array(found, dtype=np.float64)


def _spread(values: Values) -> Values:
    """Return the standard deviation over rows, NaN left out, shape (column,); 0 for columns without values."""
    known = ~np.isnan(values)
    n = np.maximum(known.sum(axis=0), 1)
    deviations = np.where(known, values - np.where(known, values, 0.0).sum(axis=0) / n, 0.0)
    return np.asarray(np.sqrt(np.square(deviations).sum(axis=0) / n))


def _estimate(
    value: float | None, ends: tuple[float, float], level: float, n: float, undefined: float, reason: str
) -> Estimate:
    """Return a value with its interval, or without it and why."""
    if value is None or reason:
        return Estimate(value, n=n, undefined=undefined, reason=reason)
    return Estimate(value, finite(ends[0]), finite(ends[1]), level, n, undefined)
