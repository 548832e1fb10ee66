"""Composite scores while misreports move the scales of the metrics too: every strategy in its own range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.certificates.bounds.bound import bound_of
from accordant.certificates.bounds.composite import Criteria
from accordant.certificates.bounds.rule_choices import Attackable, attackable, known_from
from accordant.certificates.bounds.scales import EQUAL
from accordant.certificates.bounds.target import Subject
from accordant.certificates.reports import Known
from accordant.certificates.threat import UNIT, Threat, checked_coalition
from accordant.evidence import Evidence
from accordant.metrics.combinations import magnitude
from accordant.metrics.metric import Goal
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards


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
    rules: Sequence[Strategy],
    expected: ExpectedRewards,
    metrics: Mapping[Any, Any] | None = None,
    *,
    delta: float,
    coalition: Sequence[str] | None = None,
    box: tuple[float, float] = UNIT,
    frozen: bool = False,
    evidence: Evidence | None = None,
    at_most: int | None = None,
    known: Known | None = None,
) -> LiveComposite:
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
        found = [bound_of(_oriented(subject.about(each.outer.base), criteria.goals[label]), each) for each in attacked]
        first, last = (
            np.array([np.nan if each.may_be_undefined else end for each, end in pairs], dtype=np.float64)
            for pairs in ([(each, each.low) for each in found], [(each, each.high) for each in found])
        )
        ends = (first, last) if sign > 0 else (-last, -first)
        worst, best = live_range(*ends)
        low, high = low + criteria.weights[label] * worst, high + criteria.weights[label] * best
    scales, bases = criteria.scales(attacked), [each.outer.base for each in attacked]
    nominal = np.array([criteria.about(base).composite(scales).nominal(base) for base in bases], dtype=np.float64)
    return LiveComposite(tuple(each.rule.label for each in attacked), low, high, nominal)


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
        lows[j] = _placed(low[j], high[others]) if others.any() else 1.0
        highs[j] = _placed(high[j], low[others]) if others.any() else 1.0
        if meet and others.any():
            highs[j] = 1.0
            lows[j] = 0.0 if low[j] < high[others].max() else lows[j]
    return lows, highs


def _placed(x: float, others: Values) -> float:
    """Return where x is between the smallest and largest of itself and the others; 1 if they are all equal."""
    bottom, top = min(x, float(others.min())), max(x, float(others.max()))
    return 1.0 if top - bottom <= EQUAL * max(1.0, abs(bottom), abs(top)) else (x - bottom) / (top - bottom)


def _oriented(subject: Subject, goal: Goal) -> Subject:
    """Return the subject of which more or less is better: its size where the goal is ``zero``."""
    return Subject(subject.label, magnitude(subject.expression)) if goal == "zero" else subject
