"""Gathering evidence: what is known about a batch of logged contexts once E has been computed on it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Log
from accordant.evidence import Evidence
from accordant.learning.augmentation import RewardQueries, elicit
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
    true_levels: NDArray[np.float64] | None = None,
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
    true_levels
        Simulated data only: true mean outcome of every action, shape (action, context).
    """
    rows = np.arange(len(log))
    levels = None
    if problem.continuous:
        levels = prediction.levels().copy()
        levels[log.actions, rows] = log.outcomes
    return Evidence(
        problem,
        log,
        expected,
        _realised_rewards(problem, log, signals, expected, prediction.depends_on_action),
        prediction,
        levels,
        true_levels,
    )


def _realised_rewards(
    problem: DecisionProblem,
    log: Log,
    signals: Mapping[str, RewardSignal],
    expected: ExpectedRewards,
    action_aware: bool,
) -> NDArray[np.float64]:
    """Return the reward of each action given what followed, and the expected one where nothing is known.

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
