"""`FittedPolicy`: what a policy can be asked once it is fitted, or restored from the folder of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from accordant import randomness
from accordant.arrays import Mask
from accordant.certificates import Certificate, Known, Threat, certify
from accordant.certificates.threat import UNIT, checked_coalition
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import DataError, InputError, NotFittedError, UnknownNameError
from accordant.evaluation import Leaderboard, Sensitivity, evaluate, sensitivity
from accordant.evaluation.composite import CompositeScale
from accordant.evaluation.gathering import gather_evidence
from accordant.evaluation.omitted_features import omitted_feature_odds_ratios
from accordant.evaluation.sensitivity import ODDS_RATIOS, not_applicable
from accordant.evidence import Evidence
from accordant.explanation import Explanation, explain
from accordant.faces import Kept
from accordant.learning.behaviour import LoggedBehaviour
from accordant.learning.expectation import expected_rewards, weighted_rewards
from accordant.learning.grid_resolution import GridResolution, grid_resolution
from accordant.learning.novelty import TrainingProfile
from accordant.learning.outcome_models import OutcomeModel
from accordant.learning.reward_models import OutcomeRewardModel
from accordant.metrics import Metric, weighted_metrics
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem, row_place
from accordant.progress import by_verbosity
from accordant.recommendation import Recommendations
from accordant.rewards import ObservedReward, RewardSignal
from accordant.strategies import Strategy
from accordant.tables.column_types import ColumnType, Place, typed_contexts
from accordant.unusual import Unusual, UnusualSpec
from accordant.utilities import ExpectedRewards


class FittedPolicy(Kept, BaseEstimator):  # type: ignore[misc]
    """A fitted policy: E, decisions, certificates, explanations and leaderboards on new rows.

    `accordant.ParticipatoryPolicy` fits it and documents what it holds.
    """

    problem: DecisionProblem
    metrics: Mapping[Any, Any] | None
    resamples: int
    level: float
    normalisation: Literal["natural", "relative", "reference"]
    ranges: Mapping[str, tuple[float, float]] | None
    unusual: Mapping[str, str] | None
    random_state: int
    verbose: int
    features_: tuple[str, ...]
    types_: Mapping[str, ColumnType]
    profile_: TrainingProfile
    signals_: Mapping[str, RewardSignal]
    outcome_model_: OutcomeModel
    reward_models_: tuple[OutcomeRewardModel, ...]
    behaviour_: LoggedBehaviour | None
    strategies_: dict[str, Strategy]
    outcome_limits_: tuple[float, float] | None
    selected_: str
    leaderboard_: Leaderboard
    evidence_: Evidence

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

    def decide_on(self, evidence: Evidence) -> dict[str, Decisions]:
        """Return the decisions of every strategy, baseline and reference by label."""
        return self._decisions(evidence.expected, evidence.prediction, evidence.log)

    def _decisions(
        self, expected: ExpectedRewards, prediction: OutcomePrediction | None, log: Log
    ) -> dict[str, Decisions]:
        return {
            label: rule(expected, prediction=prediction, log=log, contexts=log.contexts)
            for label, rule in self.strategies_.items()
        }

    def evidence_on(self, log: Log, *, true_levels: NDArray[np.float64] | None = None) -> Evidence:
        """Return E, f and realised rewards on logged rows."""
        self._check_fitted()
        log = replace(log, contexts=self.contexts_of(log.contexts))
        expected, prediction = self._expect(log.contexts)
        return gather_evidence(
            self.problem,
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
        shares = np.where(evidence.estimated, self.problem.weights, 0.0) / self.problem.weights.sum()
        names = self.problem.stakeholder_names
        outcome_welfare = weighted_rewards(
            evidence.log.contexts, evidence.prediction, self.reward_models_, dict(zip(names, shares, strict=True))
        )
        benchmarked = self.evidence_.log if hasattr(self, "evidence_") else evidence.log
        return sensitivity(
            {
                label: each
                for label, each in self.decide_on(evidence).items()
                if self.strategies_[label].candidate or each.follows_log
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

    def grid_resolution(self, X: Any, *, strategy: str | None = None) -> GridResolution:
        """Return how much expected reward decisions in new contexts may miss between points of a grid of actions.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        strategy
            Label of another strategy than D*.

        Raises
        ------
        InputError
            If the actions of the problem have no values.
        """
        self._check_fitted()
        if self.problem.grid is None:
            raise InputError("the actions have no values; declare them as a grid: actions={name: number, …}")
        rule, contexts = self.strategy(strategy or self.selected_), self.contexts_of(X)
        expected, prediction = self._expect(contexts)
        decisions = rule(expected, prediction=prediction, contexts=contexts)
        return grid_resolution(self.problem, contexts, decisions, self.outcome_model_, self.reward_models_)

    def expected_rewards(self, X: Any) -> ExpectedRewards:
        """Return E on new contexts."""
        self._check_fitted()
        return self._expect(self.contexts_of(X))[0]

    def contexts_of(self, X: Any, place: Place = row_place) -> Contexts:
        """Return contexts with the types of the training rows.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        place
            Where each row stands, for messages.

        Raises
        ------
        DataError
            If a feature is missing, or a column of numbers holds something else; row and cell are named.
        """
        contexts = Contexts.of(X)
        for name in self.features_:
            contexts[name]  # raises if the column is missing
        types = {name: declared for name, declared in self.types_.items() if name in contexts}
        return typed_contexts(contexts, types, place)

    def recommend(self, X: Any, *, strategy: str | None = None) -> Recommendations:
        """Decide for new contexts, and say what is unusual about them.

        Unusual contexts are handled as `unusual` declares: those that are referred to a person have no action.
        Randomised strategies draw. The number drawn for a context depends on `random_state`, its features, and how many
        contexts with the same features stand above it in `X`, so the same call gives the same actions.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        strategy
            Label of another strategy than D*.
        """
        self._check_fitted()
        rule = self.strategy(strategy or self.selected_)
        contexts = self.contexts_of(X)
        expected, prediction = self._expect(contexts)
        decisions = rule(expected, prediction=prediction, contexts=contexts)
        if decisions.policy is not None:
            keys = contexts.only(self.features_).row_keys()
            decisions = decisions.draw(randomness.keyed_uniform(self.random_state, (f"draw {key}" for key in keys)))
        return Recommendations.of(decisions, expected).handled(self.profile_(contexts), self._handling())

    def predict(self, X: Any) -> NDArray[np.str_]:
        """Return the action of D* in new contexts, empty where a person decides, shape (context,); see `recommend`."""
        return self.recommend(X).decisions.actions

    def handling_of(self, X: Any) -> tuple[Unusual, Mask, Mask]:
        """Return what is unusual about contexts, and which `recommend` refers to a person or gives another action."""
        self._check_fitted()
        unusual, declared = self.profile_(self.contexts_of(X)), self._handling()
        return unusual, declared.referred(unusual), declared.fall_backs(unusual, self.problem.actions) >= 0

    def _handling(self) -> UnusualSpec:
        """Return what happens to unusual contexts."""
        declared = UnusualSpec(**(self.unusual or {}))
        declared.check(self.problem.actions)
        return declared

    @by_verbosity
    def certify(
        self,
        X: Any,
        *,
        delta: float,
        coalition: Sequence[str] | None = None,
        strategy: str | None = None,
        box: tuple[float, float] = UNIT,
        frozen: bool = False,
    ) -> Certificate:
        """Find which actions misreports could make win for new contexts.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        delta
            By how much each expected reward may be misreported, at least 0.
        coalition
            Names of those who may misreport; None for everybody.
        strategy
            Label of another strategy than D*.
        box, frozen
            See `accordant.certificates.Threat`.
        """
        self._check_fitted()
        contexts = self.contexts_of(X)
        expected, prediction = self._expect(contexts)
        threat = Threat(delta, checked_coalition(coalition), box, frozen)
        known = Known(prediction, contexts=contexts)
        return certify(self.strategy(strategy or self.selected_), expected, threat, known=known)

    def explain(
        self, X: Any, *, rows: Sequence[int] | None = None, strategy: str | None = None, observed: Any | None = None
    ) -> tuple[Explanation, ...]:
        """Explain decisions: what was traded off, who moved them, and what would have changed them.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        rows
            Positions of those to explain; None for all, at most 1000.
        strategy
            Label of another strategy than D*.
        observed
            Observed contexts among which the nearest one with another decision is looked for; None for those of `fit`,
            or for `X` itself if the policy was loaded from a run.
        """
        self._check_fitted()
        contexts, rule = self.contexts_of(X), self.strategy(strategy or self.selected_)
        expected, prediction = self._expect(contexts)
        if observed is None:
            observed = self.evidence_.log.contexts if hasattr(self, "evidence_") else contexts

        def decide(others: Contexts) -> NDArray[np.signedinteger[Any]]:
            """Return the decisions in other contexts."""
            expected, prediction = self._expect(others)
            return rule(expected, prediction=prediction, contexts=others).codes

        return explain(
            rule, expected, rows=rows, known=Known(prediction, contexts=contexts), decide=decide,
            observed=self.contexts_of(observed), features=self.features_,
        )  # fmt: skip

    def declared_ranges(self, metrics: Mapping[str, tuple[Metric, float]]) -> dict[str, tuple[float, float]]:
        """Return the ranges that were declared for some metrics, by label."""
        return {label: (span[0], span[1]) for label, span in (self.ranges or {}).items() if label in metrics}

    def scale_on(self, evidence: Evidence, metrics: Mapping[str, tuple[Metric, float]]) -> CompositeScale:
        """Return how values of some metrics on evidence become composite scores."""
        inside = [rule.candidate for rule in self.strategies_.values()]
        return CompositeScale.of(metrics, evidence, inside, self.normalisation, self.declared_ranges(metrics))

    def strategy(self, label: str) -> Strategy:
        """Return a fitted strategy that can decide for new people."""
        self._check_fitted()
        usable = [each for each, rule in self.strategies_.items() if rule.candidate]
        if label not in usable:
            raise UnknownNameError("strategy", label, usable)
        return self.strategies_[label]

    def _expect(self, contexts: Contexts) -> tuple[ExpectedRewards, OutcomePrediction]:
        if contexts.n_contexts == 0:
            raise DataError("no rows")
        prediction = self.outcome_model_.predict(contexts)
        return expected_rewards(contexts, prediction, self.reward_models_, self.problem), prediction

    def _leaderboard(
        self,
        evidence: Evidence,
        metrics: Mapping[str, tuple[Metric, float]],
        refits: Sequence[Mapping[str, Decisions]] = (),
        decisions: Mapping[str, Decisions] | None = None,
    ) -> Leaderboard:
        """Score on the metrics that this evidence allows; one that carries weight must be among them."""
        for metric, weight in metrics.values():
            if weight > 0:
                metric.check(evidence)
        shown = {label: each for label, each in metrics.items() if each[0].unavailable(evidence) is None}
        judged = self.decide_on(evidence) if decisions is None else decisions
        rules = {label: self.strategies_[label] for label in judged}
        return evaluate(
            judged,
            {label: rule.kind for label, rule in rules.items()},
            evidence,
            shown,
            candidates=[label for label, rule in rules.items() if rule.candidate],
            selectable=[label for label, rule in rules.items() if rule.may_be_selected],
            resamples=self.resamples,
            level=self.level,
            normalisation=self.normalisation,
            ranges=self.declared_ranges(shown),
            generator=randomness.generator(self.random_state, "resamples"),
            refits=refits,
        )

    def _ranked(self, evidence: Evidence) -> list[str]:
        """Return candidates that may be selected: D*, then the others from best to worst.

        Best on held-out folds; on the evidence if the policy was loaded from a run, which keeps no folds.
        """
        board = self.leaderboard_ if hasattr(self, "leaderboard_") else self.leaderboard_on(evidence)
        others = [row.strategy for row in board.rows if row.strategy != self.selected_]
        return [self.selected_, *(label for label in others if self.strategies_[label].may_be_selected)]

    def _check_fitted(self) -> None:
        if not hasattr(self, "selected_"):
            raise NotFittedError("this policy is not fitted; call fit first")
