"""What is believed of a linear reward, what records teach, and what time takes away.

    answers   P(chosen ≻ rejected) = σ(θ · x),  x = features of the chosen item less those of the rejected one
    update    mean = argmin_θ Σ_r w_r [−log σ(θ · x_r)] + ½ (θ − m)ᵀ C⁻¹ (θ − m);  covariance⁻¹ = C⁻¹ + Σ_r b_r x_r x_rᵀ
    time      precision ← λ C⁻¹ + (1 − λ) C₀⁻¹, λ = kept^elapsed;  or covariance ← covariance + drift · elapsed · I

The update is the mode and the curvature there (Laplace per step: Fahrmeir 1992; extended Kalman filter of West and
Harrison 1997, Chapter 14), b_r = w_r σ(D_r) σ(−D_r). It is the batch estimate if nothing is forgotten and all records
come in one block; over several blocks it is an approximation, because the exact belief is not normal. Forgetting
returns to the prior (m₀, C₀) instead of knowing ever less (stabilised forgetting: Kulhavý and Zarrop 1993).

`predict`, `forget` and `learn` are the arithmetic for many streams at once: arrays lead with the axis (stream). The
mode of a small block is found through its records: θ = m + C Xᵀ a with a_r = w_r σ(−D_r), D = X m + X C Xᵀ a, one
unknown per record instead of one per feature. a is found by Newton's method: where a full step goes past the lowest
point of the loss on its line, that point is looked for by bisection. The loss is convex, so every step lowers it; with
one record the first step is at the mode.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.checks import numbers
from accordant.preferences.learners.logistic import LogisticProblem, sigmoid
from accordant.preferences.normal_belief import NormalBelief

WIDENING = math.pi / 8.0  # makes σ(μ / √(1 + s² π / 8)) the mean of σ over a normal margin, to 0.02 (MacKay 1992)
NEAR = 1e-6  # change of margins, and of multipliers by weight, after which the next step would be about its square
MOST_STEPS = 1000  # of Newton's method; fewer than 50 in all trials with margins up to 10⁸
HALVINGS = 60  # of a step, whatever its length
ROUNDING = 64 * np.finfo(float).eps  # of a margin, relative to the largest number that is added up for it
SMALL_BLOCK = 16  # up to so many records, and up to the number of features, one unknown per record is quicker
TOLERANCE = 1e-10  # largest entry of the gradient after a large block, divided by the sum of weights


def predict(means: Values, covariances: Values, differences: Values) -> Values:
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


def forget(
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
    covariance = symmetric(np.asarray(np.linalg.inv(old + origin), dtype=np.float64))
    towards = old @ means[..., None] + (origin @ prior_mean)[..., None]
    return np.asarray((covariance @ towards)[..., 0]), covariance


def learn(means: Values, covariances: Values, differences: Values, weights: Values) -> tuple[Values, Values]:
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
    multipliers, identity = np.zeros_like(weights), np.eye(weights.shape[-1])
    enough = NEAR * np.maximum(weights.max(axis=-1, initial=0.0), np.finfo(float).tiny)
    largest = np.abs(offsets) + (np.abs(gram) @ weights[..., None])[..., 0]
    near = NEAR + ROUNDING * largest.max(axis=-1, initial=0.0)
    for _ in range(MOST_STEPS):
        against = sigmoid(-offsets - (gram @ multipliers[..., None])[..., 0])
        bent = weights * against * (1.0 - against)
        towards = (weights * against - multipliers)[..., None]
        step: Values = np.asarray(np.linalg.solve(identity + bent[..., None] * gram, towards)[..., 0], np.float64)
        moves: Values = (gram @ step[..., None])[..., 0]
        length = _length(offsets, gram, weights, multipliers, step, moves)
        multipliers = multipliers + length[:, None] * step
        moved = np.abs(moves).max(axis=-1, initial=0.0)
        if ((moved <= near) & (np.abs(step).max(axis=-1, initial=0.0) <= enough)).all():
            return multipliers
    raise InputError(
        "the belief after a block of records was not found; allowed: features and beliefs in similar units"
    )


def _length(offsets: Values, gram: Values, weights: Values, multipliers: Values, step: Values, moves: Values) -> Values:
    """Return the share of each step that lowers the loss most, at most 1, shape (stream,).

    The last three are multipliers, the full step, and how it moves margins, shape (stream, record).
    """
    margins = offsets + (gram @ multipliers[..., None])[..., 0]

    def slope(share: Values) -> Values:
        """Return the derivative of the loss along the step, shape (stream,)."""
        there = share[:, None]
        return np.asarray(
            (moves * (multipliers + there * step - weights * sigmoid(-margins - there * moves))).sum(axis=-1)
        )

    low, high = np.zeros(len(multipliers)), np.ones(len(multipliers))
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


class Belief(NormalBelief):
    """Coefficients of one linear reward as believed at one time: N(mean, covariance), see `NormalBelief`."""

    @classmethod
    def around(cls, mean: Values, variance: float) -> Belief:
        """Return the belief that every coefficient lies around a mean with one variance above 0, independently."""
        if not 0 < variance < np.inf:
            raise InputError(f"variance is {variance}; allowed: above 0")
        mean = numbers("mean", mean, "feature")
        return cls(mean, variance * np.eye(len(mean)))

    def margins(self, differences: Values) -> Values:
        """Return margins D, drawn towards 0 where the belief is wide, so that σ(D) is the probability, shape (record,).

        The sign is that of the margin under the mean; of the opposite record the margin is −D.
        """
        return np.asarray(predict(self.mean[None], self.covariance[None], differences[None])[0])

    @cached_property
    def precision(self) -> Values:
        """Inverse of the covariance, shape (feature, feature)."""
        return np.asarray(np.linalg.inv(self.covariance), dtype=np.float64)


@dataclass(frozen=True)
class TasteChange:
    """What a unit of time does to a belief.

    Parameters
    ----------
    kept
        Share of the evidence that is left after a unit of time, in (0, 1]; 1 forgets nothing.
    drift
        Variance that a random walk adds to every coefficient in a unit of time, at least 0.

    Raises
    ------
    InputError
        If a number is out of range, or taste both drifts and is forgotten: a belief would then depend on how often it
        is asked for, because one long wait is not many short ones.
    """

    kept: float = 1.0
    drift: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.kept <= 1:
            raise InputError(f"kept is {self.kept}; allowed: above 0, at most 1")
        if not 0 <= self.drift < np.inf:
            raise InputError(f"drift is {self.drift}; allowed: at least 0")
        if self.kept < 1 and self.drift > 0:
            raise InputError(
                f"kept is {self.kept} and drift {self.drift}; allowed: kept 1 or drift 0, not both changed"
            )

    def after(self, belief: Belief, prior: Belief, elapsed: float) -> Belief:
        """Return the belief after some time without records.

        Parameters
        ----------
        belief, prior
            Now, and what forgetting returns to.
        elapsed
            In units of time, at least 0.
        """
        if not 0 <= elapsed < np.inf:
            raise InputError(f"elapsed is {elapsed}; allowed: at least 0")
        means, covariances = self.passed(
            belief.mean[None], belief.covariance[None], prior, np.array([elapsed], dtype=np.float64)
        )
        return Belief(means[0], covariances[0])

    def passed(self, means: Values, covariances: Values, prior: Belief, elapsed: Values) -> tuple[Values, Values]:
        """Return means and covariances of many beliefs after some time without records.

        Parameters
        ----------
        means, covariances
            Shapes (stream, feature) and (stream, feature, feature).
        prior
            What forgetting returns to.
        elapsed
            In units of time, at least 0, shape (stream,).
        """
        if self.kept < 1.0 and (elapsed > 0).any():
            means, covariances = forget(means, covariances, prior.mean, prior.precision, self.kept**elapsed)
        if self.drift > 0:
            covariances = covariances + (self.drift * elapsed)[:, None, None] * np.eye(means.shape[1])
        return means, covariances


def update(belief: Belief, differences: Values, weights: Values | None = None) -> Belief:
    """Return the belief after a block of records: the mode, and the curvature there.

    Parameters
    ----------
    belief
        Before.
    differences
        Features of the chosen items less those of the rejected ones, shape (record, feature).
    weights
        At least 0, shape (record,); None for 1 each.

    Raises
    ------
    InputError
        If shapes differ, a number is not finite, or a weight is negative.
    """
    differences = np.asarray(differences, dtype=np.float64)
    if differences.ndim != 2 or differences.shape[1] != len(belief.mean) or not np.isfinite(differences).all():
        raise InputError(
            f"differences have shape {differences.shape}; allowed: finite numbers of shape "
            f"(record, feature: {len(belief.mean)})"
        )
    weighing = np.ones(len(differences)) if weights is None else numbers("weights", weights, "record", len(differences))
    if (weighing < 0).any():
        raise InputError(f"weights go down to {weighing.min()}; allowed: at least 0")
    counted = weighing > 0
    if not counted.any():
        return belief
    return _updated(belief, differences[counted], weighing[counted])


def _updated(belief: Belief, differences: Values, weights: Values) -> Belief:
    """Update with checked records of positive weight."""
    if len(differences) > max(SMALL_BLOCK, len(belief.mean)):
        return _large(belief, differences, weights)
    means, covariances = learn(belief.mean[None], belief.covariance[None], differences[None], weights[None])
    return Belief(means[0], covariances[0])


def _large(belief: Belief, differences: Values, weights: Values) -> Belief:
    """Update with more records than features, in coordinates in which the belief is round."""
    root = belief.root
    turned, total = differences @ root, float(weights.sum())
    problem = LogisticProblem(turned, weights=weights, offsets=differences @ belief.mean, ridge=1.0 / total)
    place = problem.solve(tolerance=TOLERANCE).coefficients
    against = sigmoid(-problem.predictions(place))
    bent = weights * against * (1.0 - against)
    inner = np.linalg.inv(np.eye(len(root)) + (turned * bent[:, None]).T @ turned)
    return Belief(belief.mean + root @ place, symmetric(root @ inner @ root.T))
