"""The maximin over groups, with a divergence from a reference or without, and equal regret: exact on finite candidates.

`maximin_expectation`: the objective is that of MaxMin-RLHF (Chakraborty et al. 2024, arXiv 2402.08925), here over all
policies on the candidates:

    max_π min_u F_u(π),     F_u(π) = E_x [Σ_y π(y | x) r_u(x, y)] − β E_x KL(π ‖ π₀).

Σ_u λ_u F_u(π) is concave in π and linear in the groups' weights λ, so by Sion's theorem (1958) the maximum equals

    min_λ E_x β log Σ_y π₀ exp(Σ_u λ_u r_u / β),     π*(y | x) ∝ π₀(y | x) exp(Σ_u λ*_u r_u(x, y) / β).

One λ serves all contexts, because the objective averages over contexts before it takes the minimum. Groups with
λ*_u > 0 get the same mean reward.

`solve_dual` minimises the dual, a smooth convex function of the groups' weights, to rounding. For weights λ on the
simplex the dual is D(λ) = E_x β log Σ_y π₀ exp(Σ_u λ_u r_u / β). Its gradient is m(λ), the mean rewards under the
tilted policy π_λ, its Hessian E_x Cov_{π_λ}(r) / β. The value of π_λ is min_u m_u − β E KL, so

    gap(λ) = D(λ) − min_u F_u(π_λ) = λᵀm(λ) − min_u m_u(λ) ≥ 0

needs no cancellation of large numbers. Weights at 0 make plain Newton steps leave the simplex; therefore a logarithmic
barrier −t Σ log λ_u is added, Newton steps with line search are taken, and t goes to 0 (Boyd and Vandenberghe 2004,
ch. 11). Where β is small against the rewards, D has sharp bends; β then comes down from their scale together with t.

`solve_linear`: without a divergence (β = 0) the maximin is a linear program, max v subject to E_x Σ_y π(y | x)
r_u(x, y) ≥ v for every group, π(· | x) a distribution on the candidates that the reference allows. Its dual is min_λ
E_x max_y Σ_u λ_u r_u(x, y). The best policy need not be the only one.

`equal_regret`: under this policy the group that gives up most gives up least. A group's regret is what it would get
alone minus what it gets, F_u(π_u*) − F_u(π). The policy

    argmin_π max_u [F_u(π_u*) − F_u(π)]

(after the min–max regret aggregation of Chidambaram, Seetharaman and Syrgkanis 2024, arXiv 2405.15065, here over all
policies on the candidates) does not change if a number is added to one group's rewards. It is the maximin over rewards
r_u − F_u(π_u*), so the same solver and the same proof serve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.preferences.policy_optimisation.policies import (
    RegularisedPolicy,
    checked_beta,
    checked_rewards,
    divergence,
    group_means,
    optima,
    tilt,
    weighted,
)

GOAL = 1e-13  # the gap, in units of the largest reward difference, at which no digit is left to gain
SHRINK = 0.2  # of β and t from one stage to the next
START = 0.1  # the first t
LAST = 1e-16  # the last t
STEPS = 30  # Newton steps in one stage; 3 to 6 are usual
HALVINGS = 40  # of a step that does not descend
RIDGE = 1e-14  # times the trace: groups with equal rewards make the Hessian singular
INTERIOR = 0.99  # share of the way to the border of the simplex that one step may go
RISE = 0.5  # a step is too long if D climbs at its end by more than this share of the descent at its start
CENTRED = 0.01  # a stage ends if the predicted descent is below this share of t
GAP_TOLERANCE = 1e-10  # times the largest reward difference; below it the two bounds agree for every purpose


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the groups, the gap of their policy, and the Newton steps they took."""

    weights: Values
    gap: float
    steps: int


def solve_dual(rewards: Values, reference: Values, beta: float) -> Weights:
    """Return weights whose gap is as small as rounding permits.

    Parameters
    ----------
    rewards
        Shape (group, candidate, context), of scale 1: the largest absolute value is about 1.
    reference
        Shape (candidate, context).
    beta
        β > 0, finite, on the scale of the rewards.
    """
    weights = np.full(len(rewards), 1 / len(rewards))
    best = Weights(weights, _gap(weights, rewards, reference, beta), 0)
    steps, bend, barrier = 0, max(beta, 1.0), START
    while best.gap > GOAL and (barrier > LAST or bend > beta):
        bend, barrier = max(bend * SHRINK, beta), max(barrier * SHRINK, LAST)
        weights, taken = _centre(weights, rewards, reference, bend, barrier)
        steps += taken
        for candidate in (weights, _without_idle(weights, rewards, reference, beta)):
            gap = _gap(candidate, rewards, reference, beta)
            if gap < best.gap:
                best = Weights(candidate, gap, steps)
    return Weights(best.weights, best.gap, steps)


def _centre(weights: Values, rewards: Values, reference: Values, beta: float, barrier: float) -> tuple[Values, int]:
    """Return the minimiser of D(λ) − t Σ log λ_u, found by Newton steps from `weights`, and their number."""
    gradient, curvature = _derivatives(weights, rewards, reference, beta, barrier)
    for step in range(STEPS):
        direction = _newton(weights, gradient, curvature)
        slope = float(gradient @ direction)
        if step and -slope <= CENTRED * barrier:
            return weights, step
        falling = direction < 0
        length = min(1.0, INTERIOR * float((weights[falling] / -direction[falling]).min(initial=np.inf)))
        for _ in range(HALVINGS):
            moved = weights + length * direction
            moved /= moved.sum()
            gradient, curvature = _derivatives(moved, rewards, reference, beta, barrier)
            # slopes keep their digits where differences of D have none left (Hager and Zhang 2005)
            if float(gradient @ direction) <= -RISE * slope:
                break
            length /= 2
        else:
            return weights, step
        weights = moved
    return weights, STEPS


def _newton(weights: Values, gradient: Values, curvature: Values) -> Values:
    """Return the Newton direction within Σ λ = 1, from the derivatives with respect to log λ."""
    solved = np.linalg.solve(curvature, np.stack([gradient * weights, weights], axis=1))
    multiplier = float(weights @ solved[:, 0]) / float(weights @ solved[:, 1])
    direction = -weights * (solved[:, 0] - multiplier * solved[:, 1])
    return np.asarray(direction - weights * direction.sum())


def _derivatives(
    weights: Values, rewards: Values, reference: Values, beta: float, barrier: float
) -> tuple[Values, Values]:
    """Return the gradient of D(λ) − t Σ log λ_u and its Hessian with rows and columns multiplied by λ.

    So scaled, the barrier's part of the Hessian, t / λ², becomes t on the diagonal. The gradient's mean under λ is
    taken out: within the simplex it moves nothing, and it would cost digits.
    """
    policy = tilt(weighted(weights, rewards), reference, beta)[0]
    within = (rewards * policy).sum(axis=1)
    centred = (rewards - within[:, None, :]).reshape(len(rewards), -1)
    covariance = (centred * (policy.ravel() / rewards.shape[2])) @ centred.T
    curvature = covariance / beta * np.outer(weights, weights)
    ridge = max(barrier, RIDGE * float(np.trace(curvature)))
    gradient = within.mean(axis=1) - barrier / weights
    return gradient - weights @ gradient, curvature + ridge * np.eye(len(weights))


def _gap(weights: Values, rewards: Values, reference: Values, beta: float) -> float:
    """Return the duality gap of λ and π_λ, ≥ 0."""
    means = group_means(tilt(weighted(weights, rewards), reference, beta)[0], rewards)
    return max(float(weights @ means - means.min()), 0.0)


def _without_idle(weights: Values, rewards: Values, reference: Values, beta: float) -> Values:
    """Return λ with 0 for groups whose surplus m_u − min m is larger than their weight."""
    means = group_means(tilt(weighted(weights, rewards), reference, beta)[0], rewards)
    kept = np.where(means - means.min() > weights, 0.0, weights)
    return np.asarray(kept / kept.sum()) if kept.sum() > 0 else weights


def solve_linear(rewards: Values, reference: Values) -> tuple[Values, Values]:
    """Return one best policy, shape (candidate, context), and the groups' weights λ, shape (group,).

    Rewards, shape (group, candidate, context), are of scale 1; of the reference, shape (candidate, context), only
    whether it is 0 matters.

    Raises
    ------
    RuntimeError
        If the solver stops without an optimum; bounded finite programs always have one.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    groups, _, contexts = rewards.shape
    candidates, columns = np.nonzero(reference > 0)
    count = len(candidates)
    gains = rewards[:, candidates, columns] / contexts
    belongs = csr_array((np.ones(count), (columns, np.arange(count))), shape=(contexts, count + 1))
    solution = linprog(
        c=np.append(np.zeros(count), -1.0),
        A_ub=np.column_stack([-gains, np.ones(groups)]),
        b_ub=np.zeros(groups),
        A_eq=belongs,
        b_eq=np.ones(contexts),
        bounds=[(0, None)] * count + [(None, None)],
        method="highs-ds",
    )
    if not solution.success:
        raise RuntimeError(f"the linear program of the maximin was not solved: {solution.message}")
    policy = np.zeros_like(reference)
    policy[candidates, columns] = np.maximum(solution.x[:-1], 0.0)
    weights = np.maximum(-solution.ineqlin.marginals, 0.0)
    return policy / policy.sum(axis=0), np.asarray(weights / weights.sum())


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
    dual = solve_dual(rewards, reference, beta)
    newton = _tilted(dual.weights, rewards, reference, beta, dual.steps)
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


@dataclass(frozen=True, eq=False)
class EqualRegretPolicy(RegularisedPolicy):
    """The policy with the smallest largest regret, with the proof.

    Attributes
    ----------
    optima
        F_u(π_u*), what each group would get alone, shape (group,).
    group_weights
        λ*, shape (group,), ≥ 0, sum 1; groups with λ*_u > 0 have the same regret.
    largest_regret
        max_u of the regrets, the value that the policy reaches.
    bound
        What no policy goes below.
    gap
        largest_regret − bound ≥ 0.
    iterations
        Newton steps of the solver.
    converged
        As in `MaximinPolicy`.
    """

    optima: Values
    group_weights: Values
    largest_regret: float
    bound: float
    gap: float
    iterations: int
    converged: bool

    @property
    def regrets(self) -> Values:
        """F_u(π_u*) − F_u(π), shape (group,), ≥ 0 up to rounding."""
        return np.asarray(self.optima - self.values)


def equal_regret(rewards: ArrayLike, reference: ArrayLike, beta: float) -> EqualRegretPolicy:
    """Return the policy whose largest regret is smallest.

    Parameters
    ----------
    rewards
        r_u, shape (group, candidate, context), finite. The zero of each group's rewards does not matter; the unit does.
    reference
        π₀, shape (candidate, context).
    beta
        β ≥ 0 or infinite, in units of reward. For infinity the policy is the reference and every regret 0.

    Raises
    ------
    InputError
        If a shape, the reference or beta is wrong.
    """
    array, start = checked_rewards(rewards, reference)
    weight = checked_beta(beta)
    # the zero of each group is put at its mean first, so that a large one takes no digits
    zeros = (array * start).sum(axis=1).mean(axis=1)
    level = array - zeros[:, None, None]
    alone = optima(level, start, weight)
    solved = solve_maximin(level - alone[:, None, None], start, weight)
    return EqualRegretPolicy(
        policy=solved.policy,
        mean_rewards=solved.mean_rewards + alone + zeros,
        charge=solved.charge,
        beta=weight,
        optima=alone + zeros,
        group_weights=solved.group_weights,
        largest_regret=-solved.primal,
        bound=-solved.dual,
        gap=solved.gap,
        iterations=solved.iterations,
        converged=solved.converged,
    )
