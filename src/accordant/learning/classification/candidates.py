"""The classifiers tried by default as outcome model, as a table.

Each is deterministic (its random state is fixed by the caller), runs on one thread, and needs no scaling of
its input. The settings were chosen once, on simulated files whose true probabilities are known and on public
loan files; nothing here is tuned at run time, the choice among the rows is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.validation import validate_data

from accordant.arrays import Values
from accordant.errors import check_fitted
from accordant.learning.classification.calibration import CalibratedProbabilities, Method


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
        check_fitted(self)
        columns: Values = validate_data(self, X, dtype=np.float64, reset=False)
        return np.hstack([columns, np.maximum(0.0, columns[:, self.knot_columns_] - self.knots_)])


PRIOR = "prior"
"""Name of the trivial candidate: the class shares of the training data, whatever the features."""

MAX_FEATURES_FOR_PAIRS = 12
"""Products of two features are tried up to this width; their number grows with its square."""


@dataclass(frozen=True)
class Candidate:
    """A named classifier that has not been fitted; `baseline` marks one that is tried for comparison."""

    name: str
    estimator: ClassifierMixin
    baseline: bool = False


def _prior(_: int) -> ClassifierMixin:
    return DummyClassifier(strategy="prior")


def _logistic(_: int) -> ClassifierMixin:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _logistic_shrunk(_: int) -> ClassifierMixin:
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))


def _logistic_hinges(_: int) -> ClassifierMixin:
    return make_pipeline(HingeFeatures(n_knots=4), StandardScaler(), LogisticRegression(C=0.1, max_iter=2000))


def _logistic_pairs(_: int) -> ClassifierMixin:
    products = PolynomialFeatures(degree=2, interaction_only=True, include_bias=False)
    # Scaled before the products, to multiply deviations; and after, to penalise all columns evenly.
    return make_pipeline(
        HingeFeatures(n_knots=1),
        StandardScaler(),
        products,
        StandardScaler(),
        LogisticRegression(C=0.03, max_iter=2000),
    )


def _boosting(random_state: int) -> ClassifierMixin:
    # Early stopping is off: it would hold rows back by itself, and stop at another tree for every seed.
    return HistGradientBoostingClassifier(
        max_iter=60,
        learning_rate=0.05,
        max_leaf_nodes=7,
        min_samples_leaf=30,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=random_state,
    )


def _random_forest(random_state: int) -> ClassifierMixin:
    return RandomForestClassifier(n_estimators=60, min_samples_leaf=20, random_state=random_state, n_jobs=1)


def _extra_trees(random_state: int) -> ClassifierMixin:
    return ExtraTreesClassifier(
        n_estimators=80, min_samples_leaf=10, max_features=None, random_state=random_state, n_jobs=1
    )


_TABLE: tuple[tuple[str, Callable[[int], ClassifierMixin], Method], ...] = (
    (PRIOR, _prior, "raw"),
    ("logistic", _logistic, "raw"),
    ("logistic-shrunk", _logistic_shrunk, "raw"),
    ("logistic-hinges", _logistic_hinges, "raw"),
    ("logistic-pairs", _logistic_pairs, "raw"),
    ("boosting", _boosting, "raw"),
    ("boosting-sigmoid", _boosting, "sigmoid"),
    ("random-forest", _random_forest, "raw"),
    ("random-forest-sigmoid", _random_forest, "sigmoid"),
    ("extra-trees", _extra_trees, "raw"),
    ("extra-trees-sigmoid", _extra_trees, "sigmoid"),
)


FORESTS = (_random_forest, _extra_trees)


def default_candidates(
    n_features: int, random_state: int = 0, *, names: Collection[str] | None = None, forests: bool = True
) -> tuple[Candidate, ...]:
    """Return the default candidates for `n_features` columns, simplest first.

    The order matters only when scores are equal: the earlier one is then taken. `names` limits them, None to all; and
    without `forests`, whose fits grow faster than rows, there are none.
    """
    return tuple(
        Candidate(
            name,
            CalibratedProbabilities(make(random_state), method=method, random_state=random_state),
            baseline=name == PRIOR,
        )
        for name, make, method in _TABLE
        if (make is not _logistic_pairs or n_features <= MAX_FEATURES_FOR_PAIRS)
        and (names is None or name in names)
        and (forests or make not in FORESTS)
    )
