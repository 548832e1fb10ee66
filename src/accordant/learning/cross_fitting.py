"""From a log and stated rewards to fitted models and cross-validated expected rewards."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant import randomness
from accordant.arrays import Codes
from accordant.compute.fan_out import run_all
from accordant.contexts import Contexts, Log
from accordant.errors import InputError, UnknownNameError
from accordant.learning.augmentation import (
    Over,
    RewardQueries,
    augmented_queries,
    clipping_warnings,
    elicit,
    logged_queries,
)
from accordant.learning.behaviour import LoggedBehaviour, audit_columns, followed_columns
from accordant.learning.causal import OverlapDiagnostics, overlap_diagnostics
from accordant.learning.diagnostics import Identification, ProxyCheck, identify, proxy_checks
from accordant.learning.effort import Effort, effort_warnings, limits_of
from accordant.learning.encoding import ContextEncoder
from accordant.learning.expectation import expected_rewards
from accordant.learning.folds import make_folds
from accordant.learning.grid_resolution import MovedValues
from accordant.learning.named_columns import ModelInput, with_columns
from accordant.learning.outcome_learning import ContinuousOutcomeLearner, DiscreteOutcomeLearner, Integration
from accordant.learning.outcome_models import OutcomeModel
from accordant.learning.reward_learning import (
    DEFAULT_GRID,
    THOROUGH_GRID,
    CellError,
    RewardLearner,
    default_regressor,
    held_out_rewards,
    reward_errors,
)
from accordant.learning.reward_models import OutcomeRewardModel, StatedReward
from accordant.learning.tuning import Learner, Search, nested
from accordant.naming import listed
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import ObservedReward, RewardSignal
from accordant.utilities import ExpectedRewards

logger = logging.getLogger(__name__)

MANY_COPIES = 0.2  # share of repeated rows worth a warning


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
        for name, found, allowed in (
            ("augmentation", self.augmentation, get_args(Over)),
            ("integration", self.integration, get_args(Integration)),
        ):
            if found not in allowed:
                raise UnknownNameError(name, found, allowed)
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
    models = [(outcome.by_fold[k], [*(each.by_fold[k] for each in rewards), *stated]) for k in range(len(folds))]
    tasks: list[Callable[[], Any]] = [partial(_expected, problem, log.contexts, *each) for each in models]
    tasks += [
        partial(held_out_rewards, model.by_fold, folds, log.contexts, learner.queries, problem)
        for learner, model in zip(reward_learners, rewards, strict=True)
    ]
    predicted = run_all(tasks, settings.n_jobs, "predicting", first_here=True)
    by_fold, learned = predicted[: len(folds)], predicted[len(folds) :]
    names = ["outcome", *(" & ".join(learner.stakeholders) for learner in reward_learners)]
    return Learned(
        outcome.final,
        (*(model.final for model in rewards), *stated),
        *_held_out(problem, folds, by_fold),
        tuple(by_fold),
        {name: each.search for name, each in zip(names, (outcome, *rewards), strict=True)},
        tuple(
            error
            for learner, found in zip(reward_learners, learned, strict=True)
            for error in reward_errors(found, log, learner, signals, problem)
        ),
        identification,
        behaviour,
        overlap,
        proxies,
        (
            *_effort_warnings(settings, outcome_learner, reward_learners),
            *identification.warnings,
            *([] if problem.grid is None else MovedValues.of(problem.grid, log).warnings(problem.grid)),
            *_copies_warnings(log, features),
            *_estimated_rewards_warnings(identification, behaviour),
            *_confounding_warnings(log, signals, features, identification, behaviour, settings.random_state),
            *(sentence for check in proxies if (sentence := check.warning())),
            *(f"Rewards of {name!r}: {sentence}" for name, signal in signals.items() for sentence in signal.warnings),
            *warnings,
        ),
    )


def _effort_warnings(settings: LearningSettings, outcome: Any, rewards: Sequence[RewardLearner]) -> list[str]:
    """Say what was left out for want of time."""
    default = isinstance(outcome, DiscreteOutcomeLearner) and outcome.classifier is None
    asked, most = max((len(each.queries) for each in rewards), default=0), limits_of(settings.effort).reward_queries
    return effort_warnings(
        settings.effort,
        default_model=default,
        forests=not default or outcome.forests,
        answers=None if most is None or asked <= most else (most, asked),
    )


def _copies_warnings(log: Log, features: tuple[str, ...]) -> list[str]:
    """Say if many rows are copies, which makes rows held out from their copies look easy."""
    columns = ContextEncoder.fit(log.contexts, features)(log.contexts)
    records = np.column_stack([columns, log.actions, log.outcomes])
    share = 1 - len(np.unique(records, axis=0)) / len(records)
    distinct = len(np.unique(columns, axis=0)) / len(records)
    if share <= MANY_COPIES or distinct < MANY_COPIES:  # a few coarse features repeat by nature
        return []
    sentence = (
        f"{share:.0%} of the training rows repeat another one in features, action and outcome. If these are copies of "
        "the same cases, they leak between training and held-out rows, and every score is too good."
    )
    return [sentence]


def _estimated_rewards_warnings(identification: Identification, behaviour: LoggedBehaviour | None) -> list[str]:
    """Say how actions that were not taken are judged where outcomes depend on the action."""
    if not identification.action_aware:
        return []
    how = (
        "are estimated (doubly robust, with estimated propensities), assuming no unmeasured confounding: that no "
        "unrecorded reason moved both the action taken and what followed"
        if behaviour is not None
        else "are taken from the models, which flatters strategies that follow the models"
    )
    sentence = (
        f"Outcomes depend on the action and were seen for the action taken only: rewards of other actions {how}. "
        "Metrics that compare decisions with observed outcomes judge them by the outcome of the logged action."
    )
    return [sentence]


def _confounding_warnings(
    log: Log,
    signals: Mapping[str, RewardSignal],
    features: tuple[str, ...],
    identification: Identification,
    behaviour: LoggedBehaviour | None,
    random_state: int,
) -> list[str]:
    """Name the columns beyond the features that past decisions followed, where rewards rest on propensities."""
    estimated = identification.action_aware or any(isinstance(each, ObservedReward) for each in signals.values())
    if behaviour is None or not estimated:
        return []
    followed = followed_columns(log, features, behaviour, random_state)
    if not followed:
        return []
    sentence = (
        f"Past decisions followed {listed(followed)} beyond what the models may read: welfare is judged with "
        "propensities that know this, but decisions and predictions do not, so predicted outcomes of an action may "
        "partly reflect who received it."
    )
    return [sentence]


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
        if settings.reward_model != "stated":
            raise UnknownNameError("reward model", settings.reward_model, ("stated", "or a scikit-learn regressor"))
        if observed:
            raise InputError(
                f"the reward of {observed[0]!r} was only observed; the reward model 'stated' cannot supply it"
            )
        return [], [StatedReward(name, signal, problem) for name, signal in signals.items()], warnings
    default = settings.reward_model is None
    shared, seed = settings.shared_rewards, randomness.model_seed(settings.random_state)
    regressor = (
        default_regressor(seed, shared=shared)
        if default
        else with_columns(
            settings.reward_model, log.contexts, features, problem, settings.model_input,
            action="indicators", outcome=True,
        )
    )  # fmt: skip
    limits = limits_of(settings.effort)
    tuned = default and not shared and limits.tuned_rewards
    grid = settings.reward_grid or ((THOROUGH_GRID if limits.gentle_rewards else DEFAULT_GRID) if tuned else {})
    generator = randomness.generator(settings.random_state, "elicitation")
    answers = {
        name: elicit(signal, log.contexts, queries, problem, generator)
        for name, signal in signals.items()
        if name not in observed
    }
    groups: list[tuple[tuple[str, ...], RewardQueries, NDArray[np.float64]]] = [
        ((name,), logged_queries(log), log.rewards[name][None]) for name in observed
    ]
    if shared and answers:
        groups.append((tuple(answers), queries, np.stack(list(answers.values()))))
    else:
        groups += [((name,), queries, values[None]) for name, values in answers.items()]
    learners = [
        RewardLearner(names, regressor, grid, log, asked, values, features, problem, limits.reward_queries)
        for names, asked, values in groups
    ]
    return learners, [], warnings


def _expected(
    problem: DecisionProblem, contexts: Contexts, outcome: OutcomeModel, rewards: Sequence[OutcomeRewardModel]
) -> tuple[ExpectedRewards, OutcomePrediction]:
    """Return E and f on contexts."""
    prediction = outcome.predict(contexts)
    return expected_rewards(contexts, prediction, rewards, problem), prediction


def _held_out(
    problem: DecisionProblem,
    folds: tuple[Codes, ...],
    by_fold: Sequence[tuple[ExpectedRewards, OutcomePrediction]],
) -> tuple[ExpectedRewards, OutcomePrediction]:
    """Return E and f on all training rows, each fold from the models that did not see it."""
    order = np.argsort(np.concatenate(folds))
    parts = zip(by_fold, folds, strict=True)
    expected = np.concatenate([each.values[:, :, rows] for (each, _), rows in parts], axis=2)[:, :, order]
    expected.flags.writeable = False  # then it is taken without a copy
    predictions = [each.take(rows) for (_, each), rows in zip(by_fold, folds, strict=True)]
    return (
        ExpectedRewards(expected, stakeholders=problem.stakeholder_names, actions=problem.actions),
        joined(predictions).take(order),
    )


def joined(predictions: Sequence[OutcomePrediction]) -> OutcomePrediction:
    """Return the predictions of consecutive batches of contexts as one."""
    first = predictions[0]
    return OutcomePrediction(
        np.concatenate([each.weights for each in predictions], axis=2),
        None
        if first.nodes is None
        else np.concatenate([each.nodes for each in predictions if each.nodes is not None], axis=2),
        first.depends_on_action,
        None
        if first.means is None
        else np.concatenate([each.means for each in predictions if each.means is not None], axis=1),
    )
