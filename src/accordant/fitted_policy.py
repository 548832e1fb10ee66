"""`FittedPolicy`: what a policy can be asked once it is fitted, or restored from the folder of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant import randomness
from accordant.contexts import Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation import Leaderboard, Sensitivity, evaluate, sensitivity
from accordant.evaluation.batch_evidence import gather_evidence
from accordant.evaluation.composite import CompositeScale
from accordant.evaluation.omitted_features import omitted_feature_odds_ratios
from accordant.evaluation.sensitivity import ODDS_RATIOS, not_applicable
from accordant.evidence import Evidence
from accordant.faces import Kept
from accordant.learning.behaviour import LoggedBehaviour
from accordant.learning.expectation import weighted_rewards
from accordant.learning.log_input import given_rewards, one_of, read_log
from accordant.metrics import Metric, weighted_metrics
from accordant.policy_decisions import PolicyDecisions
from accordant.prediction_task import PredictionTask
from accordant.predictions import OutcomePrediction
from accordant.rewards import ObservedReward, RewardSignal
from accordant.scorers import REQUESTED
from accordant.strategies import Strategy
from accordant.strategies.predictors import Predictor
from accordant.tables.column_types import ColumnType
from accordant.utilities import ExpectedRewards


class FittedPolicy(Kept, PolicyDecisions):
    """A fitted policy: what it says about new contexts, and how its strategies score on evidence.

    `accordant.ParticipatoryPolicy` fits it and documents what it holds.
    """

    # as for `fit`: see `accordant.scorers.REQUESTED`
    __metadata_request__score: ClassVar[Mapping[str, bool]] = REQUESTED

    group: str | None
    types: Mapping[str, ColumnType] | None
    metrics: Mapping[Any, Any] | None
    resamples: int
    level: float
    n_jobs: int
    normalisation: Literal["natural", "relative", "reference"]
    ranges: Mapping[str, tuple[float, float]] | None
    signals_: Mapping[str, RewardSignal]
    behaviour_: LoggedBehaviour | None
    outcome_limits_: tuple[float, float] | None
    leaderboard_: Leaderboard

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        actions: Any = None,
        outcomes: Any = None,
        rewards: Any = None,
        true_levels: Any = None,
    ) -> Leaderboard:
        """Score every strategy on rows that took no part in `fit`; ranks nothing anew.

        Parameters
        ----------
        X, y, actions, outcomes
            As for `accordant.ParticipatoryPolicy.fit`.
        rewards
            Only rewards observed on these rows, for stakeholders whose rewards were observed.
        true_levels
            Simulated data only: true mean outcome of every action, shape (action, context).
        """
        log = self.log_of(X, y, actions=actions, outcomes=outcomes, rewards=rewards)
        return self.leaderboard_on(self.evidence_on(log, true_levels=true_levels))

    def log_of(self, X: Any, y: Any = None, *, actions: Any = None, outcomes: Any = None, rewards: Any = None) -> Log:
        """Return rows that took no part in `fit` as a log, for `evidence_on`; parameters as for `evaluate`."""
        self._check_fitted()
        outcomes, observed = one_of(y, outcomes), given_rewards(rewards)
        for name in observed:
            if not isinstance(self.signals_.get(name), ObservedReward | None):
                raise InputError(f"rewards of {name!r} were stated to fit; they cannot be observed now")
        if self.problem is None:
            task = PredictionTask.of(outcomes, self.classes_)
            outcomes = np.array(self._declared.outcome_names)[task.codes]
            actions = np.full(len(outcomes), task.most_frequent)
        elif outcomes is None or actions is None:
            raise InputError(f"{'outcomes' if outcomes is None else 'actions'} of these rows are missing")
        signals = {**self.signals_, **observed}
        return read_log(self._declared, self.contexts_of(X), actions, outcomes, signals, self.group, self.types)[0]

    def score(self, X: Any, y: Any = None, *, actions: Any = None, outcomes: Any = None, rewards: Any = None) -> float:
        """Return the composite score of D* on rows that took no part in `fit`, in [0, 1]; NaN if it is not defined.

        Parameters
        ----------
        X, y, actions, outcomes, rewards
            As for `evaluate`.
        """
        evidence = self.evidence_on(self.log_of(X, y, actions=actions, outcomes=outcomes, rewards=rewards))
        board = self._leaderboard(evidence, weighted_metrics(self.metrics), resamples=0)
        value = board[self.selected_].score.value
        return float("nan") if value is None else value

    def leaderboard_on(self, evidence: Evidence, metrics: Mapping[Any, Any] | None = None) -> Leaderboard:
        """Score every strategy on evidence from `evidence_on`; `metrics`: others, or other weights, than the policy's.

        Neither D* nor anything else of the policy is changed.
        """
        self._check_fitted()
        return self._leaderboard(evidence, weighted_metrics(self.metrics if metrics is None else metrics))

    def compared(self, decisions: Mapping[str, Decisions], evidence: Evidence) -> Leaderboard:
        """Score decisions of these strategies under other constraints, as `leaderboard_on` scores their own.

        Parameters
        ----------
        decisions
            Label of a strategy of this policy to its decisions on the contexts of the evidence; all are candidates.
        evidence
            From `evidence_on`.
        """
        self._check_fitted()
        return self._leaderboard(evidence, weighted_metrics(self.metrics), decisions=decisions)

    def decide_on(self, evidence: Evidence, labels: Collection[str] | None = None) -> dict[str, Decisions]:
        """Return the decisions of every strategy, baseline and reference by label; or of those with some labels.

        On the rows of `fit`, predictors that were trained there decide as copies of them that did not see the row, and
        those that were trained elsewhere are left out: they may have seen it.
        """
        if evidence is not getattr(self, "evidence_", None):
            rules = {label: rule for label, rule in self.strategies_.items() if labels is None or label in labels}
            return self._decisions(evidence.expected, evidence.prediction, evidence.log, rules)
        known: Mapping[str, Decisions] = getattr(self, "predictor_decisions_", {})
        judged = self._judged(evidence)
        others = {label: rule for label, rule in judged.items() if label not in known}
        decisions = {**self._decisions(evidence.expected, evidence.prediction, evidence.log, others), **known}
        return {label: decisions[label] for label in judged if labels is None or label in labels}

    @staticmethod
    def _decisions(
        expected: ExpectedRewards,
        prediction: OutcomePrediction | None,
        log: Log,
        rules: Mapping[str, Strategy],
    ) -> dict[str, Decisions]:
        return {
            label: rule(expected, prediction=prediction, log=log, contexts=log.contexts)
            for label, rule in rules.items()
        }

    def evidence_on(self, log: Log, *, true_levels: NDArray[np.float64] | None = None) -> Evidence:
        """Return E, f and realised rewards on logged rows."""
        self._check_fitted()
        log = replace(log, contexts=self.contexts_of(log.contexts))
        expected, prediction = self._expect(log.contexts)
        return gather_evidence(
            self._declared,
            log,
            self.signals_,
            expected,
            prediction,
            propensities=None if self.behaviour_ is None else self.behaviour_.predict(log.contexts),
            true_levels=true_levels,
            outcome_limits=self.outcome_limits_,
        )

    def sensitivity(
        self, evidence: Evidence | None = None, *, odds_ratios: Sequence[float] = ODDS_RATIOS
    ) -> Sensitivity:
        """Return what unmeasured confounding could do to welfare, and to the choice of D*.

        Parameters
        ----------
        evidence
            From `evidence_on`; None for the rows of `fit`, by models that did not see them.
        odds_ratios
            How far a hidden reason may change the odds of an action; intervals of welfare are given for each.

        Raises
        ------
        InputError
            If the rewards of all actions are known, or there are no propensities.
        """
        self._check_fitted()
        evidence = self.evidence_ if evidence is None else evidence
        if reason := not_applicable(evidence):
            raise InputError(reason)
        assert evidence.prediction is not None
        assert self.behaviour_ is not None
        assert evidence.estimated is not None
        shares = np.where(evidence.estimated, self._declared.weights, 0.0) / self._declared.weights.sum()
        names = self._declared.stakeholder_names
        outcome_welfare = weighted_rewards(
            evidence.log.contexts, evidence.prediction, self.reward_models_, dict(zip(names, shares, strict=True))
        )
        benchmarked = self.evidence_.log if hasattr(self, "evidence_") else evidence.log
        return sensitivity(
            {
                label: decided
                for label, decided in self.decide_on(evidence).items()
                if self.strategies_[label].candidate or decided.follows_log
            },
            evidence,
            outcome_welfare,
            order=self._ranked(evidence),
            generator=randomness.generator(self.random_state, "resamples"),
            resamples=self.resamples,
            level=self.level,
            odds_ratios=odds_ratios,
            features=omitted_feature_odds_ratios(benchmarked, self.behaviour_.encoder),
            observed=[name for name in names if isinstance(self.signals_[name], ObservedReward)],
        )

    def declared_ranges(self, metrics: Mapping[str, tuple[Metric, float]]) -> dict[str, tuple[float, float]]:
        """Return the ranges that were declared for some metrics, by label."""
        return {label: (span[0], span[1]) for label, span in (self.ranges or {}).items() if label in metrics}

    def scale_on(self, evidence: Evidence, metrics: Mapping[str, tuple[Metric, float]]) -> CompositeScale:
        """Return how values of some metrics on evidence become composite scores."""
        inside = [rule.candidate for rule in self._judged(evidence).values()]
        return CompositeScale.of(metrics, evidence, inside, self.normalisation, self.declared_ranges(metrics))

    def _leaderboard(
        self,
        evidence: Evidence,
        metrics: Mapping[str, tuple[Metric, float]],
        refits: Sequence[Mapping[str, Decisions]] = (),
        resamples: int | None = None,
        decisions: Mapping[str, Decisions] | None = None,
    ) -> Leaderboard:
        """Score on the metrics that this evidence allows; one that carries weight must be among them."""
        for metric, weight in metrics.values():
            if weight > 0:
                metric.check(evidence)
        shown = {label: pair for label, pair in metrics.items() if pair[0].unavailable(evidence) is None}
        judged = (
            self._judged(evidence) if decisions is None else {label: self.strategies_[label] for label in decisions}
        )
        return evaluate(
            self.decide_on(evidence) if decisions is None else decisions,
            {label: rule.kind for label, rule in judged.items()},
            evidence,
            shown,
            candidates=[label for label, rule in judged.items() if rule.candidate],
            selectable=[label for label, rule in judged.items() if rule.may_be_selected],
            resamples=self.resamples if resamples is None else resamples,
            level=self.level,
            normalisation=self.normalisation,
            ranges=self.declared_ranges(shown),
            generator=randomness.generator(self.random_state, "resamples"),
            refits=refits,
            n_jobs=self.n_jobs,
        )

    def _judged(self, evidence: Evidence) -> dict[str, Strategy]:
        """Return the strategies that `decide_on` asks."""
        in_fit = evidence is getattr(self, "evidence_", None)
        return {
            label: rule
            for label, rule in self.strategies_.items()
            if not in_fit or not isinstance(rule, Predictor) or rule.judged_in_fit
        }

    def _ranked(self, evidence: Evidence) -> list[str]:
        """Return candidates that may be selected: D*, then the others from best to worst.

        Best on held-out folds; on the evidence if the policy was loaded from a run, which keeps no folds.
        """
        board = self.leaderboard_ if hasattr(self, "leaderboard_") else self.leaderboard_on(evidence)
        others = [row.strategy for row in board.rows if row.strategy != self.selected_]
        return [self.selected_, *(label for label in others if self.strategies_[label].may_be_selected)]
