"""The table of base regressors a causal learner can be built on, and two regressors of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.validation import validate_data

from accordant.arrays import Values, WholeNumbers
from accordant.errors import InputError, check_fitted
from accordant.learning.folds import deal_groups, held_out_parts
from accordant.learning.probabilities import row_products

EXPONENTIAL_PENALTIES = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001)
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

    Parameters
    ----------
    penalties
        Penalties to try, from strong to weak.
    folds
        Number of cross-validation folds.
    random_state
        Seed of the fold assignment.
    cv
        Rows (train, test) of each fold, instead of shuffled ones.

    Attributes
    ----------
    shift_
        0, or just below the smallest training outcome, whichever validates better.
    scale_
        Mean of the shifted training outcomes, or a tenth of their standard deviation if larger.
    coefficients_
        Shape (feature + 1,), the intercept first, for standardised features.
    penalty_
        The chosen penalty.
    """

    def __init__(
        self,
        penalties: Sequence[float] = EXPONENTIAL_PENALTIES,
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
            for number, (coefficients, scale) in enumerate(self._path(design[train], y[train], shift)):
                errors[number] += np.sum((y[test] - shift - scale * _mean(design[test], coefficients)) ** 2)
        return errors

    def _path(self, design: Values, y: Values, shift: float, stop: int | None = None) -> list[tuple[Values, float]]:
        """Coefficients and scale for the first `stop` penalties, each started from the one before."""
        # The mean of a part may be near zero or below although that of the whole is not.
        scale = float(max(np.mean(y - shift), SHIFT_MARGIN * y.std())) or 1.0
        target = (y - shift) / scale
        variance = float(max(np.var(target), np.finfo(float).eps))
        coefficients = np.zeros(design.shape[1])
        path = []
        for penalty in self.penalties[:stop]:
            coefficients = _minimise(design, target, variance, penalty, coefficients)
            path.append((coefficients, scale))
        return path

    def predict(self, X: Values) -> Values:
        """Predicted means, shape (context,), in the outcome's unit."""
        check_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.shift_ + self.scale_ * _mean(self._design(X), self.coefficients_)

    def _design(self, X: Values) -> Values:
        return np.column_stack([np.ones(X.shape[0]), (X - self.centre_) / self.spread_])


def _mean(design: Values, coefficients: Values) -> Values:
    return np.asarray(np.exp(np.minimum(row_products(design, coefficients), MAX_INDEX)), dtype=np.float64)


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

    optimum = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(optimum.x, dtype=np.float64)


NOISE_RATIOS = np.logspace(-3, 2, 26)
"""Noise variance relative to the prior variance of the mean."""


class GaussianProcessGridRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian process regression with kernel w * linear + (1 - w) * squared exponential.

    Hyperparameters are those of highest marginal likelihood on a grid (Rasmussen and Williams 2006,
    equation 5.8, the overall scale profiled out). One eigendecomposition per length scale and weight serves
    all noise levels, and nothing can fail to converge. Cost grows with the cube of the number of rows.

    Parameters
    ----------
    length_scales
        Length scales to try, in units of sqrt(number of features) standard deviations.
    linear_weights
        Weights w of the linear part to try, in [0, 1].

    Attributes
    ----------
    length_scale_, linear_weight_, noise_ratio_
        The values chosen.
    """

    def __init__(
        self, length_scales: Sequence[float] = (0.5, 1.0, 2.0, 4.0), linear_weights: Sequence[float] = (0.0, 0.3, 0.9)
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
        check_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        kernel = self._kernel((X - self.centre_) / self.spread_, self.length_scale_, self.linear_weight_)
        return np.asarray(self.mean_ + row_products(kernel, self.dual_), dtype=np.float64)

    def _kernel(self, rows: Values, length_scale: float, weight: float) -> Values:
        features = self.rows_.shape[1]
        products = row_products(rows, self.rows_.T)
        squares = (rows**2).sum(axis=1)[:, np.newaxis] - 2 * products + (self.rows_**2).sum(axis=1)
        smooth = np.exp(-0.5 / (features * length_scale**2) * np.maximum(squares, 0.0))
        return np.asarray(weight * products / features + (1 - weight) * smooth, dtype=np.float64)


def _log_evidence(variances: Values, rotated: Values) -> float:
    """Log marginal likelihood up to a constant, maximised over the overall scale."""
    scale = max(float(np.mean(rotated**2 / variances)), np.finfo(float).tiny)
    return -0.5 * (rotated.size * float(np.log(scale)) + float(np.sum(np.log(variances))))


PENALTIES = np.logspace(-2, 5, 29)
GROUP_FOLDS = 5  # in which penalties are chosen where contexts come in groups; else each context is held out alone


@dataclass(frozen=True)
class BaseRegressor:
    """One row of the table.

    Attributes
    ----------
    build
        Makes an unfitted scikit-learn regressor.
    summary
        What it assumes, in a few words.
    min_rows
        Fewest training rows, over all actions, from which it earns its cost.
    max_rows
        Most training rows for which its cost is acceptable.
    max_features
        Most features for which its cost is acceptable.
    """

    build: Callable[[], RegressorMixin]
    summary: str
    min_rows: int = 0
    max_rows: int = 10**9
    max_features: int = 10**9

    def refusal(self, rows: int, features: int) -> str:
        """Why data of this size is not given to it, or an empty string if it is."""
        if not self.min_rows <= rows <= self.max_rows:
            return f"for {self.min_rows} to {self.max_rows} rows, not {rows}"
        if features > self.max_features:
            return f"for at most {self.max_features} features, not {features}"
        return ""


class RidgeByRows(RidgeCV):  # type: ignore[misc]
    """Ridge regression whose prediction for a row does not depend on the rows beside it, to the last bit."""

    def predict(self, X: Values) -> Values:
        """Predicted means, shape (context,), in the outcome's unit."""
        check_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(row_products(X, self.coef_) + self.intercept_)


def _ridge() -> RegressorMixin:
    return make_pipeline(StandardScaler(), RidgeByRows(PENALTIES))


def _interactions() -> RegressorMixin:
    pairs = PolynomialFeatures(2, include_bias=False)
    return make_pipeline(StandardScaler(), pairs, StandardScaler(), RidgeByRows(PENALTIES))


def _boosting() -> RegressorMixin:
    return HistGradientBoostingRegressor(
        max_iter=150, learning_rate=0.05, max_leaf_nodes=5, min_samples_leaf=10, early_stopping=False
    )


def _deep_boosting() -> RegressorMixin:
    return HistGradientBoostingRegressor(
        max_iter=200, learning_rate=0.07, max_leaf_nodes=20, min_samples_leaf=20, early_stopping=False
    )


def _forest() -> RegressorMixin:
    return RandomForestRegressor(n_estimators=100, min_samples_leaf=3, max_features=0.4)


BASE_REGRESSORS: dict[str, BaseRegressor] = {
    "ridge": BaseRegressor(_ridge, "linear"),
    "ridge, scaled": BaseRegressor(lambda: RidgeByRows(PENALTIES), "linear, features on the scale given"),
    "interactions": BaseRegressor(_interactions, "quadratic with all pairs", max_rows=50_000, max_features=30),
    "exponential": BaseRegressor(ExponentialMeanRegressor, "exponential of a linear index"),
    "gaussian process": BaseRegressor(GaussianProcessGridRegressor, "linear plus smooth", max_rows=1500),
    "boosting": BaseRegressor(_boosting, "steps and low-order interactions"),
    "deep boosting": BaseRegressor(_deep_boosting, "steps and deep interactions", min_rows=3000),
    "forest": BaseRegressor(_forest, "averaged steps, deep interactions", max_rows=10_000),
}
"""Every base regressor by name. A new one is one line here."""


def fitted_regressor(
    base: str | RegressorMixin, random_state: int, X: Values, y: Values, groups: WholeNumbers | None = None
) -> RegressorMixin:
    """A regressor fitted on features (context, feature) and targets (context,).

    Those of the table that choose a penalty by held-out contexts hold whole groups out. A regressor that was given
    decides by itself.
    """
    regressor = build_regressor(base, random_state)
    divided = [name for name in regressor.get_params() if name.split("__")[-1] == "cv"] if isinstance(base, str) else []
    if groups is None or not divided:
        return regressor.fit(X, y)
    dealt = deal_groups(groups, GROUP_FOLDS, np.random.default_rng(random_state))
    parts = held_out_parts(dealt, GROUP_FOLDS) or None  # one group cannot be held out
    fitted = regressor.set_params(**dict.fromkeys(divided, parts)).fit(X, y)
    return fitted.set_params(**dict.fromkeys(divided))  # row numbers are of no use in a saved model


def build_regressor(base: str | RegressorMixin, random_state: int) -> RegressorMixin:
    """An unfitted regressor: a name from the table, or a copy of the one given, with its seeds set.

    Raises
    ------
    InputError
        The name is not in the table.
    """
    if isinstance(base, str):
        if base not in BASE_REGRESSORS:
            raise InputError(f"base regressor {base!r} is unknown; allowed: {', '.join(BASE_REGRESSORS)}.")
        regressor = BASE_REGRESSORS[base].build()
    else:
        regressor = clone(base)
    seeds = {name: random_state for name in regressor.get_params() if name.split("__")[-1] == "random_state"}
    return regressor.set_params(**seeds)
