"""A Gaussian process of a linear and a smooth part, its hyperparameters from a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted, validate_data

from accordant.arrays import Values

NOISE_RATIOS = np.logspace(-3, 2, 26)
"""Noise variance relative to the prior variance of the mean."""


class GaussianProcessGridRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian process regression with kernel w * linear + (1 - w) * squared exponential.

    Hyperparameters are those of highest marginal likelihood on a grid (Rasmussen and Williams 2006,
    equation 5.8, the overall scale profiled out). One eigendecomposition per length scale and weight serves
    all noise levels, and nothing can fail to converge. Cost grows with the cube of the number of rows.

    Args:
        length_scales: length scales to try, in units of sqrt(number of features) standard deviations.
        linear_weights: weights w of the linear part to try, in [0, 1].

    Attributes:
        length_scale_, linear_weight_, noise_ratio_: the values chosen.
    """

    def __init__(
        self,
        length_scales: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
        linear_weights: Sequence[float] = (0.0, 0.3, 0.9),
    ) -> None:
        self.length_scales = length_scales
        self.linear_weights = linear_weights

    def fit(self, X: Values, y: Values) -> Self:
        """Fit on features (context, feature) and outcomes (context,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.centre_ = X.mean(axis=0)
        spread = X.std(axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        self.rows_ = (X - self.centre_) / self.spread_
        self.mean_ = float(y.mean())
        target = y - self.mean_
        best = -np.inf
        for length_scale in self.length_scales:
            for weight in self.linear_weights:
                values, vectors = eigh(self._kernel(self.rows_, length_scale, weight), driver="evd")
                values = np.maximum(values, 0.0)
                rotated = vectors.T @ target
                for noise in NOISE_RATIOS:
                    evidence = _log_evidence(values + noise, rotated)
                    if evidence > best:
                        best = evidence
                        self.length_scale_, self.linear_weight_ = float(length_scale), float(weight)
                        self.noise_ratio_ = float(noise)
                        self.dual_ = vectors @ (rotated / (values + noise))
        return self

    def predict(self, X: Values) -> Values:
        """Posterior means, shape (context,), in the outcome's unit."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        kernel = self._kernel((X - self.centre_) / self.spread_, self.length_scale_, self.linear_weight_)
        return np.asarray(self.mean_ + kernel @ self.dual_, dtype=np.float64)

    def _kernel(self, rows: Values, length_scale: float, weight: float) -> Values:
        features = self.rows_.shape[1]
        smooth = rbf_kernel(rows, self.rows_, gamma=0.5 / (features * length_scale**2))
        return np.asarray(weight * (rows @ self.rows_.T) / features + (1 - weight) * smooth, dtype=np.float64)


def _log_evidence(variances: Values, rotated: Values) -> float:
    """Log marginal likelihood up to a constant, maximised over the overall scale."""
    scale = max(float(np.mean(rotated**2 / variances)), np.finfo(float).tiny)
    return -0.5 * (rotated.size * float(np.log(scale)) + float(np.sum(np.log(variances))))
