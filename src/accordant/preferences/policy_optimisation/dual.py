"""The dual of the maximin over groups: a smooth convex function of the groups' weights, minimised to rounding.

For weights λ on the simplex the dual is D(λ) = E_x β log Σ_y π₀ exp(Σ_u λ_u r_u / β). Its gradient is m(λ), the mean
rewards under the tilted policy π_λ, its Hessian E_x Cov_{π_λ}(r) / β. The value of π_λ is min_u m_u − β E KL, so

    gap(λ) = D(λ) − min_u F_u(π_λ) = λᵀm(λ) − min_u m_u(λ) ≥ 0

needs no cancellation of large numbers. Weights at 0 make plain Newton steps leave the simplex; therefore a logarithmic
barrier −t Σ log λ_u is added, Newton steps with line search are taken, and t goes to 0 (Boyd and Vandenberghe 2004,
ch. 11). Where β is small against the rewards, D has sharp bends; β then comes down from their scale together with t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.preferences.policy_optimisation.policies import group_means, weighted
from accordant.preferences.policy_optimisation.tilting import tilt

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
