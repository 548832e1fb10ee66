"""E[i, a, t] = Σ_o q_i(x_t, a, o) f(o | x_t, a): the expectation that everything else reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Contexts
from accordant.learning.reward_models import RewardModel, predict_rewards
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

BLOCK = 4096  # contexts per block: q of a block stays below about 10 MB for 3 stakeholders × 3 × 20 nodes


def expectation(rewards: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ_k w[a, k, t] q[i, a, k, t], shape (stakeholder, action, context).

    Parameters
    ----------
    rewards
        q, shape (stakeholder, action, node, context), in [0, 1].
    weights
        Probabilities of the nodes, shape (action, node, context).
    """
    # node by node in a fixed order, so that a batch gives the same bytes as single rows
    total = rewards[:, :, 0] * weights[:, 0]
    for node in range(1, weights.shape[1]):
        total += rewards[:, :, node] * weights[:, node]
    return np.asarray(total)


def expected_rewards(
    contexts: Contexts, prediction: OutcomePrediction, models: Sequence[RewardModel], problem: DecisionProblem
) -> ExpectedRewards:
    """Return E on a batch of contexts, computed in blocks so that memory stays bounded."""
    values = np.empty((len(problem.stakeholders), len(problem.actions), contexts.n_contexts))
    for start in range(0, contexts.n_contexts, BLOCK):
        block = slice(start, start + BLOCK)
        nodes = None if prediction.nodes is None else prediction.nodes[:, :, block]
        rewards = predict_rewards(models, contexts.take(block), nodes, problem)
        values[:, :, block] = expectation(rewards, prediction.weights[:, :, block])
    return ExpectedRewards(values, stakeholders=problem.stakeholder_names, actions=problem.actions)
