"""The table of base regressors a causal learner can be built on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from accordant.arrays import Values, WholeNumbers
from accordant.learning.causal.exponential_mean import ExponentialMeanRegressor
from accordant.learning.causal.gaussian_process import GaussianProcessGridRegressor
from accordant.learning.folds import deal_groups, held_out_parts

PENALTIES = np.logspace(-2, 5, 29)
GROUP_FOLDS = 5  # in which penalties are chosen where contexts come in groups; else each context is held out alone


@dataclass(frozen=True)
class BaseRegressor:
    """One row of the table.

    Attributes:
        build: makes an unfitted scikit-learn regressor.
        summary: what it assumes, in a few words.
        min_rows: fewest training rows, over all actions, from which it earns its cost.
        max_rows: most training rows for which its cost is acceptable.
        max_features: most features for which its cost is acceptable.
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


def _ridge() -> RegressorMixin:
    return make_pipeline(StandardScaler(), RidgeCV(PENALTIES))


def _interactions() -> RegressorMixin:
    pairs = PolynomialFeatures(2, include_bias=False)
    return make_pipeline(StandardScaler(), pairs, StandardScaler(), RidgeCV(PENALTIES))


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
    "ridge, scaled": BaseRegressor(lambda: RidgeCV(PENALTIES), "linear, features on the scale given"),
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

    Raises:
        ValueError: the name is not in the table.
    """
    if isinstance(base, str):
        if base not in BASE_REGRESSORS:
            raise ValueError(f"base regressor {base!r} is unknown; allowed: {', '.join(BASE_REGRESSORS)}.")
        regressor = BASE_REGRESSORS[base].build()
    else:
        regressor = clone(base)
    seeds = {name: random_state for name in regressor.get_params() if name.split("__")[-1] == "random_state"}
    return regressor.set_params(**seeds)
