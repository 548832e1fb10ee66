"""Smooth stand-ins for the score of the best action, with their slopes in Φ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values


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
