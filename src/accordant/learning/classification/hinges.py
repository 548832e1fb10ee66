"""Piecewise linear features: what lets a logistic regression bend."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from accordant.arrays import Values


class HingeFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Each column x_j, followed by max(0, x_j - c) for knots c at its quantiles.

    A linear model on these columns is a linear spline in each feature, and goes on as a straight line
    outside the range of the training data (truncated power basis of degree one: Hastie, Tibshirani and
    Friedman, 2009, "The Elements of Statistical Learning", section 5.2). Knots are the *distinct* quantiles
    strictly inside the range, so constant, two-valued and heavily tied columns need no special case: they
    get fewer knots, or none.

    Parameters
    ----------
    n_knots
        Knots per column, at the quantiles j / (n_knots + 1).

    Attributes
    ----------
    knots_
        (total knots,) the knots, and `knot_columns_`, (total knots,), the column each belongs to.
    """

    def __init__(self, n_knots: int = 4) -> None:
        self.n_knots = n_knots

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes it
        """Find the knots of X (n, features)."""
        columns: Values = validate_data(self, X, dtype=np.float64)
        levels = np.linspace(0.0, 1.0, self.n_knots + 2)[1:-1]
        knots, owners = [], []
        for index, column in enumerate(columns.T):
            distinct = np.unique(np.quantile(column, levels))
            inside = distinct[(distinct > column.min()) & (distinct < column.max())]
            knots.append(inside)
            owners.append(np.full(len(inside), index, dtype=np.intp))
        self.knots_ = np.concatenate(knots)
        self.knot_columns_ = np.concatenate(owners)
        return self

    def transform(self, X: ArrayLike) -> Values:
        """Return (n, features + total knots): the columns of X, then the hinges."""
        check_is_fitted(self)
        columns: Values = validate_data(self, X, dtype=np.float64, reset=False)
        return np.hstack([columns, np.maximum(0.0, columns[:, self.knot_columns_] - self.knots_)])
