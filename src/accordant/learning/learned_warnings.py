"""What everybody who reads learned models must know of the log and of how they were learned, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from accordant.contexts import Log
from accordant.learning.behaviour import LoggedBehaviour, followed_columns
from accordant.learning.diagnostics import Identification
from accordant.learning.effort import Effort, effort_warnings, limits_of
from accordant.learning.encoding import ContextEncoder
from accordant.learning.outcome_learning import DiscreteOutcomeLearner
from accordant.learning.reward_learning import QUICK_GRID, RewardLearner
from accordant.naming import listed
from accordant.rewards import ObservedReward, RewardSignal

MANY_COPIES = 0.2  # share of repeated rows worth a warning


def omission_warnings(effort: Effort, outcome: Any, rewards: Sequence[RewardLearner]) -> list[str]:
    """Say what was left out for want of time, by the learners of the outcome and of rewards."""
    default = isinstance(outcome, DiscreteOutcomeLearner) and outcome.classifier is None
    asked, most = max((len(learner.queries) for learner in rewards), default=0), limits_of(effort).reward_queries
    return effort_warnings(
        effort,
        default_model=default,
        default_rewards=any(learner.grid is QUICK_GRID for learner in rewards),
        forests=not default or outcome.forests,
        answers=None if most is None or asked <= most else (most, asked),
    )


def copies_warnings(log: Log, features: tuple[str, ...]) -> list[str]:
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


def estimated_rewards_warnings(identification: Identification, behaviour: LoggedBehaviour | None) -> list[str]:
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


def confounding_warnings(
    log: Log,
    signals: Mapping[str, RewardSignal],
    features: tuple[str, ...],
    identification: Identification,
    behaviour: LoggedBehaviour | None,
    random_state: int,
) -> list[str]:
    """Name the columns beyond the features that past decisions followed, where rewards rest on propensities."""
    estimated = identification.action_aware or any(isinstance(signal, ObservedReward) for signal in signals.values())
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
