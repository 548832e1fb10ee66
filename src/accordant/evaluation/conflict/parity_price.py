"""The price of a bound on a group gap: what every other metric and every stakeholder pays, bound by bound.

A bound on the gap in favourable rates is the parity constraint of `accordant.strategies.constraints`: the best
(randomised) decisions of a rule whose rates differ by no more. Gaps that condition on outcomes cannot be bounded this
way, because outcomes are not known when decisions are taken; each of them is listed with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation.conflict.totals import Totals
from accordant.evidence import Evidence
from accordant.json_values import fields_json, finite
from accordant.metrics.group import DemographicParity
from accordant.metrics.metric import Metric
from accordant.statistics import Estimate, percentile_interval
from accordant.strategies import Strategy
from accordant.strategies.constraints import Constrained, price_of

BOUNDS = 11  # tenths of the gap that the rule has by itself


@dataclass(frozen=True, eq=False)
class PricePoint:
    """One bound.

    Attributes
    ----------
    within
        The bound ε; None for the rule without a bound.
    values
        Metric to its value.
    change
        Metric to its value minus that without a bound, with a paired interval; 0 without a bound.
    rewards
        Stakeholder to its mean expected reward.
    score_lost
        Score of the rule lost per context, where it is finite with and without the bound.
    hopeless
        How many more contexts have score −inf because of the bound (expected number).
    changed
        Share of decisions that differ from those without a bound.
    reason
        Why the bound cannot be met; empty if it can. Then everything else is empty.
    """

    within: float | None
    values: Mapping[str, float | None]
    change: Mapping[str, Estimate]
    rewards: Mapping[str, float]
    score_lost: float | None
    hopeless: float | None
    changed: float | None
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        limits = {
            name: fields_json(estimate, "level", "n", "undefined", "reason") for name, estimate in self.change.items()
        }
        return fields_json(self) | {"change": limits}


@dataclass(frozen=True, eq=False)
class ParityPrice:
    """The price of bounding one metric.

    Attributes
    ----------
    metric
        Its label.
    rule
        Label of the rule that is bounded.
    attribute
        Column whose groups are compared; empty if the metric cannot be bounded.
    same
        Whether the constraint bounds the metric itself; else it bounds all pairs of groups, which implies it.
    reason
        Why the metric cannot be bounded; empty if it can.
    points
        From the rule without a bound to a bound of 0.
    """

    metric: str
    rule: str
    attribute: str
    same: bool
    reason: str
    points: tuple[PricePoint, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self)


@dataclass(frozen=True, eq=False)
class Bounded:
    """A rule under bounds on one gap, before metrics are read.

    Attributes
    ----------
    metric, rule, attribute, same, reason
        See `ParityPrice`.
    strategies
        Bound to the strategy that keeps it.
    decisions
        Name to decisions, for the bounds that can be met; the rule by itself under its label.
    failures
        Bound to the reason why it cannot be met.
    """

    metric: str
    rule: str
    attribute: str
    same: bool
    reason: str
    strategies: Mapping[float, Constrained]
    decisions: Mapping[str, Decisions]
    failures: Mapping[float, str]

    def name(self, within: float | None) -> str:
        """Return the name of the decisions under a bound."""
        return self.rule if within is None else f"{self.rule} with {self.metric} within {within:.4g}"


def bounded(label: str, metric: Metric, rule: Strategy, evidence: Evidence) -> Bounded:
    """Solve a rule under bounds from its own gap to 0.

    Parameters
    ----------
    label, metric
        A metric with goal ``zero``.
    rule
        Whose scores are maximised, fitted if it needs that.
    evidence
        Contexts and E.
    """
    reason = _reason(metric)
    if reason or not isinstance(metric, DemographicParity):
        return Bounded(label, rule.label, "", False, reason, {}, {}, {})
    attribute, favourable = metric.attributes[0], tuple(metric.actions) or evidence.problem.favourable_actions
    known = {"prediction": evidence.prediction, "log": evidence.log, "contexts": evidence.log.contexts}
    try:
        free = rule(evidence.expected, **known)  # type: ignore[arg-type]
        gap = _largest_gap(attribute, favourable, free, evidence)
        bounds = [*np.linspace(gap, 0.0, BOUNDS).tolist()] if gap > 0 else [0.0]
        strategies = {
            within: Constrained(rule, parity={"attribute": attribute, "within": within, "favourable": favourable})
            for within in bounds
        }
    except InputError as error:
        return Bounded(label, rule.label, attribute, False, str(error), {}, {}, {})
    decisions: dict[str, Decisions] = {rule.label: free}
    failures: dict[float, str] = {}
    bound = Bounded(label, rule.label, attribute, _same(metric, evidence), "", strategies, decisions, failures)
    for within, strategy in strategies.items():
        try:
            decisions[bound.name(within)] = strategy(evidence.expected, **known)  # type: ignore[arg-type]
        except InputError as error:
            failures[within] = str(error)
    return bound


def _reason(metric: Metric) -> str:
    """Return why no parity constraint bounds a metric, or nothing."""
    if not isinstance(metric, DemographicParity):
        return (
            f"{metric.name} does not compare shares of favourable actions alone, and no constraint on decisions bounds "
            "it without knowing outcomes"
        )
    if len(metric.attributes) > 1:
        return f"it compares intersections of {', '.join(metric.attributes)}, and the constraint reads one column"
    if isinstance(metric.actions, Mapping):
        return "it grades actions, and the constraint counts favourable ones"
    return ""


def _same(metric: DemographicParity, evidence: Evidence) -> bool:
    """Whether the largest gap between any two groups is the metric itself, up to its sign."""
    return metric.protected is None or len(evidence.groups(metric.attributes).labels) <= 2


def _largest_gap(attribute: str, favourable: tuple[str, ...], free: Decisions, evidence: Evidence) -> float:
    value = DemographicParity((attribute,), actions=favourable).evaluate(free, evidence).value
    if value is None:
        raise InputError(f"nothing to compare: {attribute} has a single group")
    return value


def price_curve(bound: Bounded, evidence: Evidence, point: Totals, drawn: Totals | None, level: float) -> ParityPrice:
    """Return the price of each bound, from sums on all contexts and on resamples of them.

    Parameters
    ----------
    bound
        From `bounded`.
    evidence
        Contexts and E.
    point, drawn
        Sums of its decisions on all contexts, and on resamples; None for no intervals.
    level
        Coverage.
    """
    points = []
    known = {"prediction": evidence.prediction, "log": evidence.log}
    for within in (None, *bound.strategies) if not bound.reason else ():
        if within is not None and within in bound.failures:
            points.append(PricePoint(within, {}, {}, {}, None, None, None, bound.failures[within]))
            continue
        decisions = bound.decisions[bound.name(within)]
        lost, hopeless, changed = 0.0, 0.0, 0.0
        if within is not None:
            price = price_of(bound.strategies[within], evidence.expected, contexts=evidence.log.contexts, **known)
            lost, hopeless, changed = price.score_lost_per_context, price.hopeless, price.changed
        values, change = _changes(bound, within, point, drawn, level)
        points.append(PricePoint(within, values, change, _rewards(decisions, evidence), lost, hopeless, changed))
    return ParityPrice(bound.metric, bound.rule, bound.attribute, bound.same, bound.reason, tuple(points))


def _changes(
    bound: Bounded, within: float | None, point: Totals, drawn: Totals | None, level: float
) -> tuple[dict[str, float | None], dict[str, Estimate]]:
    """Return the metrics under a bound, and their changes against no bound with paired intervals."""
    here, free = point.names.index(bound.name(within)), point.names.index(bound.name(None))
    values = point.values(point.sums[[here, free]])[:, 0]
    change = values[0] - values[1]
    low = high = np.full(len(change), np.nan)
    if drawn is not None:
        sampled = drawn.values(np.stack([drawn.row(bound.name(within)), drawn.row(bound.name(None))]))
        limits = percentile_interval(sampled[0] - sampled[1], level)
        low, high = limits.low, limits.high
    labels = tuple(point.statistics.metrics)
    return (
        {label: finite(values[0, m]) for m, label in enumerate(labels)},
        {label: Estimate(finite(change[m]), finite(low[m]), finite(high[m])) for m, label in enumerate(labels)},
    )


def _rewards(decisions: Decisions, evidence: Evidence) -> dict[str, float]:
    """Return each stakeholder's mean expected reward."""
    means = np.einsum("iat,at->i", evidence.expected.values, decisions.probabilities()) / evidence.n_contexts
    return dict(zip(evidence.expected.stakeholders, means.tolist(), strict=True))
