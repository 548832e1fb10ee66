"""`ParticipatoryPolicy`: learn what follows and what stakeholders want, choose a strategy, recommend."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np

from accordant.candidates import candidates, given_strategies, predictor_warnings, train_predictors, waits
from accordant.compute.fan_out import run_all
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation.batch_evidence import gather_evidence
from accordant.fitted_policy import FittedPolicy
from accordant.frame_schema import FrameSchema
from accordant.learning.cross_fitting import LearningSettings, learn, training_folds
from accordant.learning.diagnostics import identify
from accordant.learning.effort import Effort
from accordant.learning.log_input import given_rewards, one_of, read_log
from accordant.learning.named_columns import ModelInput, reads_frames
from accordant.learning.novelty import TrainingProfile
from accordant.metrics import Metric, weighted_metrics
from accordant.prediction_task import PredictionTask
from accordant.problem import DecisionProblem
from accordant.progress import by_verbosity
from accordant.rewards import RewardSignal
from accordant.scorers import REQUESTED
from accordant.strategies import Strategy
from accordant.strategies.predictors import Decided
from accordant.tables.column_types import ColumnType, typed_contexts

logger = logging.getLogger(__name__)

Rewards = Mapping[str, Any]


class ParticipatoryPolicy(FittedPolicy):
    """A participatory policy (Vineis, Perelli and Tolomei 2025, Algorithm 1).

    `fit` learns the outcome model f and a reward model q_i per stakeholder, computes expected rewards on rows
    that the models did not see, scores every strategy there, and keeps the best one, D*. `recommend` applies D*.

    Parameters
    ----------
    problem
        The decision problem. None for plain prediction by ``fit(X, y)``: the labels of y are the outcomes, an action
        each is to name them, and one stakeholder is content if it is right.
    rewards
        Stakeholder to a stated reward, as for `fit`, for those whose reward holds on any rows: then cross-validation
        need not hand it on.
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
    model_input
        What given models see: ``matrix``, numbers with indicators for texts and the products of both with indicators of
        the action; ``frame``, a data frame with the columns of X as they came and the columns ``action`` and
        ``outcome`` behind them, where the model reads them; ``auto``, the frame if a part of the model chooses columns
        or encodes texts, such as a `sklearn.compose.ColumnTransformer`.
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
    problem_
        The problem, declared or made of y.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names if they have any that are not generated.
    features_
        Columns that models read.
    classes_
        Labels of y, where no problem was declared.
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

    # what only we can use, so that nobody has to ask for it: see `accordant.scorers.REQUESTED`
    __metadata_request__fit: ClassVar[Mapping[str, bool]] = REQUESTED

    def __init__(
        self,
        problem: DecisionProblem | None = None,
        *,
        rewards: Rewards | None = None,
        features: Sequence[str] | None = None,
        types: Mapping[str, ColumnType] | None = None,
        confounders: Sequence[str] = (),
        group: str | None = None,
        outcome_model: Any | None = None,
        model_input: ModelInput = "auto",
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
        self.problem = problem  # type: ignore[assignment]
        self.rewards = rewards
        self.features = features
        self.types = types
        self.confounders = confounders
        self.group = group
        self.outcome_model = outcome_model
        self.model_input = model_input
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

    def fit(
        self, X: Any, y: Any = None, *, actions: Any = None, outcomes: Any = None, rewards: Rewards | Any = None
    ) -> Self:
        """Learn, cross-validate, and select D*.

        Parameters
        ----------
        X
            Contexts: any data frame narwhals reads, a mapping of columns, or an array of numbers, whose columns are
            called x0, x1, …
        y
            The outcomes, as scikit-learn hands them on.
        actions
            Names of the logged actions, shape (context,); where actions are points of a grid, also values within it.
        outcomes
            Names of discrete outcomes, or numbers, shape (context,); the same as y, and only one of both is given.
        rewards
            Stakeholder to `RewardSignal`, to a function (contexts, action, outcome) → [0, 1], or to the rewards
            observed on these rows, shape (context,). A data frame with a column of observed rewards per stakeholder
            does as well: scikit-learn divides that into rows. Joined with the parameter `rewards`.

        Raises
        ------
        InputError
            If something given cannot be used; the message says what.
        """
        outcomes = one_of(y, outcomes)
        if self.problem is None:
            return self._fit_prediction(X, outcomes, actions, rewards)
        self.problem_ = self.problem
        log, signals = self._read(X, outcomes, actions, rewards)
        return self.fit_log(log, signals)

    def _read(self, X: Any, outcomes: Any, actions: Any, rewards: Rewards | Any) -> tuple[Log, dict[str, RewardSignal]]:
        """Return log and signals, and remember what X looked like."""
        if outcomes is None:
            raise InputError("outcomes are missing: what followed on each row, as outcomes= or y")
        if actions is None:
            raise InputError("actions are missing: the action taken on each row, fit(X, y, actions=…)")
        given = {**(self.rewards or {}), **given_rewards(rewards)}
        contexts = Contexts.of(X)
        self._remember(contexts)
        return read_log(self._declared, contexts, actions, outcomes, given, self.group, self.types)

    def _remember(self, contexts: Contexts) -> None:
        self.schema_ = contexts.schema or FrameSchema()
        self.n_features_in_ = len(contexts)
        if self.schema_.library != "numpy":
            self.feature_names_in_ = np.array(list(contexts), dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _fit_prediction(self, X: Any, y: Any, actions: Any, rewards: Any) -> Self:
        """Fit without a problem: predict y."""
        if actions is not None or rewards is not None or self.rewards is not None:
            raise InputError("actions and rewards need a problem that declares them: ParticipatoryPolicy(problem, …)")
        contexts = Contexts.of(X)
        task = PredictionTask.of(y)
        self._remember(contexts)
        self.problem_, self.classes_ = task.problem, task.classes
        names = np.array(task.problem.outcome_names)[task.codes]
        log, signals = read_log(
            task.problem, contexts, np.full(len(names), task.most_frequent), names, task.rewards, self.group, self.types
        )
        return self.fit_log(log, signals)

    @by_verbosity
    def fit_log(self, log: Log, signals: Mapping[str, RewardSignal]) -> Self:
        """`fit` on a log that was read already, with a reward signal per stakeholder."""
        self.problem_ = self._declared
        metrics = weighted_metrics(self.metrics)
        self._check_metrics(log, metrics)
        self._handling()  # raises for what is no action
        given = given_strategies(self.strategies, self._declared)
        for rule in given:  # raises for names that the problem does not declare
            if isinstance(rule, Decided):
                rule.codes(log.contexts, self._declared.actions)
        self.features_ = self._features(log.contexts)
        log = self._typed(log)
        self.profile_ = TrainingProfile.fit(log, self.features_, self.random_state)
        self.signals_ = {
            name: signals[name].of_stakeholder(name, self._declared).fit(log, self._declared)
            for name in self._declared.stakeholder_names
        }
        self.learned_ = learn(self._declared, log, self.signals_, self.features_, self._settings(), self.confounders)
        self.outcome_model_ = self.learned_.outcome_model
        self.reward_models_ = self.learned_.reward_models
        expected = self.learned_.held_out_expected
        self.strategies_ = candidates(
            given, self._declared, expected, log.contexts, self.features_,
            action_aware=self.learned_.identification.action_aware,
        )  # fmt: skip
        self.behaviour_ = self.learned_.behaviour
        propensities = None if self.behaviour_ is None else self.behaviour_.held_out
        prediction = self.learned_.held_out_prediction
        self.outcome_limits_ = (
            (float(log.outcomes.min()), float(log.outcomes.max())) if self._declared.continuous else None
        )
        self.evidence_ = gather_evidence(
            self._declared, log, self.signals_, expected, prediction,
            propensities=propensities, outcome_limits=self.outcome_limits_,
        )  # fmt: skip
        refits = self._refits(log)
        folds = training_folds(self._declared, log, self._settings())
        self.predictor_decisions_ = train_predictors(
            self.strategies_, refits, log, folds, self._declared, self.features_, expected
        )
        logger.info("scoring %d strategies on held-out folds, %d resamples", len(self.strategies_), self.resamples)
        self.leaderboard_ = self._leaderboard(self.evidence_, metrics, refits)
        self.selected_ = self._select()
        self.warnings_ = (*self.learned_.warnings, *predictor_warnings(self.strategies_.values()))
        return self

    def _settings(self) -> LearningSettings:
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(LearningSettings)}
        if self.problem is None and self.reward_model is None:
            given["reward_model"] = "stated"  # being right is known, and need not be learned
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
        apart = {*(attribute.name for attribute in self._declared.sensitive_attributes), *self.confounders, self.group}
        apart |= {rule.column for rule in self.strategies or () if isinstance(rule, Decided)}
        named = any(reads_frames(model, self.model_input) for model in (self.outcome_model, self.reward_model))
        return tuple(  # a model that names its columns may name one that happens to be constant
            name for name in contexts if name not in apart and (named or len(np.unique(contexts[name])) > 1)
        )

    def _typed(self, log: Log) -> Log:
        """Return the log with the types of all columns that something reads, and remember them."""
        sensitive = [
            attribute.name for attribute in self._declared.sensitive_attributes if attribute.name in log.contexts
        ]
        declared = {name: (self.types or {}).get(name) for name in (*self.features_, *sensitive, *self.confounders)}
        contexts = typed_contexts(log.contexts, declared)
        self.types_ = {name: "number" if contexts[name].dtype == np.float64 else "category" for name in declared}
        return dataclasses.replace(log, contexts=contexts)

    def _check_metrics(self, log: Log, metrics: Mapping[str, tuple[Metric, float]]) -> None:
        """Refuse a weight on what these data will not tell, before anything is learned."""
        aware = identify(log, self._declared).action_aware
        for label, (metric, weight) in metrics.items():
            needed = metric.counterfactual_stakeholders(self._declared) if weight > 0 else ()
            if needed and (aware or any(name in log.rewards for name in needed)):
                raise InputError(
                    f"metric {label!r} cannot carry weight: it needs the reward of every action in every context, and "
                    "only that of the action taken was observed; weigh 'mean_reward' instead"
                )

    def _refits(self, log: Log) -> list[dict[str, Decisions]]:
        """Return what every strategy decides on all rows with the models fitted without each fold."""
        others = {label: rule for label, rule in self.strategies_.items() if not waits(rule)}
        tasks = [partial(self._decisions, *fold, log, others) for fold in self.learned_.by_fold]
        return run_all(tasks, self.n_jobs, "deciding without each fold", first_here=True)

    def _select(self) -> str:
        """Return the selectable strategy with the highest composite score on held-out folds."""
        for row in self.leaderboard_.rows:
            if self.strategies_[row.strategy].may_be_selected and row.score.value is not None:
                return row.strategy
        raise InputError("no strategy can be selected: a metric with positive weight is undefined for each of them")
