"""The weighted average of several models' probabilities, and the weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import validate_data

from accordant.arrays import Values
from accordant.errors import InputError, check_fitted
from accordant.learning.classification.calibration import CalibratedProbabilities
from accordant.statistics import standard_error


class Blend(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit every model on all rows; predict sum_m weight_m p_m(o|x) (linear opinion pool: Stone, 1961).

    A class that no model has seen keeps probability 0. Prediction takes as long as all models together.

    Parameters
    ----------
    estimators
        The models, not fitted; all declare the same classes.
    weights
        (model,) positive and summing to 1.

    Attributes
    ----------
    classes_
        (k,) the declared classes, in the order of the columns.
    models_
        The fitted models.
    """

    def __init__(self, estimators: Sequence[CalibratedProbabilities], weights: Sequence[float]) -> None:
        self.estimators = estimators
        self.weights = weights

    def fit(self, X: ArrayLike, y: ArrayLike, groups: NDArray[np.intp] | None = None) -> Self:
        """Fit on X (n, features), finite numbers, and y (n,); rows of one of the groups (n,) are calibrated together.

        Raises
        ------
        InputError
            If there is not one positive weight per model, the weights do not sum to 1, the models' classes
            differ, or a model refuses X and y.
        """
        shares = np.asarray(self.weights, dtype=np.float64)
        if shares.shape != (len(self.estimators),) or not (np.all(shares > 0) and abs(shares.sum() - 1) <= 1e-9):
            raise InputError(
                f"weights must be {len(self.estimators)} positive numbers with sum 1, found {self.weights}"
            )
        features, labels = validate_data(self, X, y, dtype=np.float64)
        return self.of_models([clone(estimator).fit(features, labels, groups) for estimator in self.estimators])

    def of_models(self, models: Sequence[CalibratedProbabilities]) -> Self:
        """Average models that are fitted already, one for each of `estimators`.

        Raises
        ------
        InputError
            If the models' classes differ.
        """
        self.models_ = list(models)
        self.classes_ = self.models_[0].classes_
        self.n_features_in_ = self.models_[0].n_features_in_
        if any(not np.array_equal(model.classes_, self.classes_) for model in self.models_):
            raise InputError("the models of a blend must declare the same classes in the same order")
        return self

    def predict_proba(self, X: ArrayLike) -> Values:
        """Return (n, k), the averaged probability of each class in each row of X; rows sum to 1."""
        check_fitted(self)
        # The models check X. Summed in a fixed order, so that a row gets the same bytes alone and in a batch.
        parts = zip(self.weights, self.models_, strict=True)
        blended = np.asarray(sum(weight * model.predict_proba(X) for weight, model in parts))
        # Rounding may leave 1 + 2e-16, which is no probability.
        return np.asarray(np.minimum(blended, 1.0))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return (n,), the most probable class of each row; the first declared among equals."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels


SHARE_OF_BEST = 0.5
"""What the best candidate keeps for itself; the rest goes to the fitted weights.

Fitted weights have a sampling error of their own, which on few rows can cost more than averaging gains. Half
way is not tuned: on simulated files it lost to the single best candidate half as often as fitted weights did,
and kept most of their gain.
"""

SMALLEST_WEIGHT = 0.05
"""Smaller weights are dropped: such a model hardly moves a probability but takes as long as any other."""

MOST_MODELS = 4
"""At most so many candidates are averaged, those with the largest weights, to keep prediction cheap."""


def blend_weights(
    held_back: Values, codes: NDArray[np.intp], tolerance: float, groups: NDArray[np.intp] | None = None
) -> Values:
    """Return the weight of each candidate in the average, (candidate,), >= 0 and summing to 1.

    1. The best candidate has the smallest mean Brier contribution; the earlier one among equals.
    2. A candidate is tied with it if the mean of the row-wise differences of their contributions is at most
       `tolerance` standard errors of that mean. With 0, the best one has all the weight.
    3. The tied ones get `simplex_weights` (stacking: Wolpert, 1992, "Stacked generalization"; convex, as in
       Breiman, 1996, "Stacked regressions", and van der Laan, Polley and Hubbard, 2007, "Super Learner").
    4. These are moved half way towards the best one (`SHARE_OF_BEST`), so the best one always has the largest
       weight, and thinned out (`SMALLEST_WEIGHT`, `MOST_MODELS`).

    Parameters
    ----------
    held_back
        (candidate, n, k) probabilities from fits that did not see the row.
    codes
        (n,) the class that happened, 0..k-1.
    tolerance
        Standard errors within which candidates count as tied, at least 0.
    groups
        (n,) whose each row is; None if rows are independent.
    """
    residuals = held_back - np.eye(held_back.shape[2])[codes]
    contributions = np.einsum("cto,cto->ct", residuals, residuals)
    means = contributions.mean(axis=1)
    best = int(np.argmin(means))
    weights = np.zeros(len(means))
    weights[best] = 1.0
    if tolerance > 0 and len(codes) > 1:
        errors = np.nan_to_num(standard_error(contributions - contributions[best], groups))
        tied = np.flatnonzero(means - means[best] <= tolerance * errors)
        weights *= SHARE_OF_BEST
        weights[tied] += (1.0 - SHARE_OF_BEST) * simplex_weights(residuals[tied])
    return _thinned(weights)


def simplex_weights(residuals: Values) -> Values:
    """Return w >= 0 with sum 1 that minimises the squared length of sum_c w_c residuals_c, (candidate,).

    Because the weights sum to 1, that is the Brier score of the averaged probabilities. Solved as
    non-negative least squares with the sum as one more equation (Lawson and Hanson, 1974, "Solving Least
    Squares Problems", chapter 23). All other equations have right-hand side 0, so rescaling the solution to
    sum 1 gives the exact minimum, however that equation is weighted.

    Parameters
    ----------
    residuals
        (candidate, n, k) probability minus 1[the class happened].
    """
    flat = residuals.reshape(len(residuals), -1)
    gram = flat @ flat.T
    scale = float(np.trace(gram)) / len(gram) or 1.0
    # The ridge shares the weight of candidates that predict the same evenly; otherwise it is not felt.
    root = cholesky(gram / scale + 1e-9 * np.eye(len(gram)))
    solution, _ = nnls(np.vstack([root, np.ones(len(gram))]), np.append(np.zeros(len(gram)), 1.0))
    weights: Values = solution / solution.sum()
    return weights


def _thinned(weights: Values) -> Values:
    kept = np.argsort(-weights, kind="stable")[:MOST_MODELS]
    kept = kept[weights[kept] >= SMALLEST_WEIGHT]
    thinned = np.zeros(len(weights))
    thinned[kept] = weights[kept] / weights[kept].sum()
    return thinned
