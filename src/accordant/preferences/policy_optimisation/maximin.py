"""The maximin over groups with a divergence from a reference, solved exactly on a finite set of candidates.

The objective is that of MaxMin-RLHF (Chakraborty et al. 2024, arXiv 2402.08925), here over all policies on the
candidates:

    max_π min_u F_u(π),     F_u(π) = E_x [Σ_y π(y | x) r_u(x, y)] − β E_x KL(π ‖ π₀).

Σ_u λ_u F_u(π) is concave in π and linear in the groups' weights λ, so by Sion's theorem (1958) the maximum equals

    min_λ E_x β log Σ_y π₀ exp(Σ_u λ_u r_u / β),     π*(y | x) ∝ π₀(y | x) exp(Σ_u λ*_u r_u(x, y) / β).

One λ serves all contexts, because the objective averages over contexts before it takes the minimum. Groups with
λ*_u > 0 get the same mean reward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.preferences.policy_optimisation.checks import checked_beta, checked_rewards
from accordant.preferences.policy_optimisation.dual import solve_dual
from accordant.preferences.policy_optimisation.linear import solve_linear
from accordant.preferences.policy_optimisation.policies import RegularisedPolicy, group_means, weighted
from accordant.preferences.policy_optimisation.tilting import divergence, tilt

GAP_TOLERANCE = 1e-10  # times the largest reward difference; below it the two bounds agree for every purpose


@dataclass(frozen=True, eq=False)
class MaximinPolicy(RegularisedPolicy):
    """The policy whose worst-off group is best off, with the proof.

    Attributes
    ----------
    group_weights
        λ*, shape (group,), ≥ 0, sum 1: how much each group's reward counts in π*.
    primal
        min_u F_u(π), the value that the policy reaches.
    dual
        What no policy exceeds.
    gap
        dual − primal ≥ 0.
    iterations
        Newton steps; 0 in the limits β = 0 and β = ∞, which need none.
    converged
        Whether the gap is at most 10⁻¹⁰ times the largest difference of rewards.
    """

    group_weights: Values
    primal: float
    dual: float
    gap: float
    iterations: int
    converged: bool


def maximin_expectation(rewards: ArrayLike, reference: ArrayLike, beta: float) -> MaximinPolicy:
    """Return the policy that is best for the worst-off group by expected reward.

    Parameters
    ----------
    rewards
        r_u, shape (group, candidate, context), finite. Adding a number to one group's rewards changes the answer: use
        `equal_regret` where the groups' rewards have no common zero.
    reference
        π₀, shape (candidate, context); candidates with probability 0 are never taken.
    beta
        β ≥ 0, in units of reward. 0 solves the linear program, whose policy need not be the only best one; infinity
        returns the reference.

    Raises
    ------
    InputError
        If a shape, the reference or beta is wrong.

    References
    ----------
    Chakraborty et al. (2024), arXiv 2402.08925 (objective); Sion (1958) (exchange of maximum and minimum).
    """
    array, start = checked_rewards(rewards, reference)
    return solve_maximin(array, start, checked_beta(beta))


def solve_maximin(rewards: Values, reference: Values, beta: float) -> MaximinPolicy:
    """Do what `maximin_expectation` does, without checks."""
    allowed = reference > 0
    # a number added to all groups' rewards of one context moves every F alike; the middle of the range keeps digits
    highest = np.where(allowed, rewards, -np.inf).max(axis=(0, 1))
    lowest = np.where(allowed, rewards, np.inf).min(axis=(0, 1))
    middle = lowest + (highest - lowest) / 2
    scale = float((highest - lowest).max()) or 1.0
    scaled = np.where(allowed, (rewards - middle) / scale, 0.0)
    solved = _solve_scaled(scaled, reference, beta / scale)
    level = float(middle.mean())
    return MaximinPolicy(
        policy=solved.policy,
        mean_rewards=solved.mean_rewards * scale + level,
        charge=solved.charge * scale,
        beta=beta,
        group_weights=solved.group_weights,
        primal=solved.primal * scale + level,
        dual=solved.dual * scale + level,
        gap=solved.gap * scale,
        iterations=solved.iterations,
        converged=solved.gap <= GAP_TOLERANCE,
    )


def _solve_scaled(rewards: Values, reference: Values, beta: float) -> MaximinPolicy:
    """Solve for rewards of scale 1; takes the linear program's policy where β is too small for Newton's."""
    if beta == 0:
        return _linear(rewards, reference, beta)
    if math.isinf(beta):
        means = group_means(reference, rewards)
        worst = means == means.min()
        return _tilted(worst / worst.sum(), rewards, reference, beta, 0)
    found = solve_dual(rewards, reference, beta)
    newton = _tilted(found.weights, rewards, reference, beta, found.steps)
    if newton.gap <= GAP_TOLERANCE:
        return newton
    linear = _linear(rewards, reference, beta)
    return linear if linear.gap < newton.gap else newton


def _tilted(weights: Values, rewards: Values, reference: Values, beta: float, steps: int) -> MaximinPolicy:
    """Return the policy tilted by the weighted rewards, with its bounds."""
    policy, best = tilt(weighted(weights, rewards), reference, beta)
    means = group_means(policy, rewards)
    dual = float(best.mean())
    charge = 0.0 if math.isinf(beta) else max(float(weights @ means) - dual, 0.0)
    gap = max(float(weights @ means - means.min()), 0.0)
    primal = float(means.min()) - charge
    return MaximinPolicy(policy, means, charge, beta, weights, primal, dual, gap, steps, gap <= GAP_TOLERANCE)


def _linear(rewards: Values, reference: Values, beta: float) -> MaximinPolicy:
    """Return the linear program's policy, with its bounds for this β."""
    policy, weights = solve_linear(rewards, reference)
    means = group_means(policy, rewards)
    charge = beta * float(divergence(policy, reference).mean())
    primal = float(means.min()) - charge
    dual = float(tilt(weighted(weights, rewards), reference, beta)[1].mean())
    gap = max(dual - primal, 0.0)
    return MaximinPolicy(policy, means, charge, beta, weights, primal, dual, gap, 0, gap <= GAP_TOLERANCE)
