"""Constants that the schema leaves open: smoothness, and the bias between softmax and argmax.

The schema (Vineis, Perelli and Tolomei 2025, Theorem 16) names β and κ without values. These values are ours; their
proofs are in docs/methods/paper-certificates.md. Arguments are numbers or arrays that broadcast.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values

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
