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
from accordant.errors import InputError
from accordant.preferences.checks import finite_array

SUM_TOLERANCE = 1e-6  # a reference read from a text file rarely sums to 1 more exactly than this
AXES = ("group", "candidate", "context")


def checked_rewards(rewards: ArrayLike, reference: ArrayLike) -> tuple[Values, Values]:
    """Return rewards of shape (group, candidate, context) and the reference policy that belongs to them.

    Raises
    ------
    InputError
        If a shape is wrong, a number is not finite, or the reference is no policy.
    """
    array = finite_array("rewards", rewards, AXES)
    return array, checked_reference(reference, array.shape[1:])


def checked_reference(reference: ArrayLike, shape: tuple[int, ...], name: str = "reference") -> Values:
    """Return a policy of shape (candidate, context) whose columns sum to 1 exactly (up to rounding).

    Parameters
    ----------
    reference
        Probabilities; 0 is allowed and takes the candidate out.
    shape
        Candidates and contexts of the rewards.
    name
        What the policy is called in the message.

    Raises
    ------
    InputError
        If the shape differs, a number is negative or not finite, or a column does not sum to 1 within 10⁻⁶.
    """
    array = finite_array(name, reference, AXES[1:])
    if array.shape != tuple(shape):
        raise InputError(
            f"{name} has shape {array.shape}; allowed: (candidate, context) of the rewards, here {tuple(shape)}"
        )
    totals = array.sum(axis=0)
    wrong = (array < 0).any(axis=0) | (np.abs(totals - 1) > SUM_TOLERANCE)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"{name} of context {first} has smallest probability {array[:, first].min():g} "
            f"and sum {totals[first]:g}; allowed: probabilities ≥ 0 that sum to 1"
        )
    return np.asarray(array / totals)


def checked_beta(beta: float) -> float:
    """Return the weight of the divergence.

    Raises
    ------
    InputError
        If it is negative or NaN. 0 and infinity are allowed: they are the limits.
    """
    if math.isnan(beta) or beta < 0:
        raise InputError(f"beta is {beta}; allowed: a number ≥ 0, or infinity")
    return float(beta)


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
