"""Constants that the schema leaves open: smoothness, and the bias between softmax and argmax.

The schema (Vineis, Perelli and Tolomei 2025, Theorem 16) names β and κ without values. These values are ours; their
proofs are in docs/methods/paper-certificates.md. Arguments are numbers or arrays that broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError

C3 = 2 / (3 * math.sqrt(3))  # largest E[(θ − θ̄)(u − ū)²] for θ in [0, 1] and |u| ≤ 1: what II.1 calls c₃


def decision_smoothness(theta_range: ArrayLike, slope: ArrayLike, bend: ArrayLike, tau: ArrayLike) -> Values:
    """Return L = R_θ (c₃ U² / τ² + Q / (4 τ)) of S^τ = Σ_a π_a θ_a under the largest-entry norm.

    Parameters
    ----------
    theta_range
        R_θ, the range of the metric over actions.
    slope, bend
        U and Q of the scoring form.
    tau
        Temperature τ, above 0.
    """
    slope, tau = np.asarray(slope, dtype=np.float64), np.asarray(tau, dtype=np.float64)
    return np.asarray(np.asarray(theta_range) * (C3 * (slope / tau) ** 2 + np.asarray(bend) / (4 * tau)))


def value_smoothness(slope: ArrayLike, bend: ArrayLike, tau: ArrayLike) -> Values:
    """Return L = U² / τ + Q of S^τ = τ log Σ_a exp(Φ_a / τ) under the largest-entry norm."""
    slope = np.asarray(slope, dtype=np.float64)
    return np.asarray(slope**2 / np.asarray(tau) + np.asarray(bend))


def beta(smoothness: ArrayLike, tau: ArrayLike, mu: float) -> Values:
    """Return β with L = β / (τ² μ²), the form of Theorem 16; β depends on τ unless Q = 0."""
    return np.asarray(np.asarray(smoothness) * np.asarray(tau) ** 2 * mu**2)


def decision_kappa(theta_range: ArrayLike, lead: ArrayLike, n_others: ArrayLike) -> Values:
    """Return κ = (k − 1) R_θ / (e m) with |S^τ − S^0| ≤ κ τ; inf where the lead m is not above 0 and R_θ is.

    Parameters
    ----------
    theta_range
        R_θ, at least 0.
    lead
        m, how far the best score leads over the whole perturbation set; inf with nobody to lead over.
    n_others
        k − 1, how many actions it leads over.
    """
    theta_range, lead = np.asarray(theta_range, dtype=np.float64), np.asarray(lead, dtype=np.float64)
    some = np.asarray(theta_range * n_others)
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = some / (math.e * np.where(lead > 0, lead, 0.0))
    return np.asarray(np.where(some > 0, kappa, 0.0))


def exponential_bias(theta_range: ArrayLike, lead: ArrayLike, n_others: ArrayLike, tau: ArrayLike) -> Values:
    """Return R_θ x / (1 + x), x = (k − 1) exp(−m / τ): a bound on |S^τ − S^0| below κ τ.

    Where m ≤ 0 it is R_θ (1 − 1 / k), the only bound that holds there.
    """
    lead = np.maximum(np.asarray(lead, dtype=np.float64), 0.0)
    others = np.asarray(n_others) * np.exp(-lead / np.asarray(tau))
    return np.asarray(np.asarray(theta_range) * others / (1 + others))


def value_kappa(n_actions: int) -> float:
    """Return W((k − 1) / e), W of Lambert: the smallest κ with max_a Φ_a − Σ_a π_a Φ_a ≤ κ τ for all Φ and τ."""
    from scipy.special import lambertw

    return float(lambertw((n_actions - 1) / math.e).real)


def surrogate_kappa(n_actions: int) -> float:
    """Return log k, the smallest κ with τ log Σ_a exp(Φ_a / τ) − max_a Φ_a ≤ κ τ for all Φ and τ."""
    return math.log(n_actions)


@dataclass(frozen=True, eq=False)
class Smooth:
    """A smooth score of each context and its slope.

    Attributes
    ----------
    score
        S^τ, shape (context,).
    slope
        ∂S^τ/∂Φ_a, shape (action, context).
    """

    score: Values
    slope: Values


def softmax(scores: Values, tau: ArrayLike) -> Values:
    """Return π_a ∝ exp(Φ_a / τ), shape (action, context), without overflow for any scores.

    `tau` is a number or has shape (context,). Unlike a strategy's softmax selection it does not round near-ties to
    ties, so that it is differentiable.
    """
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp((scores - scores.max(axis=0)) / tau)
        return np.asarray(weights / weights.sum(axis=0))


def expected_metric(scores: Values, theta: Values, tau: ArrayLike) -> Smooth:
    """Return S^τ = Σ_a π_a θ_a and ∂S^τ/∂Φ_a = π_a (θ_a − S^τ) / τ, for θ of shape (action, context)."""
    policy = softmax(scores, tau)
    lowest = theta.min(axis=0)  # added last: if all metric values are equal, S^τ is their value to the last digit
    above = (policy * (theta - lowest)).sum(axis=0)
    return Smooth(lowest + above, policy * (theta - lowest - above) / tau)


def soft_maximum(scores: Values, tau: ArrayLike) -> Smooth:
    """Return S^τ = τ log Σ_a exp(Φ_a / τ) and ∂S^τ/∂Φ_a = π_a."""
    best = scores.max(axis=0)
    with np.errstate(over="ignore", under="ignore"):
        total = np.exp((scores - best) / tau).sum(axis=0)
    return Smooth(best + np.asarray(tau) * np.log(total), softmax(scores, tau))


SMALLEST = 1e-12  # temperatures below this make softmax the argmax, and 1 / τ² meaningless
ANY = 1.0  # where neither curvature nor bias depends on τ
NEWTON_STEPS = 60  # quadratic convergence from the right; roots over 300 decades need under 50
REACH, FIRST, LATER, ROUNDS = 100.0, 65, 17, 4  # a grid from τ*/100 to 100 τ*, then zooming four times


def trade_off(tau: ArrayLike, *, delta: float, beta: float, kappa: float, mu: float) -> Values:
    """Return g(τ) = δ² β / (2 τ² μ²) + κ τ of Vineis, Perelli and Tolomei 2025, Lemma 18."""
    tau = np.asarray(tau, dtype=np.float64)
    return np.asarray(delta**2 * beta / (2 * tau**2 * mu**2) + kappa * tau)


def optimal_temperature(*, delta: float, beta: float, kappa: float, mu: float) -> float:
    """Return τ* = (δ² β / (κ μ²))^(1/3), where g is smallest (Lemma 18); there g = 3 κ τ* / 2.

    Raises
    ------
    InputError
        If κ or μ is not above 0, or δ or β below 0.
    """
    if not (kappa > 0 and mu > 0 and delta >= 0 and beta >= 0):
        raise InputError(
            f"delta {delta}, beta {beta}, kappa {kappa}, mu {mu}; allowed: kappa and mu above 0, the others at least 0"
        )
    return float(np.cbrt(delta**2 * beta / (kappa * mu**2)))


def uniform_bias(*, delta: float, beta: float, kappa: float, mu: float) -> float:
    """Return κ τ*, the bound on the bias at τ* over the whole perturbation set (Corollary 19)."""
    return kappa * optimal_temperature(delta=delta, beta=beta, kappa=kappa, mu=mu)


def minimiser(over_square: ArrayLike, over_tau: ArrayLike, times_tau: ArrayLike) -> Values:
    """Return the τ where A / τ² + B / τ + κ τ is smallest, at least 1e-12, for A, B, κ ≥ 0.

    With B = 0 and A = δ² β / (2 μ²) it is Lemma 18's τ*. In general it is the positive root of κ τ³ − B τ − 2 A,
    found by Newton's method from the right, where the cubic is convex and increasing.

    Parameters
    ----------
    over_square, over_tau, times_tau
        A, B and κ, numbers or arrays of one shape. Where κ = 0 there is no minimiser, and the result is 1.
    """
    a, b, kappa = np.broadcast_arrays(
        *(np.asarray(coefficient, dtype=np.float64) for coefficient in (over_square, over_tau, times_tau))
    )
    balanced = np.where(kappa > 0, kappa, 1.0)
    linear, constant = b / balanced, 2 * a / balanced
    root = np.sqrt(linear) + np.cbrt(constant)  # right of the root: x³ − p x − q ≥ 0 at √p + ∛q
    for _ in range(NEWTON_STEPS):
        rise = 3 * root**2 - linear
        root = root - np.where(rise > 0, (root**3 - linear * root - constant) / np.where(rise > 0, rise, 1.0), 0.0)
    return np.where(kappa > 0, np.maximum(root, SMALLEST), ANY)


def best_temperature(objective: Callable[[Values], Values], start: Values, *, jointly: bool) -> Values:
    """Return temperatures of largest value on a grid around `start` that contains it, then on finer ones.

    A bound that holds for every τ holds for the best one, however it was found.

    Parameters
    ----------
    objective
        From temperatures to values, both of shape (context,).
    start
        Shape (context,), above 0.
    jointly
        Whether all contexts move by the same factor and their sum counts; else each context has its own best.
    """
    centre, best_tau, best = np.zeros_like(start), start, _counted(objective(start), jointly)
    width, points = np.log(REACH), FIRST
    for _ in range(ROUNDS + 1):
        for offset in np.linspace(-width, width, points):
            factor = centre + offset
            tau = np.maximum(start * np.exp(factor), SMALLEST)
            value = _counted(objective(tau), jointly)
            better = value > best
            best, best_tau = np.where(better, value, best), np.where(better, tau, best_tau)
        centre = np.log(best_tau / start)
        width, points = 2 * width / (points - 1), LATER
    return best_tau


def _counted(values: Values, jointly: bool) -> Values:
    return np.broadcast_to(values.sum(), values.shape) if jointly else values
