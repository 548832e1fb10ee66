"""Cross-fitted outcome levels and propensities: what X- and DR-learners correct with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import RegressorMixin

from accordant.arrays import Values, WholeNumbers
from accordant.learning.causal.base_learners import fitted_regressor
from accordant.learning.causal.level_learner import action_folds
from accordant.learning.causal.propensity import PropensityModel, clip_propensities
from accordant.learning.causal.training_data import LoggedData


@dataclass(frozen=True)
class Nuisances:
    """Estimates for every training context from models that did not see it.

    Attributes:
        levels: outcome regressions mu_a(x), shape (action, context).
        propensities: clipped e_a(x), columns summing to one, shape (action, context).
    """

    levels: Values
    propensities: Values

    @property
    def mean_outcome(self) -> Values:
        """m(x) = sum_a e_a(x) mu_a(x), shape (context,)."""
        return np.asarray(np.sum(self.propensities * self.levels, axis=0), dtype=np.float64)


def cross_fit(
    data: LoggedData, base: str | RegressorMixin, propensity: PropensityModel, folds: int, random_state: int
) -> Nuisances:
    """Held-out levels of one regressor per action, next to the propensity model's held-out probabilities.

    Levels are clipped to the range of the outcomes observed under their action.
    """
    levels = np.empty((data.n_actions, data.actions.size))
    for train, test in action_folds(data.actions, folds, random_state, data.groups):
        part = data.rows(train)
        for action in range(data.n_actions):
            X, outcomes = part.arm(action)
            fitted = fitted_regressor(base, random_state, X, outcomes, part.arm_groups(action))
            predicted = fitted.predict(data.X[test])
            levels[action, test] = np.clip(predicted, outcomes.min(), outcomes.max())
    return Nuisances(levels, clip_propensities(propensity.held_out_))


def full_mean_outcome(regressors: list[RegressorMixin], bounds: Values, X: Values, e: Values) -> Values:
    """m(x) from regressors fitted on all contexts, shape (context,)."""
    levels = np.stack([np.asarray(regressor.predict(X)) for regressor in regressors])
    return np.asarray(np.sum(e * np.clip(levels, bounds[0][:, None], bounds[1][:, None]), axis=0))


def fit_arms(data: LoggedData, base: str | RegressorMixin, random_state: int) -> list[RegressorMixin]:
    """One regressor per action, fitted on all contexts in which it was taken."""
    return [
        fitted_regressor(base, random_state, *data.arm(action), data.arm_groups(action))
        for action in range(data.n_actions)
    ]


def most_frequent(actions: WholeNumbers) -> int:
    """Code of the most frequent action: the reference the others are compared with."""
    return int(np.argmax(np.bincount(actions)))
