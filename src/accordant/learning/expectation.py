"""E[i, a, t] = Σ_o q_i(x_t, a, o) f(o | x_t, a): the expectation that everything else reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Contexts
from accordant.learning.reward_models import OutcomeRewardModel, each_reward
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

BLOCK = 1 << 16  # contexts × nodes per block: q of one stakeholder stays below 2 MB for 3 actions


def expectation(rewards: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ_k w[a, k, t] q[…, a, k, t], shape (…, action, context).

    Parameters
    ----------
    rewards
        q, shape (…, action, node, context), in [0, 1].
    weights
        Probabilities of the nodes, shape (action, node, context).
    """
    # node by node in a fixed order, so that a batch gives the same bytes as single rows
    total = rewards[..., 0, :] * weights[:, 0]
    for node in range(1, weights.shape[1]):
        total += rewards[..., node, :] * weights[:, node]
    return np.asarray(total)


def weighted_rewards(
    contexts: Contexts, prediction: OutcomePrediction, models: Sequence[OutcomeRewardModel], shares: Mapping[str, float]
) -> NDArray[np.float64]:
    """Return Σ_i w_i q_i(x, a, o), shape (action, node, context), computed in blocks as E is.

    Parameters
    ----------
    contexts, prediction
        Contexts with the nodes of f on them.
    models
        Reward models.
    shares
        Weight of each stakeholder that counts; others are left out.
    """
    total = np.zeros(prediction.weights.shape)
    step = max(1, BLOCK // prediction.weights.shape[1])
    counted = [model for model in models if any(shares.get(name, 0.0) > 0 for name in model.stakeholders)]
    for start in range(0, contexts.n_contexts, step):
        block = slice(start, start + step)
        nodes = None if prediction.nodes is None else prediction.nodes[:, :, block]
        for name, rewards in each_reward(counted, contexts.take(block), nodes):
            total[:, :, block] += shares.get(name, 0.0) * rewards
    return total


def expected_rewards(
    contexts: Contexts, prediction: OutcomePrediction, models: Sequence[OutcomeRewardModel], problem: DecisionProblem
) -> ExpectedRewards:
    """Return E on a batch of contexts."""
    values = expected_values(contexts, prediction, models, problem.stakeholder_names)
    values.flags.writeable = False  # then it is taken without a copy
    return ExpectedRewards(values, stakeholders=problem.stakeholder_names, actions=problem.actions)


def expected_values(
    contexts: Contexts, prediction: OutcomePrediction, models: Sequence[OutcomeRewardModel], names: Sequence[str]
) -> NDArray[np.float64]:
    """Return E of the stakeholders of some models, in the order of `names`, shape (stakeholder, action, context).

    It is computed in blocks, so that memory stays bounded.
    """
    n_contexts, position = contexts.n_contexts, {name: i for i, name in enumerate(names)}
    values = np.empty((len(position), len(prediction.weights), n_contexts))
    step = max(1, BLOCK // prediction.weights.shape[1])
    for start in range(0, n_contexts, step):
        block = slice(start, start + step)
        part = contexts if n_contexts <= step else contexts.take(block)
        nodes = None if prediction.nodes is None else prediction.nodes[:, :, block]
        for name, rewards in each_reward(models, part, nodes):
            values[position[name], :, block] = expectation(rewards, prediction.weights[:, :, block])
    return values
