"""`ParticipatoryPolicy`: learn what follows and what stakeholders want, choose a strategy, recommend."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from accordant import randomness
from accordant import strategies as rules
from accordant.certificates import Certificate, Known, Threat, certify
from accordant.certificates.threat import UNIT, checked_coalition
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import DataError, InputError, NotFittedError, UnknownNameError
from accordant.evaluation import Leaderboard, Sensitivity, evaluate, sensitivity
from accordant.evaluation.comparison import CompositeScale
from accordant.evaluation.gathering import gather_evidence
from accordant.evaluation.omitted_features import omitted_feature_odds_ratios
from accordant.evaluation.sensitivity import ODDS_RATIOS, not_applicable
from accordant.evidence import Evidence
from accordant.explanation import Explanation, explain
from accordant.learning.cross_fitting import LearningSettings, learn
from accordant.learning.diagnostics import identify
from accordant.learning.expectation import expected_rewards, weighted_rewards
from accordant.learning.log_input import read_log
from accordant.metrics import Metric, weighted_metrics
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.recommendation import Recommendations
from accordant.rewards import ObservedReward, RewardSignal
from accordant.strategies import Strategy
from accordant.utilities import ExpectedRewards

logger = logging.getLogger(__name__)

Rewards = Mapping[str, Any]


class ParticipatoryPolicy(BaseEstimator):  # type: ignore[misc]
    """A participatory policy (Vineis, Perelli and Tolomei 2025, Algorithm 1).

    `fit` learns the outcome model f and a reward model q_i per stakeholder, computes expected rewards on rows
    that the models did not see, scores every strategy there, and keeps the best one, D*. `recommend` applies D*.

    Parameters
    ----------
    problem
        The decision problem.
    features
        Columns that models may read; None for all columns that are neither sensitive attributes nor confounders nor
        constant.
    confounders
        Further columns known before the decision that past decisions may have followed. Only the propensities by which
        actions not taken are judged read them, as they read sensitive attributes; no model, rule or decision does.
    group
        Column of X that says whose each row is, such as the number of a student: rows of one person stay together in
        folds, calibration and bootstrap. Never a feature, and not needed to recommend. Models given by the user that
        divide rows by themselves cannot be told. To keep persons together in a test part: `accordant.split_rows`.
    outcome_model
        A scikit-learn classifier (discrete outcomes), or an estimator with ``fit(X, actions, outcomes,
        n_actions=…)`` and ``predict_levels`` (continuous outcomes, see `accordant.learning.causal`); None
        compares several by a proper score and takes the best.
    outcome_grid
        Parameter to values to search, by Brier score or squared error.
    reward_model
        A scikit-learn regressor; ``"stated"`` uses stated rewards as they are; None for histogram boosting.
    reward_grid
        Parameter to values to search, by squared error over every action asked about.
    shared_rewards
        One multi-output regressor for all stakeholders.
    augmentation
        Ask stakeholders about ``"actions"`` under the observed outcome, or ``"actions_and_outcomes"``.
    integration, nodes
        How continuous outcomes are integrated over: ``"empirical"`` residuals, ``"gauss_hermite"``, or
        ``"plug_in"``, an approximation; and the number of nodes.
    calibrated
        Whether a given classifier is calibrated.
    strategies
        Candidate strategies; None for the compromise functions. Baselines are always added.
    metrics
        Metric, or name of one, to weight; or label to (metric, weight). Weights sum to 1. None scores the mean
        realised reward of the worst-off stakeholder and the utilitarian mean alike.
    folds, stratified
        Cross-validation.
    resamples, level, normalisation
        Bootstrap and composite score, see `accordant.evaluation`.
    ranges
        Label of a metric to its range on the natural scale, for a total per context, where that is not the metric's
        own.
    random_state
        Integer seed of the policy's whole tree of generators.
    n_jobs
        Threads for independent fits.

    Attributes
    ----------
    outcome_model_, reward_models_
        Fitted models.
    behaviour_
        Propensities of the logged actions, by which actions not taken are judged; None if some are too rare.
    strategies_
        Label to strategy, with reference points fitted.
    selected_
        Label of D*.
    leaderboard_
        Strategies × metrics with intervals, on rows held out in cross-validation.
    evidence_
        What the leaderboard was computed from.
    learned_
        Searches, reward errors and warnings (`accordant.learning.cross_fitting.Learned`).
    warnings_
        Sentences that every reader of a result must see.
    """

    def __init__(
        self,
        problem: DecisionProblem,
        *,
        features: Sequence[str] | None = None,
        confounders: Sequence[str] = (),
        group: str | None = None,
        outcome_model: Any | None = None,
        outcome_grid: Mapping[str, Sequence[Any]] | None = None,
        reward_model: Any | Literal["stated"] | None = None,
        reward_grid: Mapping[str, Sequence[Any]] | None = None,
        shared_rewards: bool = False,
        augmentation: Literal["actions", "actions_and_outcomes"] = "actions_and_outcomes",
        integration: Literal["empirical", "gauss_hermite", "plug_in"] = "empirical",
        nodes: int = 20,
        calibrated: bool = True,
        strategies: Sequence[Strategy] | None = None,
        metrics: Mapping[Any, Any] | None = None,
        folds: int = 5,
        stratified: bool = True,
        resamples: int = 1000,
        level: float = 0.95,
        normalisation: Literal["natural", "relative", "reference"] = "natural",
        ranges: Mapping[str, tuple[float, float]] | None = None,
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.problem = problem
        self.features = features
        self.confounders = confounders
        self.group = group
        self.outcome_model = outcome_model
        self.outcome_grid = outcome_grid
        self.reward_model = reward_model
        self.reward_grid = reward_grid
        self.shared_rewards = shared_rewards
        self.augmentation = augmentation
        self.integration = integration
        self.nodes = nodes
        self.calibrated = calibrated
        self.strategies = strategies
        self.metrics = metrics
        self.folds = folds
        self.stratified = stratified
        self.resamples = resamples
        self.level = level
        self.normalisation = normalisation
        self.ranges = ranges
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, *, actions: Any, outcomes: Any, rewards: Rewards) -> Self:
        """Learn, cross-validate, and select D*.

        Parameters
        ----------
        X
            Contexts: any data frame narwhals reads, or a mapping of columns.
        actions
            Names of the logged actions, shape (context,).
        outcomes
            Names of discrete outcomes, or numbers, shape (context,).
        rewards
            Stakeholder to `RewardSignal`, to a function (contexts, action, outcome) → [0, 1], or to the rewards
            observed on these rows, shape (context,).

        Raises
        ------
        InputError
            If something given cannot be used; the message says what.
        """
        log, signals = read_log(self.problem, X, actions, outcomes, rewards, self.group)
        return self.fit_log(log, signals)

    def fit_log(self, log: Log, signals: Mapping[str, RewardSignal]) -> Self:
        """`fit` on a log that was read already, with a reward signal per stakeholder."""
        metrics = weighted_metrics(self.metrics)
        self._check_metrics(log, metrics)
        self.features_ = self._features(log.contexts)
        self.signals_ = {name: signals[name].fit(log, self.problem) for name in self.problem.stakeholder_names}
        self.learned_ = learn(self.problem, log, self.signals_, self.features_, self._settings(), self.confounders)
        self.outcome_model_ = self.learned_.outcome_model
        self.reward_models_ = self.learned_.reward_models
        expected = self.learned_.held_out_expected
        self.strategies_ = {each.label: each for each in self._candidates(expected)}
        self.behaviour_ = self.learned_.behaviour
        propensities = None if self.behaviour_ is None else self.behaviour_.held_out
        prediction = self.learned_.held_out_prediction
        self.outcome_limits_ = (
            (float(log.outcomes.min()), float(log.outcomes.max())) if self.problem.continuous else None
        )
        self.evidence_ = gather_evidence(
            self.problem, log, self.signals_, expected, prediction,
            propensities=propensities, outcome_limits=self.outcome_limits_,
        )  # fmt: skip
        logger.info("scoring %d strategies on held-out folds, %d resamples", len(self.strategies_), self.resamples)
        self.leaderboard_ = self._leaderboard(self.evidence_, metrics, self._refits(log))
        self.selected_ = self._select()
        self.warnings_ = self.learned_.warnings
        return self

    def evaluate(
        self, X: Any, *, actions: Any, outcomes: Any, rewards: Rewards | None = None, true_levels: Any = None
    ) -> Leaderboard:
        """Score every strategy on rows that took no part in `fit`; ranks nothing anew.

        Parameters
        ----------
        X, actions, outcomes
            As for `fit`.
        rewards
            Only rewards observed on these rows, for stakeholders whose rewards were observed.
        true_levels
            Simulated data only: true mean outcome of every action, shape (action, context).
        """
        self._check_fitted()
        for name in rewards or {}:
            if not isinstance(self.signals_.get(name), ObservedReward | None):
                raise InputError(f"rewards of {name!r} were stated to fit; they cannot be observed now")
        log, _ = read_log(self.problem, X, actions, outcomes, {**self.signals_, **(rewards or {})}, self.group)
        return self.leaderboard_on(self.evidence_on(log, true_levels=true_levels))

    def leaderboard_on(self, evidence: Evidence) -> Leaderboard:
        """Score every strategy on evidence from `evidence_on`."""
        self._check_fitted()
        return self._leaderboard(evidence, weighted_metrics(self.metrics))

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

    def expected_rewards(self, X: Any) -> ExpectedRewards:
        """Return E on new contexts."""
        self._check_fitted()
        return self._expect(Contexts.of(X))[0]

    def recommend(self, X: Any, *, strategy: str | None = None) -> Recommendations:
        """Decide for new contexts.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        strategy
            Label of another strategy than D*.
        """
        self._check_fitted()
        rule = self.strategy(strategy or self.selected_)
        contexts = Contexts.of(X)
        expected, prediction = self._expect(contexts)
        return Recommendations.of(rule(expected, prediction=prediction, contexts=contexts), expected)

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
        contexts = Contexts.of(X)
        expected, prediction = self._expect(contexts)
        threat = Threat(delta, checked_coalition(coalition), box, frozen)
        known = Known(prediction, contexts=contexts)
        return certify(self.strategy(strategy or self.selected_), expected, threat, known=known)

    def explain(
        self,
        X: Any,
        *,
        rows: Sequence[int] | None = None,
        strategy: str | None = None,
        observed: Any | None = None,
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
        contexts, rule = Contexts.of(X), self.strategy(strategy or self.selected_)
        expected, prediction = self._expect(contexts)
        if observed is None:
            observed = self.evidence_.log.contexts if hasattr(self, "evidence_") else contexts

        def decide(others: Contexts) -> NDArray[np.signedinteger[Any]]:
            """Return the decisions in other contexts."""
            return self.recommend(others, strategy=rule.label).decisions.codes

        return explain(
            rule, expected, rows=rows, known=Known(prediction, contexts=contexts), decide=decide,
            observed=Contexts.of(observed), features=self.features_,
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

    def _settings(self) -> LearningSettings:
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(LearningSettings)}
        return LearningSettings(**{name: {} if value is None and name.endswith("_grid") else value
                                   for name, value in given.items()})  # fmt: skip

    def _features(self, contexts: Contexts) -> tuple[str, ...]:
        for name in self.confounders:
            contexts[name]  # raises for an unknown column
            if name in (self.features or ()):
                raise InputError(
                    f"the column {name!r} cannot be both a feature and a confounder that only evaluation reads"
                )
        if self.features is not None:
            if self.group in self.features:
                raise InputError(f"the column {self.group!r} cannot be a feature: it says whose each row is")
            for name in self.features:
                contexts[name]  # raises for an unknown column
            return tuple(self.features)
        apart = {*(attribute.name for attribute in self.problem.sensitive_attributes), *self.confounders, self.group}
        return tuple(name for name in contexts if name not in apart and len(np.unique(contexts[name])) > 1)

    def _candidates(self, expected: ExpectedRewards) -> list[Strategy]:
        given = rules.defaults_for(self.problem) if self.strategies is None else self.strategies
        own = [strategy.for_problem(self.problem).fit(expected) for strategy in given]
        aware = self.learned_.identification.action_aware
        always = rules.baselines_for(self.problem, action_aware=aware)
        labels = [each.label for each in own]
        for label in labels:
            if labels.count(label) > 1:
                raise InputError(f"the strategy {label!r} is listed twice")
        return [*own, *(each for each in always if each.label not in labels)]

    def _check_metrics(self, log: Log, metrics: Mapping[str, tuple[Metric, float]]) -> None:
        """Refuse a weight on what these data will not tell, before anything is learned."""
        aware = identify(log, self.problem).action_aware
        for label, (metric, weight) in metrics.items():
            needed = metric.counterfactual_stakeholders(self.problem) if weight > 0 else ()
            if needed and (aware or any(name in log.rewards for name in needed)):
                raise InputError(
                    f"metric {label!r} cannot carry weight: it needs the reward of every action in every context, and "
                    "only that of the action taken was observed; weigh 'mean_reward' instead"
                )

    def _refits(self, log: Log) -> list[dict[str, Decisions]]:
        """Return what every strategy decides on all rows with the models fitted without each fold."""
        found = []
        for outcome_model, reward_models in self.learned_.fold_models:
            prediction = outcome_model.predict(log.contexts)
            expected = expected_rewards(log.contexts, prediction, reward_models, self.problem)
            found.append(self._decisions(expected, prediction, log))
        return found

    def _leaderboard(
        self,
        evidence: Evidence,
        metrics: Mapping[str, tuple[Metric, float]],
        refits: Sequence[Mapping[str, Decisions]] = (),
    ) -> Leaderboard:
        """Score on the metrics that this evidence allows; one that carries weight must be among them."""
        for metric, weight in metrics.values():
            if weight > 0:
                metric.check(evidence)
        shown = {label: each for label, each in metrics.items() if each[0].unavailable(evidence) is None}
        return evaluate(
            self.decide_on(evidence),
            {label: rule.kind for label, rule in self.strategies_.items()},
            evidence,
            shown,
            candidates=[label for label, rule in self.strategies_.items() if rule.candidate],
            selectable=[label for label, rule in self.strategies_.items() if rule.may_be_selected],
            resamples=self.resamples,
            level=self.level,
            normalisation=self.normalisation,
            ranges=self.declared_ranges(shown),
            generator=randomness.generator(self.random_state, "resamples"),
            refits=refits,
        )

    def _select(self) -> str:
        """Return the selectable strategy with the highest composite score on held-out folds."""
        for row in self.leaderboard_.rows:
            if self.strategies_[row.strategy].may_be_selected and row.score.value is not None:
                return row.strategy
        raise InputError("no strategy can be selected: a metric with positive weight is undefined for each of them")

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
