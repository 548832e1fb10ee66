"""Penalised least squares for a mean that is exponential in the features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted, validate_data

from accordant.arrays import Values, WholeNumbers

PENALTIES = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001)
"""Ridge penalties tried by cross-validation, from strong to weak so that each starts from the last."""

SHIFT_MARGIN = 0.1
"""Distance of the lower shift below the smallest outcome, and smallest scale, in standard deviations."""

MAX_INDEX = 12.0
"""Largest log ratio of a predicted mean to the average outcome; beyond it exp() helps nobody."""


class ExponentialMeanRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian generalised linear model with log link: E[y | x] = shift + exp(intercept + x . coefficients).

    Least squares keeps additive noise additive, which a linear model of log y does not. The objective is
    mean((y - mu)^2) / variance(y) + penalty * |coefficients|^2 with standardised features
    (McCullagh and Nelder 1989, section 2.2, with an L2 penalty); the penalty and the shift are
    chosen by K-fold cross-validated squared error.

    Args:
        penalties: penalties to try, from strong to weak.
        folds: number of cross-validation folds.
        random_state: seed of the fold assignment.
        cv: rows (train, test) of each fold, instead of shuffled ones.

    Attributes:
        shift_: 0, or just below the smallest training outcome, whichever validates better.
        scale_: mean of the shifted training outcomes, or a tenth of their standard deviation if larger.
        coefficients_: shape (feature + 1,), the intercept first, for standardised features.
        penalty_: the chosen penalty.
    """

    def __init__(
        self,
        penalties: Sequence[float] = PENALTIES,
        folds: int = 4,
        random_state: int = 0,
        cv: Sequence[tuple[WholeNumbers, WholeNumbers]] | None = None,
    ) -> None:
        self.penalties = penalties
        self.folds = folds
        self.random_state = random_state
        self.cv = cv

    def fit(self, X: Values, y: Values) -> Self:
        """Fit on features (context, feature) and outcomes (context,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.centre_ = X.mean(axis=0)
        spread = X.std(axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        design = self._design(X)
        lowest = float(y.min()) - SHIFT_MARGIN * float(y.std())
        shifts = [0.0, lowest] if y.mean() > 0 else [lowest]
        errors = np.array([self._validation_errors(design, y, shift) for shift in shifts])
        chosen, best = np.unravel_index(int(np.argmin(errors)), errors.shape)
        self.shift_, self.penalty_ = shifts[int(chosen)], float(self.penalties[int(best)])
        self.coefficients_, self.scale_ = self._path(design, y, self.shift_, int(best) + 1)[-1]
        return self

    def _validation_errors(self, design: Values, y: Values, shift: float) -> Values:
        """Held-out squared error of every penalty, shape (penalty,)."""
        errors = np.zeros(len(self.penalties))
        shuffled = KFold(self.folds, shuffle=True, random_state=self.random_state)
        for train, test in shuffled.split(design) if self.cv is None else self.cv:
            for number, (found, scale) in enumerate(self._path(design[train], y[train], shift)):
                errors[number] += np.sum((y[test] - shift - scale * _mean(design[test], found)) ** 2)
        return errors

    def _path(self, design: Values, y: Values, shift: float, stop: int | None = None) -> list[tuple[Values, float]]:
        """Coefficients and scale for the first `stop` penalties, each started from the one before."""
        # The mean of a part may be near zero or below although that of the whole is not.
        scale = float(max(np.mean(y - shift), SHIFT_MARGIN * y.std())) or 1.0
        target = (y - shift) / scale
        variance = float(max(np.var(target), np.finfo(float).eps))
        found = np.zeros(design.shape[1])
        path = []
        for penalty in self.penalties[:stop]:
            found = _minimise(design, target, variance, penalty, found)
            path.append((found, scale))
        return path

    def predict(self, X: Values) -> Values:
        """Predicted means, shape (context,), in the outcome's unit."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.shift_ + self.scale_ * _mean(self._design(X), self.coefficients_)

    def _design(self, X: Values) -> Values:
        return np.column_stack([np.ones(X.shape[0]), (X - self.centre_) / self.spread_])


def _mean(design: Values, coefficients: Values) -> Values:
    return np.asarray(np.exp(np.minimum(design @ coefficients, MAX_INDEX)), dtype=np.float64)


def _minimise(design: Values, target: Values, variance: float, penalty: float, start: Values) -> Values:
    """Minimise the penalised objective by L-BFGS with its exact gradient, from `start`."""

    def objective(coefficients: Values) -> tuple[float, Values]:
        """Return the objective and its gradient."""
        mean = _mean(design, coefficients)
        gap = mean - target
        slope = coefficients.copy()
        slope[0] = 0.0  # the intercept is not penalised
        value = float(np.mean(gap**2)) / variance + penalty * float(slope @ slope)
        gradient = 2.0 * (design.T @ (gap * mean)) / (target.size * variance) + 2.0 * penalty * slope
        return value, gradient

    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(found.x, dtype=np.float64)
