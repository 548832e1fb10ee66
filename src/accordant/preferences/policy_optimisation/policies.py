"""What one policy gives each group, and three simple ways to choose it from the groups' rewards.

The value of a policy for group u is F_u(π) = E_x [Σ_y π(y | x) r_u(x, y)] − β E_x KL(π ‖ π₀), with contexts (prompts)
counted alike. `per_sample_minimum` takes the smallest reward of each candidate before averaging; by Jensen's inequality

    E_π [min_u r_u] ≤ min_u E_π [r_u],

so it is stricter than the maximin over expectations, and needs rewards on one scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.policy_optimisation.checks import checked_beta, checked_rewards
from accordant.preferences.policy_optimisation.tilting import tilt


@dataclass(frozen=True, eq=False)
class RegularisedPolicy:
    """A policy and what it gives each group.

    Attributes
    ----------
    policy
        π, shape (candidate, context); every column sums to 1.
    mean_rewards
        E_x E_π r_u, shape (group,).
    charge
        β E_x KL(π ‖ π₀), in units of reward; 0 for β = 0 and in the limit β → ∞.
    beta
        β as given.
    """

    policy: Values
    mean_rewards: Values
    charge: float
    beta: float

    @property
    def values(self) -> Values:
        """F_u(π), shape (group,)."""
        return np.asarray(self.mean_rewards - self.charge)

    @property
    def worst_value(self) -> float:
        """The smallest F_u(π)."""
        return float(self.values.min())


def average_reward(rewards: ArrayLike, reference: ArrayLike, beta: float) -> RegularisedPolicy:
    """Return the policy that is best for the mean of the groups' rewards, each group counted alike.

    Parameters
    ----------
    rewards
        r_u, shape (group, candidate, context), finite, any scale.
    reference
        π₀, shape (candidate, context).
    beta
        β ≥ 0 or infinite, in units of reward.

    Raises
    ------
    InputError
        If a shape, the reference or beta is wrong.
    """
    array, start = checked_rewards(rewards, reference)
    return regularised(array.mean(axis=0), array, start, checked_beta(beta))


def per_sample_minimum(rewards: ArrayLike, reference: ArrayLike, beta: float) -> RegularisedPolicy:
    """Return the policy that is best for min_u r_u(x, y), the smallest reward of each candidate.

    Parameters and errors as in `average_reward`; the groups' rewards must be on one scale.
    """
    array, start = checked_rewards(rewards, reference)
    return regularised(array.min(axis=0), array, start, checked_beta(beta))


def group_optimum(rewards: ArrayLike, reference: ArrayLike, beta: float, group: int) -> RegularisedPolicy:
    """Return the policy π_u* that is best for one group alone.

    Parameters
    ----------
    rewards, reference, beta
        As in `average_reward`.
    group
        Its position, 0 ≤ group < number of groups.

    Raises
    ------
    InputError
        If a shape, the reference, beta or the position is wrong.
    """
    array, start = checked_rewards(rewards, reference)
    if not 0 <= group < len(array):
        raise InputError(f"group is {group}; allowed: 0 to {len(array) - 1}")
    return regularised(array[group], array, start, checked_beta(beta))


def optima(rewards: Values, reference: Values, beta: float) -> Values:
    """Return F_u(π_u*) of every group, what it would get alone, shape (group,), without checks."""
    return np.array([tilt(row, reference, beta)[1].mean() for row in rewards])


def regularised(target: Values, rewards: Values, reference: Values, beta: float) -> RegularisedPolicy:
    """Return the policy that is best for the reward `target`, shape (candidate, context), without checks."""
    policy, best = tilt(target, reference, beta)
    bare = beta == 0 or math.isinf(beta)
    charge = 0.0 if bare else max(float(((policy * target).sum(axis=0) - best).mean()), 0.0)
    return RegularisedPolicy(policy, group_means(policy, rewards), charge, beta)


def weighted(weights: Values, rewards: Values) -> Values:
    """Return Σ_u λ_u r_u, shape (candidate, context)."""
    return np.asarray(np.tensordot(weights, rewards, axes=1), dtype=np.float64)


def group_means(policy: Values, rewards: Values) -> Values:
    """Return E_x E_π r_u, shape (group,)."""
    return np.asarray((rewards * policy).sum(axis=1).mean(axis=1))
