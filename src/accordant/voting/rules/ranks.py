"""From expected rewards to ranks: the ballot that each stakeholder would hand in."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Integers, Values
from accordant.compiled import compiled
from accordant.voting.profile import rank_type
from accordant.voting.rules.layout import MANY_CONTEXTS


def ranks_by_reward(rewards: Values, tolerance: float) -> Integers:
    """Return how many actions each stakeholder rewards more, by more than the tolerance.

    Being level within a tolerance is not transitive, these numbers are: a ≈ b ≈ c with a above c gives a and b rank 0
    and c rank 1.

    Parameters
    ----------
    rewards
        E, shape (stakeholder, action, context).
    tolerance
        Rewards this close are level.

    Returns
    -------
    Shape (stakeholder, action, context), the smallest integers that hold them.
    """
    n_stakeholders, n_actions, n_contexts = rewards.shape
    ranks: Integers = np.zeros((n_stakeholders, n_actions, n_contexts), dtype=rank_type(n_actions))
    if n_contexts >= MANY_CONTEXTS:
        count_better(rewards, tolerance, ranks)
        return ranks
    for a in range(n_actions - 1):
        difference = rewards[:, a : a + 1] - rewards[:, a + 1 :]
        ranks[:, a + 1 :] += difference > tolerance
        ranks[:, a] += (difference < -tolerance).sum(axis=1, dtype=ranks.dtype)
    return ranks


@compiled
def count_better(rewards: Values, tolerance: float, ranks: Integers) -> None:
    """Add to `ranks` how many actions each stakeholder rewards more."""
    n_stakeholders, n_actions, n_contexts = rewards.shape
    for i in range(n_stakeholders):
        for a in range(n_actions):
            first, rank_of_first = rewards[i, a], ranks[i, a]
            for b in range(a + 1, n_actions):
                second, rank_of_second = rewards[i, b], ranks[i, b]
                for t in range(n_contexts):
                    difference = first[t] - second[t]
                    rank_of_second[t] += difference > tolerance
                    rank_of_first[t] += difference < -tolerance
