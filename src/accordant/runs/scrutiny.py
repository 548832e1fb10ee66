"""Scrutiny of a finished run: how far its decisions and its choice of a strategy can be trusted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from accordant import randomness
from accordant.certificates import (
    Attack,
    Known,
    Threat,
    coordinate_attack,
    manipulability,
    random_attack,
    ranking,
    survey,
)
from accordant.certificates.bounds.bound import bound_of
from accordant.certificates.bounds.composite import Scale
from accordant.certificates.bounds.ranking import Ranges
from accordant.certificates.bounds.rule_choices import attackable
from accordant.certificates.bounds.target import subject_of
from accordant.certificates.certificate import method_for
from accordant.compute.fan_out import run_all
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation.composite import Normalisation
from accordant.evaluation.conflict import Conflicts, conflicts
from accordant.evaluation.leaderboard import Leaderboard
from accordant.evaluation.logged_budget import decisions_within, logged_budget
from accordant.evaluation.sensitivity import not_applicable
from accordant.evaluation.stakeholder_gains import stakeholder_gains
from accordant.evaluation.weighting import weigh
from accordant.evidence import Evidence
from accordant.explanation.influence import influence, pivotal
from accordant.metrics import Metric, weighted_metrics
from accordant.metrics.expressions import Expression, Sum
from accordant.policy import ParticipatoryPolicy
from accordant.progress import steps
from accordant.runs.record.parts import board
from accordant.strategies import Strategy

logger = logging.getLogger(__name__)

RADII = tuple(np.round(np.linspace(0.0, 0.25, 26), 2).tolist())  # of the curve of the selected strategy
RANGES: tuple[Ranges, ...] = ("frozen", "live")
TRIES = 50  # random reports in each context
BOUNDED = 0.05  # radius at which metrics are bounded
COMPARED = (0.01, 0.05, 0.1)  # at which strategies are compared
ALL_COALITIONS, PAIRS = 5, 10  # stakeholders up to which every coalition, or every pair, is surveyed

NO_PAIRS = Conflicts((), (), 0, 0, 0.0, {})

SUM = "utilitarian"  # who pays for a compromise is told against the rule that adds everybody's rewards up


def largest_coalition(n_stakeholders: int) -> int | None:
    """Return how large the coalitions of a survey may be, so that there are some dozens of them at most."""
    return None if n_stakeholders <= ALL_COALITIONS else 2 if n_stakeholders <= PAIRS else 1


@dataclass(frozen=True, eq=False)
class Scrutiny:
    """A policy and what is known about its untouched rows.

    Attributes
    ----------
    policy
        Fitted.
    evidence
        Of the untouched rows.
    groupings
        Columns whose combinations make groups, one entry per grouping.
    """

    policy: ParticipatoryPolicy
    evidence: Evidence
    groupings: tuple[tuple[str, ...], ...] = ()

    @property
    def quick(self) -> bool:
        """Whether this is for a first look."""
        return bool(self.policy.effort == "quick")

    @property
    def known(self) -> Known:
        """What rules may read beside E."""
        return Known(self.evidence.prediction, self.evidence.log, self.evidence.log.contexts)

    @property
    def metrics(self) -> Mapping[str, tuple[Metric, float]]:
        """The metrics that the evidence allows, with their weights."""
        declared = weighted_metrics(self.policy.metrics)
        return {label: pair for label, pair in declared.items() if pair[0].unavailable(self.evidence) is None}

    @property
    def candidates(self) -> list[str]:
        """Labels of the strategies that may win."""
        return [label for label, strategy in self.policy.strategies_.items() if strategy.candidate]

    def findings(self) -> tuple[Leaderboard, dict[str, Any]]:
        """Return the leaderboard of the strategies on these rows, and everything else as plain values.

        Keys: ``strategy``; ``certificates`` (radii of its decisions against every coalition); ``by_strategy`` (shares
        of certified decisions of every candidate, or of the selected one alone); ``bounds`` (of metrics) and
        ``unbounded`` (why some have none); ``ranking`` (whether the best candidate stays the best); ``influence`` (who
        decides); ``weights`` (what stands behind the winner) and ``unweighed`` (why they are missing); ``conflict``
        (pairs of metrics, prices of parity); ``sensitivity`` (what unmeasured confounding could change; None where the
        rewards of all actions are known); ``gains`` (who gains and who pays against the utilitarian rule; None if that
        is not listed, or was selected); ``budget`` (candidates under a budget that the case declares and D* or who
        leads exceeds, or at the logged share where a favourable action leads that nobody declared scarce; or None).
        """
        policy, evidence = self.policy, self.evidence
        rule = policy.strategies_[policy.selected_]
        logger.info("certifying %d decisions, and weighing what stands behind the choice", evidence.n_contexts)
        decisions = policy.decide_on(evidence)
        tasks: tuple[Callable[[], Any], ...] = (  # the longest first
            partial(self._conflicts, rule, decisions),
            partial(self._bounded, rule),
            partial(self._certified, rule),
            partial(policy.leaderboard_on, evidence),
            partial(self._weighed, decisions),
        )
        conflict, bounded, certified, board, weighed = run_all(tasks, policy.n_jobs, "scrutinising the choice")
        budget = {"budget": self._budget(decisions, board)}
        return board, {"strategy": policy.selected_, **conflict, **certified, **bounded, **weighed, **budget}

    def _conflicts(self, rule: Strategy, decisions: Mapping[str, Decisions]) -> dict[str, Any]:
        return {"conflict": NO_PAIRS.to_json() if self.quick else self._conflict(rule, decisions)}

    def _certified(self, rule: Strategy) -> dict[str, Any]:
        """Return what decisions withstand, and who decides."""
        expected = self.evidence.expected
        largest = largest_coalition(len(expected.stakeholders))
        return {
            "certificates": survey(rule, expected, largest=largest, known=self.known).to_json(RADII),
            "by_strategy": self._by_strategy(),
            "influence": self._influence(rule),
        }

    def _bounded(self, rule: Strategy) -> dict[str, Any]:
        """Return bounds of metrics, and of what they rank; a quick look has none."""
        bounds, unbounded = (None, {}) if self.quick else self._bounds(rule)
        ranking = [] if self.quick else self._ranking(unbounded)
        return {"bounds": bounds, "unbounded": unbounded, "ranking": ranking}

    def _weighed(self, decisions: Mapping[str, Decisions]) -> dict[str, Any]:
        """Return what other weights, hidden reasons and other rules would change."""
        policy, evidence = self.policy, self.evidence
        weights, unweighed = self._weights(decisions)
        return {
            "weights": weights,
            "unweighed": unweighed,
            "sensitivity": None if not_applicable(evidence) else policy.sensitivity(evidence).to_json(),
            "gains": self._gains(decisions),
        }

    def _budget(self, decisions: Mapping[str, Decisions], made: Leaderboard) -> dict[str, Any] | None:
        """Return candidates under a budget: a declared one that is exceeded, or the logged share of what leads."""
        policy, evidence = self.policy, self.evidence
        known = getattr(policy, "evidence_", evidence)  # a policy that was read from a run keeps no training rows
        names, logged = policy.problem.actions, known.log.actions
        shares = dict(zip(names, np.bincount(logged, minlength=len(names)) / len(logged), strict=True))
        favourable = policy.problem.favourable_actions
        budget = logged_budget(policy.strategies_, decisions, made, shares, favourable, policy.selected_)
        if budget is None:
            return None
        within = decisions_within(budget, policy.strategies_, decisions, evidence)
        if not within:
            return None
        limited = policy.compared(within, evidence)
        return {
            "winner": budget.winner, "action": budget.action, "share": budget.share, "declared": budget.declared,
            "sentence": budget.sentence(limited), "words": budget.words,
            "board": board(limited).model_dump(mode="json"),
        }  # fmt: skip

    def _gains(self, decisions: Mapping[str, Decisions]) -> dict[str, Any] | None:
        """Return what the selected strategy gives every stakeholder beyond the utilitarian rule."""
        policy = self.policy
        if policy.selected_ is None or SUM not in decisions or policy.selected_ == SUM:
            return None
        return stakeholder_gains(
            decisions, policy.selected_, SUM, self.evidence,
            generator=randomness.generator(policy.random_state, "resamples"), resamples=policy.resamples,
            level=policy.level,
        ).to_json()  # fmt: skip

    def _by_strategy(self) -> list[dict[str, Any]]:
        """Return what every candidate withstands; at a quick look what the selected strategy does."""
        comparisons, labels = [], [self.policy.selected_] if self.quick else self.candidates
        with steps("certifying strategies", len(labels)) as advance:
            for label in labels:
                comparisons.append(self._compared(self.policy.strategies_[label]))
                advance()
        return comparisons

    def _compared(self, rule: Strategy) -> dict[str, Any]:
        """Return what a strategy withstands: everybody together, and the worst of single stakeholders."""
        expected = self.evidence.expected
        surveyed = survey(rule, expected, largest=1, known=self.known)
        shares = np.array([surveyed.certified(delta) for delta in COMPARED])
        return {
            "strategy": rule.label,
            "method": method_for(rule, len(expected.actions), frozen=False).words,
            "exact": surveyed.exact,
            "deltas": list(COMPARED),
            "everybody": shares[:, -1].tolist(),
            "worst_single": shares[:, : len(expected.stakeholders)].min(axis=1).tolist(),
            "manipulable": manipulability(rule, expected, known=self.known).to_json()["stakeholders"],
        }

    def _bounds(self, rule: Strategy) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """Return what single stakeholders and everybody together can make of metrics, and why some have no bound."""
        expected, subjects, reasons = self.evidence.expected, [], {}
        for label, (metric, _) in self.metrics.items():
            try:
                subjects.append(subject_of(metric, expected, self.evidence, label))
            except InputError as error:  # a metric of somebody else's need not say how it is made of sums
                reasons[label] = str(error)
        bounds = []
        for members, searches in self._attacks(rule).items():
            attacked = attackable(rule, expected, Threat(BOUNDED, members), known=self.known)
            for subject in subjects:
                within = bound_of(subject, attacked).to_json()
                searched = {name: _searched(subject.expression, attack) for name, attack in searches.items()}
                bounds.append(
                    {"metric": subject.label, "coalition": list(members), "delta": BOUNDED, "searched": searched}
                    | within
                )
        return bounds, reasons

    def _attacks(self, rule: Strategy) -> dict[tuple[str, ...], dict[str, Attack]]:
        """Return what two searches for misreports find, for single stakeholders and for everybody together."""
        expected, known = self.evidence.expected, self.known
        generator = randomness.generator(self.policy.random_state, "attacks")
        attacks = {}
        for members in (*((name,) for name in expected.stakeholders), expected.stakeholders):
            threat = Threat(BOUNDED, members)
            attacks[members] = {
                "random": random_attack(rule, expected, threat, tries=TRIES, generator=generator, known=known),
                "coordinate": coordinate_attack(rule, expected, threat, generator=generator, known=known),
            }
        return attacks

    def _ranking(self, unbounded: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return whether the best candidate stays the best under misreports.

        Nothing with the scales of the published code, or if a metric with weight has no bounds.
        """
        expected, evidence, rankings = self.evidence.expected, self.evidence, list[dict[str, Any]]()
        counted = {label: pair for label, pair in self.metrics.items() if pair[1] > 0}
        if self.policy.normalisation == "reference" or set(counted) & set(unbounded):
            return rankings
        scales = self._scales(counted)
        rules = [self.policy.strategies_[label] for label in self.candidates]
        honest = ranking(rules, expected, counted, delta=0.0, evidence=evidence, known=self.known, scales=scales)
        ranked = [rule for rule, score in zip(rules, honest.nominal, strict=True) if np.isfinite(score)]
        for members in (*((name,) for name in expected.stakeholders), expected.stakeholders) if ranked else ():
            for ranges in RANGES if scales is None else RANGES[:1]:
                kept = ranking(
                    ranked, expected, counted, delta=BOUNDED, coalition=members, evidence=evidence, known=self.known,
                    ranges=ranges, scales=scales,
                )  # fmt: skip
                rankings.append({"coalition": list(members), "delta": BOUNDED, "best": kept.order[0]} | kept.to_json())
        return rankings

    def _scales(self, metrics: Mapping[str, tuple[Metric, float]]) -> dict[str, Scale] | None:
        """Return fixed scales of weighted metrics; None if the candidates make the scales."""
        if self.policy.normalisation != "natural":
            return None
        scale = self.policy.scale_on(self.evidence, metrics)
        scales = {}
        for (label, (metric, _)), (low, high) in zip(metrics.items(), scale.spans, strict=True):
            zero = metric.goal == "zero"
            scales[label] = Scale(metric.goal, 0.0 if zero else low, max(abs(low), abs(high)) if zero else high)
        return scales

    def _influence(self, rule: Strategy) -> list[dict[str, Any]]:
        """Return influence and pivotal stakeholders, once for every grouping; once in all if there is none."""
        powers = []
        for columns in self.groupings or ((),):
            groups = self.evidence.groups(columns)
            labels = np.array(groups.labels)[groups.codes] if columns else None
            shared = influence(rule, self.evidence.expected, known=self.known, groups=labels)
            asked = pivotal(rule, self.evidence.expected, known=self.known, groups=labels)
            powers.append({"attributes": list(columns), "power": shared.to_json(), "pivotal": asked.to_json()})
        return powers

    def _weights(self, decisions: Mapping[str, Decisions]) -> tuple[dict[str, Any] | None, str]:
        """Return what stands behind the winner, or why there is none."""
        policy = self.policy
        normalisation: Normalisation = policy.normalisation
        kinds = {label: strategy.kind for label, strategy in policy.strategies_.items()}
        try:
            weights = weigh(
                decisions, kinds, self.evidence, self.metrics,
                candidates=self.candidates, generator=randomness.generator(policy.random_state, "resamples"),
                resamples=policy.resamples, level=policy.level, normalisation=normalisation,
                ranges=policy.declared_ranges(self.metrics),
            )  # fmt: skip
        except InputError as error:  # no candidate is ranked on these rows, which the leaderboard shows too
            return None, str(error)
        return weights.to_json(), ""

    def _conflict(self, rule: Strategy, decisions: Mapping[str, Decisions]) -> dict[str, Any]:
        """Return whether conflicts between metrics are real, and what parity costs the selected rule."""
        policy = self.policy
        return conflicts(
            decisions, self.evidence, self.metrics,
            candidates=self.candidates, generator=randomness.generator(policy.random_state, "conflict"),
            resamples=policy.resamples, level=policy.level,
            rule=rule if rule.kind == "compromise" and not rule.whole_batch else None,
        ).to_json()  # fmt: skip


def _searched(expression: Expression, attack: Attack) -> list[float] | None:
    """Return the smallest and largest value that a search found for a metric that adds over contexts."""
    if not isinstance(expression, Sum):
        return None
    names = attack.expected.actions
    table = np.zeros((len(names), attack.expected.n_contexts))
    for part in expression.parts:
        table[:, slice(None) if part.contexts is None else part.contexts] += part.weight * part.theta
    reached = attack.metric(table)
    untied = np.zeros(attack.expected.n_contexts, dtype=bool)
    return [
        expression.value(Decisions(attack.rule.label, names, codes, untied))
        for codes in (reached.low_codes, reached.high_codes)
    ]
