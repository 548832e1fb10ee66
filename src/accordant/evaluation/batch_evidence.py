"""Gathering evidence: what is known about a batch of logged contexts once E has been computed on it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Log
from accordant.evidence import Evidence
from accordant.learning.augmentation import RewardQueries, elicit
from accordant.learning.causal import clip_propensities
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import ObservedReward, RewardSignal
from accordant.utilities import ExpectedRewards


def gather_evidence(
    problem: DecisionProblem,
    log: Log,
    signals: Mapping[str, RewardSignal],
    expected: ExpectedRewards,
    prediction: OutcomePrediction,
    *,
    propensities: NDArray[np.float64] | None = None,
    true_levels: NDArray[np.float64] | None = None,
    outcome_limits: tuple[float, float] | None = None,
) -> Evidence:
    """Join a log with E and f on its contexts.

    Parameters
    ----------
    problem
        The decision problem.
    log
        Contexts with logged actions and observed outcomes.
    signals
        Fitted reward signals.
    expected, prediction
        E and f on the same contexts.
    propensities
        Probability of each action under the logged behaviour, shape (action, context), from a model that did not
        see these contexts. Without them, expected rewards stand in for actions not taken where outcomes depend on
        the action, which flatters strategies that maximise E.
    true_levels
        Simulated data only: true mean outcome of every action, shape (action, context).
    outcome_limits
        See `Evidence`.
    """
    rows = np.arange(len(log))
    levels = robust = None
    if problem.continuous:
        levels = prediction.levels().copy()
        levels[log.actions, rows] = log.outcomes
        if propensities is not None:
            robust = doubly_robust(prediction.levels(), levels, propensities, log)
    rewards = _realised_rewards(problem, log, signals, expected, prediction.depends_on_action)
    observed = None
    guessed = _estimated(problem, signals, prediction)
    if guessed.any() and propensities is not None:
        observed = rewards[:, log.actions, rows]
        predicted = expected.values[guessed].astype(np.float64)
        rewards[guessed] = doubly_robust(predicted, rewards[guessed], propensities, log)
    return Evidence(
        problem, log, expected, rewards, prediction, levels, true_levels, robust, guessed, observed,
        propensities if guessed.any() or robust is not None else None, outcome_limits,
    )  # fmt: skip


def _estimated(
    problem: DecisionProblem, signals: Mapping[str, RewardSignal], prediction: OutcomePrediction
) -> NDArray[np.bool_]:
    """Return whose rewards of actions not taken are unknown even after the fact, shape (stakeholder,)."""
    aware = prediction.depends_on_action
    return np.array([aware or isinstance(signals[name], ObservedReward) for name in problem.stakeholder_names])


def doubly_robust(
    predicted: NDArray[np.float64], observed: NDArray[np.float64], propensities: NDArray[np.float64], log: Log
) -> NDArray[np.float64]:
    """Return m_a + 1[A = a] (y − m_a) / e_a (Robins, Rotnitzky and Zhao 1994), shape as `predicted`.

    Means over contexts are right, for decisions that read contexts alone, if either the predictions m or the
    propensities e are; propensities are clipped at 0.02. For decisions that follow the log they are not: see
    `Evidence.as_observed`.

    Parameters
    ----------
    predicted
        Shape (..., action, context).
    observed
        The same with what was observed at the logged action.
    propensities
        Shape (action, context).
    log
        The logged actions.
    """
    rows = np.arange(len(log))
    weights = np.zeros_like(propensities)
    weights[log.actions, rows] = 1 / clip_propensities(propensities)[log.actions, rows]
    return np.asarray(predicted + weights * (observed - predicted))


def _realised_rewards(
    problem: DecisionProblem,
    log: Log,
    signals: Mapping[str, RewardSignal],
    expected: ExpectedRewards,
    action_aware: bool,
) -> NDArray[np.float64]:
    """Return the reward of each action given what followed, and the expected one where that is unknown.

    If outcomes do not depend on the action, the observed outcome tells every action's reward; else only
    that of the logged action. A reward that was merely observed is known for the logged action only.
    """
    rewards = expected.values.astype(np.float64)
    rows = np.arange(len(log))
    for index, name in enumerate(problem.stakeholder_names):
        signal = signals[name]
        if isinstance(signal, ObservedReward):
            rewards[index, log.actions, rows] = log.rewards[name]
            continue
        for action in range(len(problem.actions)):
            known = np.flatnonzero(log.actions == action) if action_aware else rows
            queries = RewardQueries(known, np.full(len(known), action, dtype=np.intp), log.outcomes[known])
            rewards[index, action, known] = elicit(signal, log.contexts, queries, problem, None)
    return rewards
