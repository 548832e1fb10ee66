"""The temperature: small enough for little bias, large enough for little curvature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError

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
        *(np.asarray(each, dtype=np.float64) for each in (over_square, over_tau, times_tau))
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
