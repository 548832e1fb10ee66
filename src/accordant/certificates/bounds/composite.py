"""Bounds of a composite score on frozen scales: the weighted sum of metrics, normalised over candidate strategies.

The scales come from the same decisions as the metrics, so an attack moves them too. Two questions can be asked:

    frozen scales    taken once, on honest reports: `composite_bounds` (composite scores are sums of metrics again)
    live scales      as the attack leaves them: `live_composite` in moving_ranges.py (sound; exact only by chance)

Composite score: Vineis, Perelli and Tolomei (2025, Definition 11); bounds are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accordant.certificates.bounds.bound import Bounds, bound_of
from accordant.certificates.bounds.rule_choices import Attackable, attackable, known_from
from accordant.certificates.bounds.scales import Scale, composite_expression
from accordant.certificates.bounds.target import Subject, subject_of
from accordant.certificates.reports import Known
from accordant.certificates.threat import UNIT, Threat, checked_coalition
from accordant.decisions import Decisions
from accordant.evidence import Evidence
from accordant.metrics.metric import Goal
from accordant.metrics.weights import weighted_metrics
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards


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
        return replace(self, subjects={label: each.about(decisions) for label, each in self.subjects.items()})

    def composite(self, scales: Mapping[str, Scale]) -> Subject:
        """Return the composite score on given scales, for decisions that do not follow the log unless `about` some."""
        parts = {label: subject.expression for label, subject in self.subjects.items()}
        return Subject("composite", composite_expression(parts, self.weights, scales))

    def scales(self, attacked: Sequence[Attackable]) -> dict[str, Scale]:
        """Return the min–max scales over candidates on honest reports."""
        bases = [each.outer.base for each in attacked]
        return {
            label: Scale.over(
                np.array([subject.about(base).nominal(base) for base in bases], dtype=np.float64), self.goals[label]
            )
            for label, subject in self.subjects.items()
        }


def composite_bounds(
    rule: Strategy,
    expected: ExpectedRewards,
    metrics: Mapping[Any, Any] | None,
    scales: Mapping[str, Scale],
    *,
    delta: float,
    coalition: Sequence[str] | None = None,
    box: tuple[float, float] = UNIT,
    frozen: bool = False,
    evidence: Evidence | None = None,
    at_most: int | None = None,
    known: Known | None = None,
) -> Bounds:
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
