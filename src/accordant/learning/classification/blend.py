"""The weighted average of several models' probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from accordant.arrays import Values
from accordant.learning.classification.calibration import CalibratedProbabilities


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
        ValueError
            If there is not one positive weight per model, the weights do not sum to 1, the models' classes
            differ, or a model refuses X and y.
        """
        shares = np.asarray(self.weights, dtype=np.float64)
        if shares.shape != (len(self.estimators),) or not (np.all(shares > 0) and abs(shares.sum() - 1) <= 1e-9):
            raise ValueError(
                f"weights must be {len(self.estimators)} positive numbers with sum 1, found {self.weights}"
            )
        features, labels = validate_data(self, X, y, dtype=np.float64)
        self.models_ = [clone(each).fit(features, labels, groups) for each in self.estimators]
        self.classes_ = self.models_[0].classes_
        if any(not np.array_equal(each.classes_, self.classes_) for each in self.models_):
            raise ValueError("the models of a blend must declare the same classes in the same order")
        return self

    def predict_proba(self, X: ArrayLike) -> Values:
        """Return (n, k), the averaged probability of each class in each row of X; rows sum to 1."""
        check_is_fitted(self)
        # The models check X. Summed in a fixed order, so that a row gets the same bytes alone and in a batch.
        blended: Values = sum(
            weight * model.predict_proba(X) for weight, model in zip(self.weights, self.models_, strict=True)
        )
        # Rounding may leave 1 + 2e-16, which is no probability.
        return np.minimum(blended, 1.0)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return (n,), the most probable class of each row; the first declared among equals."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels
