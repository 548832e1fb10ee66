"""`ScoredLines`: the scores of strategies that are compared, with all that says how far they can be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.evaluation.bootstrap import Choice, Resampled, first_of
from accordant.evaluation.composite import EQUAL, Composite, CompositeScale
from accordant.evaluation.intervals import MetricLimits, Results, Summary, Support, metric_limits, score_limits
from accordant.json_values import finite
from accordant.metrics.metric import MetricResult
from accordant.statistics import Estimate, best_set, refit_variance, widened
from accordant.statistics.comparison import ALIKE, first_alike


@dataclass(frozen=True, eq=False)
class ScoredLines:
    """Everything known about the lines of a leaderboard: scores, intervals, which are compared, and who is best.

    Attributes
    ----------
    summary
        Values of all metrics.
    kinds
        Strategy to its kind.
    scale
        How metrics become scores.
    selectable
        Which lines may be chosen by their score, shape (strategy,).
    drawn
        The values on resamples; None for no intervals.
    level
        Coverage of the intervals.
    refitted
        Values with models that are fitted without each of several parts of the data.
    """

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
        return np.array([raw_values(results) for results in self.refitted]).reshape(-1, *self.raw.shape)

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
        leaders = np.arange(len(self.names), dtype=np.intp)
        places = np.flatnonzero(self.scale.candidates)
        places = places[np.argsort([self.kinds[self.names[s]] != "baseline" for s in places], kind="stable")]
        share = self.summary.agreement
        leaders[places] = places[
            first_alike(len(places), lambda one, other: share(int(places[one]), int(places[other])) >= ALIKE)
        ]
        return leaders

    @cached_property
    def comparable(self) -> Mask:
        """Which lines are compared: candidates whose score has an interval and enough support, shape (strategy,)."""
        able = self.scale.candidates & (self.leader == np.arange(len(self.names)))
        if self.estimated:
            able &= np.array([overlap is None or not overlap.poor for overlap in self.support.overlaps])
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
        constant = np.array([self.kinds[name] == "baseline" and action is not None for name, action in lines])
        return first_of(self.point.scores, constant & self.scale.candidates)

    def uninformative(self, m: int) -> bool:
        """Whether no candidate differs from another on a metric by more than its noise, all compared together."""
        if self.drawn is None or bool(self.point.uninformative[m]):
            return bool(self.point.uninformative[m])
        turned = self.scale.metrics[tuple(self.scale.metrics)[m]][0].goal
        values, drawn = (
            np.abs(column) if turned == "zero" else column for column in (self.raw[:, m], self.drawn.values[:, :, m])
        )
        span = self.scale.ranges[m]
        error = 0.0 if span is None else (span[1] - span[0]) / self.summary.independent
        drawn = widened(drawn, self.summary.drawn_from, self.level)
        best = best_set(values, drawn, level=self.level, able=self.comparable, error=error)
        return bool(best.compared.sum() > 1 and best.member[best.compared].all())

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
            with_limits(
                finite(score), (low[s], high[s]), self.level, float(self.summary.n), float(undefined[s]),
                self.withheld(s),
            )
            for s, score in enumerate(self.point.scores)
        ]  # fmt: skip

    def among_best(self) -> list[bool | None]:
        """Return for each strategy whether it is in the set that contains the best."""
        if not len(self.sampled):
            return [None] * len(self.names)
        best = best_set(
            self.point.scores, widened(self.sampled, self.summary.drawn_from, self.level),
            level=self.level, able=self.comparable, error=1 / self.summary.independent,
        )  # fmt: skip
        return [
            bool(best.member[self.leader[s]]) if self.scale.candidates[s] and best.compared[self.leader[s]] else None
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


def raw_values(results: Sequence[Mapping[str, MetricResult]]) -> Values:
    """Return the values of results by strategy and label, shape (strategy, metric), NaN for None."""
    values = [[np.nan if result.value is None else result.value for result in row.values()] for row in results]
    return np.array(values, dtype=np.float64)


def with_limits(
    value: float | None, ends: tuple[float, float], level: float, n: float, undefined: float, reason: str
) -> Estimate:
    """Return a value with its interval, or without it and why."""
    if value is None or reason:
        return Estimate(value, n=n, undefined=undefined, reason=reason)
    return Estimate(value, finite(ends[0]), finite(ends[1]), level, n, undefined)
