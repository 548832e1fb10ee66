"""What one policy gives each group, and three simple ways to choose it from the groups' rewards.

The value of a policy for group u is F_u(π) = E_x [Σ_y π(y | x) r_u(x, y)] − β E_x KL(π ‖ π₀), with contexts (prompts)
counted alike. `per_sample_minimum` takes the smallest reward of each candidate before averaging; by Jensen's inequality

    E_π [min_u r_u] ≤ min_u E_π [r_u],

so it is stricter than the maximin over expectations, and needs rewards on one scale.

The best of n draws from a reference policy, exactly.

If n candidates are drawn independently from π₀ and one with the highest reward is taken, equal ones with equal chance,
then with F(v) = Σ_{r(y) ≤ v} π₀(y) and F⁻ = F without the candidates at v itself

    P(y) = π₀(y) / (F − F⁻) · (Fⁿ − (F⁻)ⁿ),     v = r(y).

Its divergence from π₀ is at most log n − (n − 1) / n, with equality only without ties and atoms (Beirami et al. 2024,
arXiv 2401.01879).

Guards around a personal reward: a hard gate first, then a bounded step away from what is shared.

    r_u = r_shared + clip(kept_u (r_personal,u − r_shared), −most, most)   where a response is permitted; −∞ elsewhere

Whether a response is correct and safe is a gate and never a term of a sum, so that no reward can outbid it. `kept` is
how far a user's own reward is believed, for example n / (n + prior) after n answers. [ours]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.checks import finite_array
from accordant.preferences.policy_optimisation.tilting import checked_beta, checked_reference, checked_rewards, tilt


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
