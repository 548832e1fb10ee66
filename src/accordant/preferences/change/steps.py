"""The arithmetic of beliefs, for many streams at once: arrays lead with the axis (stream).

The formulas stand in `belief.py`. The mode of a small block is found through its records: θ = m + C Xᵀ a with
a_r = w_r σ(−D_r), D = X m + X C Xᵀ a, one unknown per record instead of one per feature.

Newton's method for a needs no line search: along a full step that moves no margin by more than S, the curvature term
of the loss is at most 2 (e^S − S − 1) / S² times as large as at its beginning (generalised self-concordance: Bach
2010). So a full step lowers the loss if S ≤ 1, and a share log(1 + S) / S of one always does.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from accordant.preferences.learners.logistic import sigmoid

Values = NDArray[np.float64]

WIDENING = math.pi / 8.0  # makes σ(μ / √(1 + s² π / 8)) the mean of σ over a normal margin, to 0.02 (MacKay 1992)
NEAR = 1e-6  # change of margins, and of multipliers by weight, after which the next step would be about its square
MOST_STEPS = 10_000  # far beyond what margins up to some 10,000 need


def predicted(means: Values, covariances: Values, differences: Values) -> Values:
    """Return margins drawn towards 0 where a belief is wide, shape (stream, record).

    Parameters
    ----------
    means, covariances
        Shapes (stream, feature) and (stream, feature, feature).
    differences
        Shape (stream, record, feature).
    """
    spread = ((differences @ covariances) * differences).sum(axis=-1)
    plain = (differences @ means[..., None])[..., 0]
    return np.asarray(plain / np.sqrt(1.0 + WIDENING * np.maximum(spread, 0.0)))


def forgotten(
    means: Values, covariances: Values, prior_mean: Values, prior_precision: Values, left: Values
) -> tuple[Values, Values]:
    """Return means and covariances of which a share is left, the rest being the prior again.

    Parameters
    ----------
    means, covariances
        Shapes (stream, feature) and (stream, feature, feature).
    prior_mean, prior_precision
        Shapes (feature,) and (feature, feature).
    left
        λ in [0, 1], shape (stream,).
    """
    old = left[:, None, None] * np.linalg.inv(covariances)
    origin = (1.0 - left)[:, None, None] * prior_precision
    found = symmetric(np.asarray(np.linalg.inv(old + origin), dtype=np.float64))
    towards = old @ means[..., None] + (origin @ prior_mean)[..., None]
    return np.asarray((found @ towards)[..., 0]), found


def learned(means: Values, covariances: Values, differences: Values, weights: Values) -> tuple[Values, Values]:
    """Return means and covariances after one small block of records for each stream.

    Parameters
    ----------
    means, covariances
        Shapes (stream, feature) and (stream, feature, feature).
    differences, weights
        Shapes (stream, record, feature) and (stream, record); a weight of 0 is no record.
    """
    projected = differences @ covariances
    gram = projected @ differences.swapaxes(-1, -2)
    offsets = (differences @ means[..., None])[..., 0]
    multipliers = _multipliers(offsets, gram, weights)
    against = sigmoid(-offsets - (gram @ multipliers[..., None])[..., 0])
    bent = (weights * against * (1.0 - against))[..., None]
    inner = np.linalg.solve(np.eye(gram.shape[-1]) + bent * gram, bent * projected)
    moved = (multipliers[:, None, :] @ projected)[:, 0]
    return means + moved, symmetric(covariances - projected.swapaxes(-1, -2) @ inner)


def _multipliers(offsets: Values, gram: Values, weights: Values) -> Values:
    """Return a, shape (stream, record), by Newton's method."""
    found, identity = np.zeros_like(weights), np.eye(weights.shape[-1])
    enough = NEAR * np.maximum(weights.max(axis=-1, initial=0.0), np.finfo(float).tiny)
    for _ in range(MOST_STEPS):
        against = sigmoid(-offsets - (gram @ found[..., None])[..., 0])
        bent = weights * against * (1.0 - against)
        step = np.linalg.solve(identity + bent[..., None] * gram, (weights * against - found)[..., None])
        moved = np.abs(gram @ step)[..., 0].max(axis=-1, initial=0.0)
        length = np.where(moved > 1.0, np.log1p(moved) / np.maximum(moved, 1.0), 1.0)
        found = found + length[:, None] * step[..., 0]
        if ((moved <= NEAR) & (np.abs(step[..., 0]).max(axis=-1, initial=0.0) <= enough)).all():
            break
    return found


def symmetric(matrices: Values) -> Values:
    """Return matrices without the rounding that makes them differ from their transposes."""
    return np.asarray((matrices + matrices.swapaxes(-1, -2)) / 2.0)
