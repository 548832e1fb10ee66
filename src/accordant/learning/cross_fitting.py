"""From a log and stated rewards to fitted models and cross-validated expected rewards."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant import randomness
from accordant.arrays import Codes, Values
from accordant.compute.fan_out import run_all
from accordant.contexts import Log
from accordant.errors import InputError, UnknownNameError
from accordant.learning.augmentation import (
    Over,
    RewardQueries,
    augmented_queries,
    clipping_warnings,
    elicit,
    logged_queries,
)
from accordant.learning.behaviour import LoggedBehaviour, audit_columns
from accordant.learning.causal import OverlapDiagnostics, overlap_diagnostics
from accordant.learning.diagnostics import Identification, ProxyCheck, identify, proxy_checks
from accordant.learning.effort import Effort, limits_of
from accordant.learning.expectation import expected_values
from accordant.learning.folds import make_folds
from accordant.learning.grid_resolution import MovedValues
from accordant.learning.learned_warnings import (
    confounding_warnings,
    copies_warnings,
    estimated_rewards_warnings,
    omission_warnings,
)
from accordant.learning.named_columns import ModelInput, with_columns
from accordant.learning.outcome_learning import ContinuousOutcomeLearner, DiscreteOutcomeLearner
from accordant.learning.outcome_models import OutcomeModel
from accordant.learning.residuals import Integration
from accordant.learning.reward_learning import (
    DEFAULT_GRID,
    QUICK_GRID,
    RACE_GRID,
    THOROUGH_GRID,
    CellError,
    RewardLearner,
    default_regressor,
    reward_errors,
)
from accordant.learning.reward_models import OutcomeRewardModel, StatedReward
from accordant.learning.tuning import Grid, Learner, Search, nested
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import ObservedReward, RewardSignal
from accordant.utilities import ExpectedRewards

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LearningSettings:
    """How to learn; see `accordant.ParticipatoryPolicy` for each field."""

    outcome_model: Any | None = None
    model_input: ModelInput = "auto"
    outcome_grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    reward_model: Any | Literal["stated"] | None = None
    reward_grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    shared_rewards: bool = False
    augmentation: Over = "actions_and_outcomes"
    integration: Integration = "empirical"
    nodes: int = 20
    calibrated: bool = True
    folds: int = 5
    stratified: bool = True
    random_state: int = 0
    n_jobs: int = 1
    effort: Effort = "standard"

    def __post_init__(self) -> None:
        for name, choice, allowed in (
            ("augmentation", self.augmentation, get_args(Over)),
            ("integration", self.integration, get_args(Integration)),
        ):
            if choice not in allowed:
                raise UnknownNameError(name, choice, allowed)
        limits_of(self.effort)  # raises for an unknown one
        if self.nodes < 1:
            raise InputError(f"nodes is {self.nodes}; allowed: at least 1")


@dataclass(frozen=True, eq=False)
class Learned:
    """Everything that learning leaves behind.

    Attributes
    ----------
    outcome_model, reward_models
        Fitted on all training rows.
    held_out_expected, held_out_prediction
        E and f on every training row, from models that did not see its fold.
    by_fold
        E and f on all training rows, from models that were fitted without each fold.
    searches
        Grid searches by name: ``"outcome"``, and one per reward model.
    reward_errors
        Error of learned rewards on held-out rows, per stakeholder, action and outcome.
    identification
        What the log says about the dependence of outcomes on actions.
    proxies
        How well the features tell each sensitive attribute.
    behaviour
        Propensities of the logged actions; None if one was never taken or too rarely.
    overlap
        How well each action is represented across contexts; None likewise.
    warnings
        Sentences for every report.
    """

    outcome_model: OutcomeModel
    reward_models: tuple[OutcomeRewardModel, ...]
    held_out_expected: ExpectedRewards
    held_out_prediction: OutcomePrediction
    by_fold: tuple[tuple[ExpectedRewards, OutcomePrediction], ...]
    searches: Mapping[str, Search]
    reward_errors: tuple[CellError, ...]
    identification: Identification
    behaviour: LoggedBehaviour | None
    overlap: OverlapDiagnostics | None
    proxies: tuple[ProxyCheck, ...]
    warnings: tuple[str, ...]


def learn(
    problem: DecisionProblem,
    log: Log,
    signals: Mapping[str, RewardSignal],
    features: tuple[str, ...],
    settings: LearningSettings,
    confounders: Sequence[str] = (),
) -> Learned:
    """Learn f and every q_i with nested cross-validation.

    Parameters
    ----------
    problem
        The decision problem.
    log
        Training rows.
    signals
        Fitted reward signals, one per stakeholder.
    features
        Columns that models may read.
    settings
        How.
    confounders
        Further columns known beforehand that only propensities read.
    """
    identification = identify(log, problem)
    audit = audit_columns(problem, log.contexts, features, confounders)
    folds = training_folds(problem, log, settings)
    outcome_learner = _outcome_learner(problem, log, features, identification, settings)
    reward_learners, stated, warnings = _reward_learners(problem, log, signals, features, settings)
    logger.info(
        "learning the outcome model and %d reward models: %d rows, %d folds", len(reward_learners), len(log), len(folds)
    )
    learners: list[Learner[Any]] = [outcome_learner, *reward_learners]
    seed = settings.random_state
    (outcome, *rewards), (behaviour, proxies) = nested(
        learners, folds, settings.n_jobs, groups=log.groups, thorough=limits_of(settings.effort).all_pairs,
        beside=(
            partial(LoggedBehaviour.fit, problem, log, audit, seed),
            partial(proxy_checks, problem, log, features, seed),
        ),
    )  # fmt: skip
    overlap = None if behaviour is None else overlap_diagnostics(behaviour.held_out, log.actions)
    searches = [model.search for model in rewards]
    by_fold, held_out = _without_folds(
        problem, log, folds, outcome.by_fold, list(zip(reward_learners, searches, strict=True)), stated, settings.n_jobs
    )
    errors = chain.from_iterable(
        reward_errors(predicted, log, learner, signals, problem)
        for predicted, learner in zip(held_out, reward_learners, strict=True)
    )
    names = ["outcome", *(" & ".join(learner.stakeholders) for learner in reward_learners)]
    return Learned(
        outcome.final,
        (*(model.final for model in rewards), *stated),
        *_held_out(problem, folds, by_fold),
        tuple(by_fold),
        dict(zip(names, (outcome.search, *searches), strict=True)),
        tuple(errors),
        identification,
        behaviour,
        overlap,
        proxies,
        (
            *omission_warnings(settings.effort, outcome_learner, reward_learners),
            *identification.warnings,
            *([] if problem.grid is None else MovedValues.of(problem.grid, log).warnings(problem.grid)),
            *copies_warnings(log, features),
            *estimated_rewards_warnings(identification, behaviour),
            *confounding_warnings(log, signals, features, identification, behaviour, settings.random_state),
            *(sentence for check in proxies if (sentence := check.warning())),
            *(f"Rewards of {name!r}: {sentence}" for name, signal in signals.items() for sentence in signal.warnings),
            *warnings,
        ),
    )


def training_folds(problem: DecisionProblem, log: Log, settings: LearningSettings) -> tuple[Codes, ...]:
    """Return the folds of a log, the same for everything that is learned from it."""
    strata = log.actions
    if not problem.continuous:
        strata = strata * len(problem.outcome_names) + log.outcomes.astype(np.intp)
    generator = randomness.generator(settings.random_state, "folds")
    return make_folds(len(log), settings.folds, generator, strata if settings.stratified else None, log.groups)


def _outcome_learner(
    problem: DecisionProblem,
    log: Log,
    features: tuple[str, ...],
    identification: Identification,
    settings: LearningSettings,
) -> DiscreteOutcomeLearner | ContinuousOutcomeLearner:
    model, grid, seed = settings.outcome_model, settings.outcome_grid, randomness.model_seed(settings.random_state)
    aware = identification.action_aware
    own = "reference" if aware and (problem.grid is not None or not problem.continuous) else "none"
    model = with_columns(model, log.contexts, features, problem, settings.model_input, action=own)
    limits = limits_of(settings.effort)
    if problem.continuous:
        return ContinuousOutcomeLearner(
            model, grid, settings.integration, settings.nodes, aware, log, features, problem, seed, limits
        )
    return DiscreteOutcomeLearner(model, grid, settings.calibrated, aware, log, features, problem, seed, limits)


def _reward_learners(
    problem: DecisionProblem,
    log: Log,
    signals: Mapping[str, RewardSignal],
    features: tuple[str, ...],
    settings: LearningSettings,
) -> tuple[list[RewardLearner], list[StatedReward], list[str]]:
    """Ask the stakeholders, and pair what must be learned with a regressor."""
    observed = [name for name, signal in signals.items() if isinstance(signal, ObservedReward)]
    queries = augmented_queries(
        log, problem, settings.augmentation, randomness.generator(settings.random_state, "augmentation")
    )
    warnings = [
        line
        for name, signal in signals.items()
        for line in clipping_warnings(name, signal, log.contexts, queries, problem)
    ]
    if isinstance(settings.reward_model, str):
        return [], _stated_rewards(problem, signals, settings.reward_model), warnings
    regressor, grid = _reward_regressor(problem, log, features, settings)
    race_grid = RACE_GRID if grid is DEFAULT_GRID else None
    most = limits_of(settings.effort).reward_queries
    generator = randomness.generator(settings.random_state, "elicitation")
    answers = {
        name: elicit(signal, log.contexts, queries, problem, generator)
        for name, signal in signals.items()
        if name not in observed
    }
    groups: list[tuple[tuple[str, ...], RewardQueries, NDArray[np.float64]]] = [
        ((name,), logged_queries(log), log.rewards[name][None]) for name in observed
    ]
    if settings.shared_rewards and answers:
        groups.append((tuple(answers), queries, np.stack(list(answers.values()))))
    else:
        groups += [((name,), queries, values[None]) for name, values in answers.items()]
    learners = [
        RewardLearner(names, regressor, grid, log, asked, values, features, problem, most, race_grid)
        for names, asked, values in groups
    ]
    return learners, [], warnings


def _stated_rewards(problem: DecisionProblem, signals: Mapping[str, RewardSignal], model: str) -> list[StatedReward]:
    """Return rewards as they were stated, where the reward model is called ``stated``."""
    if model != "stated":
        raise UnknownNameError("reward model", model, ("stated", "or a scikit-learn regressor"))
    for name, signal in signals.items():
        if isinstance(signal, ObservedReward):
            raise InputError(f"the reward of {name!r} was only observed; the reward model 'stated' cannot supply it")
    return [StatedReward(name, signal, problem) for name, signal in signals.items()]


def _reward_regressor(
    problem: DecisionProblem, log: Log, features: tuple[str, ...], settings: LearningSettings
) -> tuple[Any, Grid]:
    """Return the regressor of rewards, given or the default one, and the grid that it is tuned on."""
    limits, shared = limits_of(settings.effort), settings.shared_rewards
    if settings.reward_model is not None:
        regressor = with_columns(
            settings.reward_model, log.contexts, features, problem, settings.model_input,
            action="indicators", outcome=True,
        )  # fmt: skip
        return regressor, settings.reward_grid
    regressor = default_regressor(randomness.model_seed(settings.random_state), shared=shared)
    if settings.reward_grid or shared:
        return regressor, settings.reward_grid
    if not limits.tuned_rewards:
        return regressor, QUICK_GRID
    return regressor, THOROUGH_GRID if limits.gentle_rewards else DEFAULT_GRID


def _without_folds(
    problem: DecisionProblem,
    log: Log,
    folds: tuple[Codes, ...],
    outcome_models: Sequence[OutcomeModel],
    learned: Sequence[tuple[RewardLearner, Search]],
    stated: Sequence[StatedReward],
    n_jobs: int,
) -> tuple[list[tuple[ExpectedRewards, OutcomePrediction]], list[Values]]:
    """Return E and f on all rows by the models without each fold, and what learned rewards say of held-out queries.

    The latter have shape (stakeholder, query), one for each learner.
    """
    predicted = [partial(model.predict, log.contexts) for model in outcome_models]
    predictions = run_all(predicted, n_jobs, "predicting outcomes", first_here=True)
    names = [reward.stakeholder for reward in stated]
    tasks: list[Callable[[], Any]] = []
    for fold, prediction in enumerate(predictions):
        tasks += [partial(learner.held_out, search, folds, fold, prediction) for learner, search in learned]
        tasks.append(partial(expected_values, log.contexts, prediction, stated, names))
    results = iter(run_all(tasks, n_jobs, "rewards without each fold"))
    held_out = [np.empty(learner.answers.shape) for learner, _ in learned]
    by_fold = []
    for rows, prediction in zip(folds, predictions, strict=True):
        values: dict[str, Values] = {}
        for (learner, _), every in zip(learned, held_out, strict=True):
            expected, of_queries = next(results)
            values |= zip(learner.stakeholders, expected, strict=True)
            every[:, np.isin(learner.queries.rows, rows)] = of_queries
        values |= zip(names, next(results), strict=True)
        expected = np.stack([values[name] for name in problem.stakeholder_names])
        expected.flags.writeable = False  # then it is taken without a copy
        by_fold.append(
            (
                ExpectedRewards(expected, stakeholders=problem.stakeholder_names, actions=problem.actions),
                prediction,
            )
        )
    return by_fold, held_out


def _held_out(
    problem: DecisionProblem,
    folds: tuple[Codes, ...],
    by_fold: Sequence[tuple[ExpectedRewards, OutcomePrediction]],
) -> tuple[ExpectedRewards, OutcomePrediction]:
    """Return E and f on all training rows, each fold from the models that did not see it."""
    order = np.argsort(np.concatenate(folds))
    parts = zip(by_fold, folds, strict=True)
    expected = np.concatenate([rewards.values[:, :, rows] for (rewards, _), rows in parts], axis=2)[:, :, order]
    expected.flags.writeable = False  # then it is taken without a copy
    predictions = [prediction.take(rows) for (_, prediction), rows in zip(by_fold, folds, strict=True)]
    return (
        ExpectedRewards(expected, stakeholders=problem.stakeholder_names, actions=problem.actions),
        joined(predictions).take(order),
    )


def joined(predictions: Sequence[OutcomePrediction]) -> OutcomePrediction:
    """Return the predictions of consecutive batches of contexts as one."""
    first = predictions[0]
    return OutcomePrediction(
        np.concatenate([prediction.weights for prediction in predictions], axis=2),
        None
        if first.nodes is None
        else np.concatenate([prediction.nodes for prediction in predictions if prediction.nodes is not None], axis=2),
        first.depends_on_action,
        None
        if first.means is None
        else np.concatenate([prediction.means for prediction in predictions if prediction.means is not None], axis=1),
    )
