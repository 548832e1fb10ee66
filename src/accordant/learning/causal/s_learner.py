"""S-learner: a single regression with the action among its features."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from accordant.arrays import Values, WholeNumbers
from accordant.learning.causal.base_learners import fitted_regressor
from accordant.learning.causal.level_learner import RANGE_SHARE, LevelLearner
from accordant.learning.causal.training_data import LoggedData


class SLearner(LevelLearner):
    """One regressor for all actions (Künzel, Sekhon, Bickel and Yu 2019, equation 4).

    Args:
        base: name of a base regressor, or a scikit-learn regressor.
        interactions: also give it the product of every action indicator with every feature. Linear
            regressors need this to see any effect that varies; trees find it by themselves.
        range_share: how far levels may leave the training outcome range.
        random_state: seed.
    """

    def __init__(
        self,
        base: str | RegressorMixin = "boosting",
        interactions: bool = False,
        range_share: float = RANGE_SHARE,
        random_state: int = 0,
    ) -> None:
        self.base = base
        self.interactions = interactions
        self.range_share = range_share
        self.random_state = random_state

    def _fit_levels(self, data: LoggedData) -> None:
        self.centre_ = data.X.mean(axis=0)
        design = self._design(data.X, data.actions)
        self.regressor_ = fitted_regressor(self.base, self.random_state, design, data.outcomes, data.groups)

    def _raw_levels(self, X: Values) -> Values:
        levels = np.empty((self.n_actions_, X.shape[0]))
        for action in range(self.n_actions_):
            levels[action] = self.regressor_.predict(self._design(X, np.full(X.shape[0], action)))
        return levels

    def _design(self, X: Values, actions: WholeNumbers) -> Values:
        """Features, one indicator per action, and (if asked for) their products with centred features."""
        indicators = np.eye(self.n_actions_)[actions]
        if self.n_actions_ == 2:
            indicators = indicators[:, 1:]
        columns = [X, indicators]
        if self.interactions:
            columns += [indicators[:, [k]] * (X - self.centre_) for k in range(indicators.shape[1])]
        return np.hstack(columns)
