"""What one policy gives each group, and simple ways to choose it: tilted, the best of n draws, or with guards.

The value of a policy for group u is F_u(π) = E_x [Σ_y π(y | x) r_u(x, y)] − β E_x KL(π ‖ π₀), with contexts (prompts)
counted alike. `per_sample_minimum` takes the smallest reward of each candidate before averaging; by Jensen's inequality

    E_π [min_u r_u] ≤ min_u E_π [r_u],

so it is stricter than the maximin over expectations, and needs rewards on one scale.

`best_of_n` is exact. If n candidates are drawn independently from π₀ and one with the highest reward is taken, equal
ones with equal chance, then with F(v) = Σ_{r(y) ≤ v} π₀(y) and F⁻ = F without the candidates at v itself

    P(y) = π₀(y) / (F − F⁻) · (Fⁿ − (F⁻)ⁿ),     v = r(y).

Its divergence from π₀ is at most log n − (n − 1) / n, with equality only without ties and atoms (Beirami et al. 2024,
arXiv 2401.01879).

`guarded_rewards` puts a hard gate before a personal reward, then a bounded step away from what is shared:

    r_u = r_shared + clip(kept_u (r_personal,u − r_shared), −most, most)   where a response is permitted; −∞ elsewhere

Whether a response is correct and safe is a gate and never a term of a sum, so that no reward can outbid it. `kept` is
how far a user's own reward is believed, for example n / (n + prior) after n answers. [ours]

`exponential_tilt` gives the policy that is best for one reward under a divergence from a reference. For a reward r of
shape (candidate, context), a reference π₀ and a weight β > 0 the policy

    π(y | x) = π₀(y | x) exp(r(x, y) / β) / Z(x),     Z(x) = Σ_y π₀(y | x) exp(r(x, y) / β)

maximises Σ_y π(y | x) r(x, y) − β KL(π ‖ π₀) in every context, and the maximum is β log Z(x) (Gibbs' variational
principle; Donsker and Varadhan 1975). Limits: for β → ∞ the policy is π₀ and the maximum Σ π₀ r; for β → 0 the policy
is π₀ restricted to the best candidates that π₀ allows, and the maximum their reward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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


def best_of_n(reward: ArrayLike, reference: ArrayLike, draws: int) -> Values:
    """Return the distribution of the best of n draws, shape (candidate, context).

    Parameters
    ----------
    reward
        Shape (candidate, context), finite; only its order and its ties matter.
    reference
        π₀, shape (candidate, context).
    draws
        n ≥ 1; 1 returns the reference.

    Raises
    ------
    InputError
        If a shape, the reference or the number of draws is wrong.
    """
    array = finite_array("reward", reward, ("candidate", "context"))
    start = checked_reference(reference, array.shape)
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise InputError(f"draws is {draws!r}; allowed: a whole number ≥ 1")
    order = array.argsort(axis=0, kind="stable")
    ranked = np.take_along_axis(array, order, axis=0)
    mass = np.take_along_axis(start, order, axis=0)
    reached = np.minimum(mass.cumsum(axis=0), 1.0)
    before = np.concatenate([np.zeros((1, mass.shape[1])), reached[:-1]])
    below, upto = _tied_ends(ranked, before, reached)
    tied = upto - below
    # Fⁿ − (F⁻)ⁿ = Fⁿ (1 − (1 − tied / F)ⁿ), which keeps its digits where F and F⁻ are close
    share = np.divide(tied, upto, out=np.zeros_like(tied), where=upto > 0)
    with np.errstate(divide="ignore"):
        gained = upto**draws * -np.expm1(draws * np.log1p(-share))
    ranked_policy = np.divide(mass * gained, tied, out=np.zeros_like(mass), where=tied > 0)
    policy = np.empty_like(ranked_policy)
    np.put_along_axis(policy, order, ranked_policy, axis=0)
    return np.asarray(policy / policy.sum(axis=0))


def _tied_ends(ranked: Values, before: Values, reached: Values) -> tuple[Values, Values]:
    """Return F⁻ and F of the set of equal rewards that each ranked candidate belongs to, shape (candidate, context)."""
    new = np.ones(ranked.shape, dtype=np.bool_)
    new[1:] = ranked[1:] > ranked[:-1]
    last = np.ones(ranked.shape, dtype=np.bool_)
    last[:-1] = new[1:]
    below = np.maximum.accumulate(np.where(new, before, 0.0), axis=0)
    upto = np.minimum.accumulate(np.where(last, reached, 1.0)[::-1], axis=0)[::-1]
    return below, upto


def guarded_rewards(
    shared: ArrayLike,
    personal: ArrayLike,
    *,
    most: float,
    kept: ArrayLike | None = None,
    permitted: ArrayLike | None = None,
) -> Values:
    """Return rewards within a distance of the shared ones, shape (user, candidate, context).

    Parameters
    ----------
    shared
        Rewards for everybody, shape (candidate, context).
    personal
        Rewards of each user in the same units, shape (user, candidate, context).
    most
        Largest distance from the shared reward, at least 0; infinite for no bound.
    kept
        Share of each user's own difference that is believed, in [0, 1], shape (user,); None for all of it.
    permitted
        Which candidates may be chosen, bool of shape (candidate, context), at least one in each context; None for all.

    Raises
    ------
    InputError
        If a shape or a number is wrong, or a context has no permitted candidate.
    """
    common = finite_array("shared", shared, ("candidate", "context"))
    own = finite_array("personal", personal, ("user", "candidate", "context"))
    if own.shape[1:] != common.shape:
        raise InputError(f"personal has shape {own.shape}; allowed: (user, {common.shape[0]}, {common.shape[1]})")
    if math.isnan(most) or most < 0:
        raise InputError(f"most is {most}; allowed: at least 0")
    believed = np.ones(len(own)) if kept is None else finite_array("kept", kept, ("user",))
    if believed.shape != (len(own),) or (believed < 0).any() or (believed > 1).any():
        raise InputError(f"kept has shape {believed.shape}; allowed: ({len(own)},), each in [0, 1]")
    allowed = np.ones(common.shape, dtype=bool) if permitted is None else np.asarray(permitted)
    if allowed.shape != common.shape or allowed.dtype != bool:
        raise InputError(f"permitted has shape {allowed.shape} of {allowed.dtype}; allowed: bool of {common.shape}")
    if not allowed.any(axis=0).all():
        raise InputError(
            f"context {int(np.argmin(allowed.any(axis=0)))} has no permitted candidate; allowed: at least one"
        )
    away = np.clip(believed[:, None, None] * (own - common), -most, most)
    return np.where(allowed, common + away, -np.inf)
