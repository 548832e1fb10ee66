"""Bounds of a composite score: the weighted sum of metrics, each normalised over candidate strategies.

The scales come from the same decisions as the metrics, so an attack moves them too. Two questions can be asked:

    frozen scales    taken once, on honest reports: `composite_bounds` (composite scores are sums of metrics again)
    live scales      as the attack leaves them: `live_composite` (sound; exact only by chance)

Composite score: Vineis, Perelli and Tolomei (2025, Definition 11); bounds are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from accordant.arrays import Values
from accordant.certificates.bounds.bound import Bounds, bound_of, ends_of
from accordant.certificates.bounds.rule_choices import Attackable, attackable, known_from
from accordant.certificates.bounds.target import Subject, subject_of
from accordant.certificates.reports import Known
from accordant.certificates.threat import UNIT, Threat, checked_coalition
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.evidence import Evidence
from accordant.metrics.expressions import Expression, magnitude, together
from accordant.metrics.metric import Goal, weighted_metrics
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

EQUAL = 1e-12  # ranges up to this, relative to max(1, |s|), are rounding
FLOOR = 1e-9  # smallest divisor in the official code of the paper


@dataclass(frozen=True)
class Scale:
    """How a metric is put on the scale of a composite score.

    Attributes
    ----------
    goal
        What is better: ``max``, ``min`` or ``zero``.
    low, high
        Smallest and largest value, over the candidates or as declared; of |s| for ``zero``.
    normalisation
        ``relative``: from 0 at the worse end to 1 at the better one, 1 for all if both are equal. ``reference``: as in
        the official code of the paper.
    raw
        Whether the metric stays as it is, as accuracy does with ``reference``.
    """

    goal: Goal
    low: float
    high: float
    normalisation: Literal["relative", "reference"] = "relative"
    raw: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InputError(f"scale from {self.low} to {self.high}; allowed: low at most high")

    @classmethod
    def over(cls, values: Values, goal: Goal) -> Scale:
        """Return the min–max scale over the values of candidates; values that are not defined do not count."""
        size = np.abs(values) if goal == "zero" else values
        size = size[~np.isnan(size)]
        return cls(goal, float(size.min()), float(size.max())) if len(size) else cls(goal, 0.0, 0.0)

    @property
    def line(self) -> tuple[float, float]:
        """Offset and slope: the normalised value is offset + slope × s, or × |s| if the goal is ``zero``."""
        span = self.high - self.low
        if self.raw:
            return 0.0, 1.0
        if self.normalisation == "reference":
            if self.goal == "zero":
                return 1.0, -1 / max(self.high, FLOOR)
            span = max(span, FLOOR)
        elif span <= EQUAL * max(1.0, abs(self.low), abs(self.high)):
            return 1.0, 0.0
        return (-self.low / span, 1 / span) if self.goal == "max" else (self.high / span, -1 / span)


def composite_expression(
    parts: Mapping[str, Expression], weights: Mapping[str, float], scales: Mapping[str, Scale]
) -> Expression:
    """Return Σ_h w_h × normalised metric h as an expression.

    Parameters
    ----------
    parts, weights
        Metrics and their weights, by label.
    scales
        Scales, by the same labels.

    Raises
    ------
    UnknownNameError
        If a metric with a weight has no scale.
    """
    offset, terms, slopes = 0.0, [], []
    for label, part in parts.items():
        if label not in scales:
            raise UnknownNameError("metric with a scale:", label, tuple(scales))
        start, slope = scales[label].line
        offset += weights[label] * start
        terms.append(magnitude(part) if scales[label].goal == "zero" and not scales[label].raw else part)
        slopes.append(weights[label] * slope)
    return together(terms, slopes, offset)


@dataclass(frozen=True, eq=False)
class Criteria:
    """The metrics of a composite score on some evidence.

    Attributes
    ----------
    subjects
        Metrics with a weight above 0, by label.
    weights
        Their weights.
    goals
        Their goals.
    """

    subjects: Mapping[str, Subject]
    weights: Mapping[str, float]
    goals: Mapping[str, Goal]

    @classmethod
    def of(cls, metrics: Mapping[Any, Any] | None, expected: ExpectedRewards, evidence: Evidence | None) -> Criteria:
        """Return the criteria that `weighted_metrics` understands, on E or on evidence."""
        counted = {label: pair for label, pair in weighted_metrics(metrics).items() if pair[1] > 0}
        return cls(
            {label: subject_of(metric, expected, evidence, label) for label, (metric, _) in counted.items()},
            {label: weight for label, (_, weight) in counted.items()},
            {label: metric.goal for label, (metric, _) in counted.items()},
        )

    def about(self, decisions: Decisions) -> Criteria:
        """Return the criteria as they are for some decisions; see `Subject.about`."""
        return replace(self, subjects={label: subject.about(decisions) for label, subject in self.subjects.items()})

    def composite(self, scales: Mapping[str, Scale]) -> Subject:
        """Return the composite score on given scales, for decisions that do not follow the log unless `about` some."""
        parts = {label: subject.expression for label, subject in self.subjects.items()}
        return Subject("composite", composite_expression(parts, self.weights, scales))

    def scales(self, attacked: Sequence[Attackable]) -> dict[str, Scale]:
        """Return the min–max scales over candidates on honest reports."""
        bases = [target.outer.base for target in attacked]
        return {
            label: Scale.over(
                np.array([subject.about(base).nominal(base) for base in bases], dtype=np.float64), self.goals[label]
            )
            for label, subject in self.subjects.items()
        }


def composite_bounds(
    rule: Strategy, expected: ExpectedRewards, metrics: Mapping[Any, Any] | None, scales: Mapping[str, Scale], *,
    delta: float, coalition: Sequence[str] | None = None, box: tuple[float, float] = UNIT, frozen: bool = False,
    evidence: Evidence | None = None, at_most: int | None = None, known: Known | None = None,
) -> Bounds:  # fmt: skip
    """Return what misreports can make of a composite score whose scales stay as they are.

    The low end is exact where reachable sets are, as long as metrics are sums, sizes of sums (goal ``zero``), gaps or
    smallest ones of sums; the high end is sound.

    Parameters
    ----------
    rule, expected
        Any strategy; E, honestly reported.
    metrics
        Metric, or name, to weight; or label to (metric, weight); weights sum to 1.
    scales
        A scale per label of a metric with a weight above 0; see `honest_scales`.
    delta, coalition, box, frozen, evidence, at_most, known
        See `bounds`.
    """
    threat = Threat(delta, checked_coalition(coalition), box, frozen)
    criteria = Criteria.of(metrics, expected, evidence)
    attacked = attackable(rule, expected, threat, at_most=at_most, known=known_from(known, evidence))
    return bound_of(criteria.about(attacked.outer.base).composite(scales), attacked)


def honest_scales(
    rules: Sequence[Strategy],
    expected: ExpectedRewards,
    metrics: Mapping[Any, Any] | None,
    *,
    box: tuple[float, float] = UNIT,
    evidence: Evidence | None = None,
    known: Known | None = None,
) -> dict[str, Scale]:
    """Return the min–max scales that candidate strategies give on honest reports, by label of the metric."""
    known, nobody = known_from(known, evidence), Threat(0.0, (), box)
    attacked = [attackable(rule, expected, nobody, known=known) for rule in rules]
    return Criteria.of(metrics, expected, evidence).scales(attacked)


@dataclass(frozen=True, eq=False)
class LiveComposite:
    """Composite scores of several strategies while misreports move decisions and scales alike.

    Attributes
    ----------
    strategies
        Their labels.
    low, high
        No misreport gets past these, shape (strategy,); NaN if a metric may be undefined under attack.
    nominal
        Honest scores, shape (strategy,); NaN if a metric is not defined.
    """

    strategies: tuple[str, ...]
    low: Values
    high: Values
    nominal: Values


def live_composite(
    rules: Sequence[Strategy], expected: ExpectedRewards, metrics: Mapping[Any, Any] | None = None, *, delta: float,
    coalition: Sequence[str] | None = None, box: tuple[float, float] = UNIT, frozen: bool = False,
    evidence: Evidence | None = None, at_most: int | None = None, known: Known | None = None,
) -> LiveComposite:  # fmt: skip
    """Return what misreports can make of composite scores, all strategies being candidates that define the scales.

    Parameters
    ----------
    rules
        Candidate strategies.
    expected, metrics
        E, honestly reported; see `composite_bounds`.
    delta, coalition, box, frozen, evidence, at_most, known
        See `bounds`.
    """
    threat = Threat(delta, checked_coalition(coalition), box, frozen)
    criteria, known = Criteria.of(metrics, expected, evidence), known_from(known, evidence)
    attacked = [attackable(rule, expected, threat, at_most=at_most, known=known) for rule in rules]
    return live_scores(criteria, attacked)


def live_scores(criteria: Criteria, attacked: Sequence[Attackable]) -> LiveComposite:
    """Return what attacks can make of composite scores on live scales."""
    low, high = np.zeros((2, len(attacked)))
    for label, subject in criteria.subjects.items():
        sign = 1.0 if criteria.goals[label] == "max" else -1.0
        spans = [
            ends_of(_orient(subject.about(target.outer.base), criteria.goals[label]), target) for target in attacked
        ]
        first, last = (
            np.array([np.nan if span.may_be_undefined else end for span, end in pairs], dtype=np.float64)
            for pairs in ([(span, span.low) for span in spans], [(span, span.high) for span in spans])
        )
        ends = (first, last) if sign > 0 else (-last, -first)
        worst, best = live_range(*ends)
        low, high = low + criteria.weights[label] * worst, high + criteria.weights[label] * best
    scales, bases = criteria.scales(attacked), [target.outer.base for target in attacked]
    nominal = np.array([criteria.about(base).composite(scales).nominal(base) for base in bases], dtype=np.float64)
    return LiveComposite(tuple(target.rule.label for target in attacked), low, high, nominal)


def live_range(low: Values, high: Values) -> tuple[Values, Values]:
    """Return ranges of min–max normalised values when every strategy's value moves in its own range.

    With f(x, m, M) = (x − min(x, m)) / (max(x, M) − min(x, m)), which grows with x and falls with m and M, strategy j
    is between f(l_j, min of the others' highs, max of their highs) and f(h_j, min of their lows, max of their lows).
    Where all ranges share a point all values may be equal, and then every normalised value is 1.

    Parameters
    ----------
    low, high
        Ends of the ranges, more being better, shape (strategy,).
    """
    if np.isnan(low).any() or np.isnan(high).any():
        return (np.full(len(low), np.nan),) * 2
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return np.zeros(len(low)), np.ones(len(low))
    lows, highs = np.empty(len(low)), np.empty(len(low))
    first, last = low.max(initial=-np.inf), high.min(initial=np.inf)
    meet = first <= last + EQUAL * max(1.0, abs(first), abs(last))
    for j in range(len(low)):
        others = np.arange(len(low)) != j
        lows[j] = _place_between(low[j], high[others]) if others.any() else 1.0
        highs[j] = _place_between(high[j], low[others]) if others.any() else 1.0
        if meet and others.any():
            highs[j] = 1.0
            lows[j] = 0.0 if low[j] < high[others].max() else lows[j]
    return lows, highs


def _place_between(x: float, others: Values) -> float:
    """Return where x is between the smallest and largest of itself and the others; 1 if they are all equal."""
    bottom, top = min(x, float(others.min())), max(x, float(others.max()))
    return 1.0 if top - bottom <= EQUAL * max(1.0, abs(bottom), abs(top)) else (x - bottom) / (top - bottom)


def _orient(subject: Subject, goal: Goal) -> Subject:
    """Return the subject of which more or less is better: its size where the goal is ``zero``."""
    return Subject(subject.label, magnitude(subject.expression)) if goal == "zero" else subject
