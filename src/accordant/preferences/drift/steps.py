"""The arithmetic of beliefs, for many streams at once: arrays lead with the axis (stream).

The formulas stand in `belief.py`. The mode of a small block is found through its records: θ = m + C Xᵀ a with
a_r = w_r σ(−D_r), D = X m + X C Xᵀ a, one unknown per record instead of one per feature.

Newton's method for a: where a full step goes past the lowest point of the loss on its line, that point is looked for by
bisection. The loss is convex, so every step lowers it; with one record the first step is at the mode.
"""

from __future__ import annotations

import math

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.learners.solving.logistic import sigmoid

WIDENING = math.pi / 8.0  # makes σ(μ / √(1 + s² π / 8)) the mean of σ over a normal margin, to 0.02 (MacKay 1992)
NEAR = 1e-6  # change of margins, and of multipliers by weight, after which the next step would be about its square
MOST_STEPS = 1000  # of Newton's method; fewer than 50 in all trials with margins up to 10⁸
HALVINGS = 60  # of a step, whatever its length
ROUNDING = 64 * np.finfo(float).eps  # of a margin, relative to the largest number that is added up for it


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
    """Return a, shape (stream, record), by Newton's method.

    Raises
    ------
    InputError
        If there is no end to it, as when numbers are too far apart to be added up.
    """
    found, identity = np.zeros_like(weights), np.eye(weights.shape[-1])
    enough = NEAR * np.maximum(weights.max(axis=-1, initial=0.0), np.finfo(float).tiny)
    largest = np.abs(offsets) + (np.abs(gram) @ weights[..., None])[..., 0]
    near = NEAR + ROUNDING * largest.max(axis=-1, initial=0.0)
    for _ in range(MOST_STEPS):
        against = sigmoid(-offsets - (gram @ found[..., None])[..., 0])
        bent = weights * against * (1.0 - against)
        towards = (weights * against - found)[..., None]
        step: Values = np.asarray(np.linalg.solve(identity + bent[..., None] * gram, towards)[..., 0], np.float64)
        moves: Values = (gram @ step[..., None])[..., 0]
        length = _length(offsets, gram, weights, found, step, moves)
        found = found + length[:, None] * step
        moved = np.abs(moves).max(axis=-1, initial=0.0)
        if ((moved <= near) & (np.abs(step).max(axis=-1, initial=0.0) <= enough)).all():
            return found
    raise InputError(
        "the belief after a block of records was not found; allowed: features and beliefs in similar units"
    )


def _length(offsets: Values, gram: Values, weights: Values, found: Values, step: Values, moves: Values) -> Values:
    """Return the share of each step that lowers the loss most, at most 1, shape (stream,).

    Parameters
    ----------
    offsets, gram, weights
        As for `_multipliers`.
    found, step, moves
        Multipliers, the full step, and how it moves margins, shape (stream, record).
    """
    margins = offsets + (gram @ found[..., None])[..., 0]

    def slope(share: Values) -> Values:
        """Return the derivative of the loss along the step, shape (stream,)."""
        there = share[:, None]
        return np.asarray((moves * (found + there * step - weights * sigmoid(-margins - there * moves))).sum(axis=-1))

    low, high = np.zeros(len(found)), np.ones(len(found))
    past = (slope(high) > 0) & (np.abs(moves).max(axis=-1, initial=0.0) > 1.0)
    if not past.any():
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        below = slope(middle) <= 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(past, high, 1.0)


def symmetric(matrices: Values) -> Values:
    """Return matrices without the rounding that makes them differ from their transposes."""
    return np.asarray((matrices + matrices.swapaxes(-1, -2)) / 2.0)
