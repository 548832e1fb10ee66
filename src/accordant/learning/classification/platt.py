"""Platt scaling: from a classifier's scores on rows it did not see to probabilities (Platt, 1999).

One class against the rest, p_o = 1 / (1 + exp(-(slope_o s_o + intercept_o))), rows divided by their sums (Zadrozny and
Elkan, 2002). For two classes one map suffices. The two numbers of a map minimise the log loss with Platt's smoothed
targets, (n_1 + 1) / (n_1 + 2) and 1 / (n_0 + 2) instead of 1 and 0, which keeps them finite.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator

from accordant.arrays import Codes, Mask, Values

STEPS = 100
CONVERGED = 1e-10  # of a step, in standard deviations of the scores


class PlattScaling(BaseEstimator):  # type: ignore[misc]
    """Probabilities from scores, see `accordant.learning.classification.platt`.

    Attributes
    ----------
    slopes_, intercepts_
        (k,) of each class, or (1,), of the second of two classes.
    """

    def fit(self, scores: Values, codes: Codes) -> Self:
        """Fit the maps.

        Parameters
        ----------
        scores
            (n, k), or (n, 1) for two classes; from fits that did not see the row.
        codes
            (n,) the class that happened, 0..k-1, each at least once.
        """
        targets = range(1, 2) if _two_classes(scores, codes) else range(scores.shape[1])
        maps = [_sigmoid(column, codes == target) for column, target in zip(_columns(scores), targets, strict=True)]
        self.slopes_, self.intercepts_ = np.array(maps).T.copy()
        return self

    def probabilities(self, scores: Values) -> Values:
        """Return (n, k) probabilities; rows sum to 1."""
        probabilities = expit(self.slopes_ * _columns(scores).T + self.intercepts_)
        if len(self.slopes_) == 1:
            return np.hstack([1.0 - probabilities, probabilities])
        total = probabilities.sum(axis=1, keepdims=True)
        uniform = np.full_like(probabilities, 1.0 / probabilities.shape[1])
        return np.asarray(np.divide(probabilities, total, out=uniform, where=total != 0))


def score_rows(classifier: Any, X: Values) -> Values:
    """Return a classifier's scores, (n, k) or (n, 1): its decision function, or else its probabilities."""
    function = getattr(classifier, "decision_function", None) or classifier.predict_proba
    return np.asarray(function(X), dtype=np.float64).reshape(len(X), -1)


def _two_classes(scores: Values, codes: Codes) -> bool:
    return scores.shape[1] <= 2 and int(codes.max()) <= 1


def _columns(scores: Values) -> Values:
    """Return what is mapped, (map, n): of two classes the second."""
    return scores.T[-1:] if scores.shape[1] <= 2 else scores.T


def _sigmoid(scores: Values, happened: Mask) -> tuple[float, float]:
    """Return slope and intercept, by Newton's method on standardised scores; a step is halved until the loss falls."""
    ones = int(happened.sum())
    zeros = len(happened) - ones
    targets = np.where(happened, (ones + 1.0) / (ones + 2.0), 1.0 / (zeros + 2.0))
    centre, scale = float(scores.mean()), float(scores.std())
    if scale == 0 or not np.isfinite(scale):
        return 0.0, float(logit(targets.mean()))
    design = np.stack([(scores - centre) / scale, np.ones(len(scores))])
    line = np.array([0.0, float(logit(targets.mean()))])
    loss = _loss(line @ design, targets)
    for _ in range(STEPS):
        p = expit(line @ design)
        gradient = design @ (p - targets)
        step = np.linalg.solve((design * (p * (1.0 - p))) @ design.T + 1e-12 * np.eye(2), gradient)
        while (lower := _loss((line - step) @ design, targets)) > loss and np.abs(step).max() > CONVERGED:
            step /= 2.0
        if np.abs(step).max() <= CONVERGED:
            break
        line, loss = line - step, lower
    slope = line[0] / scale
    return float(slope), float(line[1] - slope * centre)


def _loss(z: Values, targets: Values) -> float:
    """Return the log loss of logits."""
    return float((np.logaddexp(0.0, z) - targets * z).sum())
