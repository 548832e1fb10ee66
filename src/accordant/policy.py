"""`ParticipatoryPolicy`: learn what follows and what stakeholders want, choose a strategy, recommend."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from accordant import strategies as rules
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation import Leaderboard
from accordant.evaluation.gathering import gather_evidence
from accordant.fitted_policy import FittedPolicy
from accordant.learning.cross_fitting import LearningSettings, learn
from accordant.learning.diagnostics import identify
from accordant.learning.effort import Effort
from accordant.learning.expectation import expected_rewards
from accordant.learning.log_input import read_log
from accordant.learning.novelty import TrainingProfile
from accordant.metrics import Metric, weighted_metrics
from accordant.problem import DecisionProblem
from accordant.progress import by_verbosity
from accordant.rewards import ObservedReward, RewardSignal
from accordant.strategies import Strategy
from accordant.tables.column_types import ColumnType, typed_contexts
from accordant.utilities import ExpectedRewards

logger = logging.getLogger(__name__)

Rewards = Mapping[str, Any]


class ParticipatoryPolicy(FittedPolicy):
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
    types
        Column to its type, ``number`` or ``category``, for any column that is read. Others are inferred: a column of
        texts most of which are numbers is refused, see `accordant.tables.column_types.typed_column`.
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
    unusual
        Kind of unusual contexts (``unseen``, ``out_of_range``, ``missing``, ``far``) to what follows: ``recommend``
        (the default), ``refer`` to a person, or the name of an action; see `accordant.unusual.UnusualSpec`.
    random_state
        Integer seed of the policy's whole tree of generators.
    n_jobs
        Processes for independent fits, or threads where processes cannot be forked; −1 for one per core.
    verbose
        Whether notebooks and terminals show how far long work is; 0 for no bars.
    effort
        ``quick`` for a first look, ``thorough`` for the last per cent, see `accordant.learning.effort`.

    Attributes
    ----------
    types_
        Type of every feature, sensitive attribute and confounder; new rows are read by them.
    profile_
        What the features of the training rows were like (`accordant.learning.novelty.TrainingProfile`).
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
        types: Mapping[str, ColumnType] | None = None,
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
        unusual: Mapping[str, str] | None = None,
        random_state: int = 0,
        n_jobs: int = 1,
        verbose: int = 1,
        effort: Effort = "standard",
    ) -> None:
        self.problem = problem
        self.features = features
        self.types = types
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
        self.unusual = unusual
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.effort = effort

    def fit(self, X: Any, *, actions: Any, outcomes: Any, rewards: Rewards) -> Self:
        """Learn, cross-validate, and select D*.

        Parameters
        ----------
        X
            Contexts: any data frame narwhals reads, or a mapping of columns.
        actions
            Names of the logged actions, shape (context,); where actions are points of a grid, also values within it.
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
        log, signals = read_log(self.problem, X, actions, outcomes, rewards, self.group, self.types)
        return self.fit_log(log, signals)

    @by_verbosity
    def fit_log(self, log: Log, signals: Mapping[str, RewardSignal]) -> Self:
        """`fit` on a log that was read already, with a reward signal per stakeholder."""
        metrics = weighted_metrics(self.metrics)
        self._check_metrics(log, metrics)
        self._handling()  # raises for what is no action
        self._given()  # raises for names that the problem does not declare
        self.features_ = self._features(log.contexts)
        log = self._typed(log)
        self.profile_ = TrainingProfile.fit(log, self.features_, self.random_state)
        self.signals_ = {
            name: signals[name].of_stakeholder(name, self.problem).fit(log, self.problem)
            for name in self.problem.stakeholder_names
        }
        self.learned_ = learn(self.problem, log, self.signals_, self.features_, self._settings(), self.confounders)
        self.outcome_model_ = self.learned_.outcome_model
        self.reward_models_ = self.learned_.reward_models
        expected = self.learned_.held_out_expected
        self.strategies_ = {each.label: each for each in self._candidates(expected, log.contexts)}
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
        signals = {**self.signals_, **(rewards or {})}
        log, _ = read_log(self.problem, X, actions, outcomes, signals, self.group, self.types)
        return self.leaderboard_on(self.evidence_on(log, true_levels=true_levels))

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

    def _typed(self, log: Log) -> Log:
        """Return the log with the types of all columns that something reads, and remember them."""
        sensitive = [each.name for each in self.problem.sensitive_attributes if each.name in log.contexts]
        declared = {name: (self.types or {}).get(name) for name in (*self.features_, *sensitive, *self.confounders)}
        contexts = typed_contexts(log.contexts, declared)
        self.types_ = {name: "number" if contexts[name].dtype == np.float64 else "category" for name in declared}
        return dataclasses.replace(log, contexts=contexts)

    def _candidates(self, expected: ExpectedRewards, contexts: Contexts) -> list[Strategy]:
        own = [strategy.fit(expected, contexts) for strategy in self._given()]
        aware = self.learned_.identification.action_aware
        always = rules.baselines_for(self.problem, action_aware=aware)
        labels = [each.label for each in own]
        return [*own, *(each for each in always if each.label not in labels)]

    def _given(self) -> list[Strategy]:
        """Return the candidates that were given, with what they take from the problem."""
        given = rules.defaults_for(self.problem) if self.strategies is None else self.strategies
        own = [strategy.for_problem(self.problem) for strategy in given]
        labels = [each.label for each in own]
        for label in labels:
            if labels.count(label) > 1:
                raise InputError(f"the strategy {label!r} is listed twice")
        return own

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

    def _select(self) -> str:
        """Return the selectable strategy with the highest composite score on held-out folds."""
        for row in self.leaderboard_.rows:
            if self.strategies_[row.strategy].may_be_selected and row.score.value is not None:
                return row.strategy
        raise InputError("no strategy can be selected: a metric with positive weight is undefined for each of them")
