"""The policy that is best for one reward under a divergence from a reference, and that divergence.

For a reward r of shape (candidate, context), a reference π₀ and a weight β > 0 the policy

    π(y | x) = π₀(y | x) exp(r(x, y) / β) / Z(x),     Z(x) = Σ_y π₀(y | x) exp(r(x, y) / β)

maximises Σ_y π(y | x) r(x, y) − β KL(π ‖ π₀) in every context, and the maximum is β log Z(x) (Gibbs' variational
principle; Donsker and Varadhan 1975). Limits: for β → ∞ the policy is π₀ and the maximum Σ π₀ r; for β → 0 the policy
is π₀ restricted to the best candidates that π₀ allows, and the maximum their reward.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.preferences.policy_optimisation.checks import checked_beta, checked_reference, finite_array


def exponential_tilt(reward: ArrayLike, reference: ArrayLike, beta: float) -> Values:
    """Return the policy that is best for one reward, shape (candidate, context).

    Parameters
    ----------
    reward
        Shape (candidate, context), finite, any scale.
    reference
        π₀, shape (candidate, context); candidates with probability 0 keep it.
    beta
        Weight of the divergence, ≥ 0 or infinite, in units of reward.

    Raises
    ------
    InputError
        If a shape, the reference or beta is wrong.
    """
    array = finite_array("reward", reward, ("candidate", "context"))
    return tilt(array, checked_reference(reference, array.shape), checked_beta(beta))[0]


def kl_divergence(policy: ArrayLike, reference: ArrayLike) -> Values:
    """Return KL(policy ‖ reference) in each context, shape (context,), in nats.

    Infinite where the policy takes a candidate that the reference excludes.

    Raises
    ------
    InputError
        If one of them is no policy or the shapes differ.
    """
    array = finite_array("policy", policy, ("candidate", "context"))
    return divergence(checked_reference(array, array.shape, "policy"), checked_reference(reference, array.shape))


def tilt(reward: Values, reference: Values, beta: float) -> tuple[Values, Values]:
    """Return the tilted policy (candidate, context) and β log Z (context,), without checks.

    Both stay accurate for large β, where log Z is the logarithm of a number next to 1.
    """
    allowed = reference > 0
    top = np.where(allowed, reward, -np.inf).max(axis=0)
    below = np.where(allowed, reward - top, 0.0)
    if beta == 0:
        policy = reference * (allowed & (below == 0))
        return policy / policy.sum(axis=0), top
    mean = (reference * below).sum(axis=0)
    if math.isinf(beta):
        return reference.copy(), top + mean
    with np.errstate(over="ignore"):  # −∞ after the division is a weight of 0
        weights = reference * np.exp(below / beta)
        centred = np.where(allowed, below - mean, 0.0) / beta
    total = weights.sum(axis=0)
    gentle = np.abs(centred).max(axis=0) < 1
    small = (reference * np.expm1(np.where(gentle, centred, 0.0))).sum(axis=0)
    log_partition = np.where(gentle, mean + beta * np.log1p(small), beta * np.log(total))
    return weights / total, np.asarray(top + log_partition)


def divergence(policy: Values, reference: Values) -> Values:
    """Return KL(policy ‖ reference) in each context without checks, shape (context,)."""
    taken = policy > 0
    ratio = np.divide(policy, reference, out=np.full_like(policy, np.inf), where=reference > 0)
    terms = np.where(taken, policy * np.log(np.where(taken, ratio, 1.0)), 0.0)
    return np.asarray(np.maximum(terms.sum(axis=0), 0.0))
