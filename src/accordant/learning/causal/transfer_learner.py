"""Transfer learner: what was learned about the most frequent action becomes a feature for the others."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from accordant.arrays import Values
from accordant.learning.causal.base_learners import GROUP_FOLDS, fitted_regressor
from accordant.learning.causal.level_learner import RANGE_SHARE, LevelLearner, action_folds
from accordant.learning.causal.training_data import LoggedData

SHARED_WEIGHT = 5.0
"""Scale of the transferred features relative to the others: they are shrunk 25 times less."""

LOG_FLOOR = 0.05
"""Smallest shifted level, as a share of the average, before its logarithm is taken."""


class TransferLearner(LevelLearner):
    """A T-learner that borrows strength between actions.

    The action with most contexts is learned first, by `base`. Its predicted level and the logarithm of that
    level join the features of the regressions for every other action (by default ridge). If responses to
    the actions share one index of the features, two coefficients replace as many as there are features;
    if not, the ridge penalty leaves the features themselves to do the work. The source model never saw
    the other actions' contexts, so the transferred features are out of sample there.

    Args:
        base: regressor of the most frequent action: a name, or a scikit-learn regressor.
        target: regressor of the other actions. It is handed standardised features with the transferred ones
            `SHARED_WEIGHT` times larger; the default keeps that scale.
        range_share: how far levels may leave the training outcome range.
        random_state: seed.

    Attributes:
        source_: code of the most frequent action.
    """

    def __init__(
        self,
        base: str | RegressorMixin = "exponential",
        target: str | RegressorMixin = "ridge, scaled",
        range_share: float = RANGE_SHARE,
        random_state: int = 0,
    ) -> None:
        self.base = base
        self.target = target
        self.range_share = range_share
        self.random_state = random_state

    def _fit_levels(self, data: LoggedData) -> None:
        self.source_ = int(np.argmax(data.counts()))
        X, outcomes = data.arm(self.source_)
        groups = data.arm_groups(self.source_)
        self.source_regressor_ = fitted_regressor(self.base, self.random_state, X, outcomes, groups)
        source = self._training_source(data)
        # The logarithm needs positive levels: only if some are negative are all of them shifted up.
        self.shift_ = float(min(0.0, source.min()))
        self.floor_ = float(max(LOG_FLOOR * np.mean(source - self.shift_), np.finfo(float).tiny))
        features = self._features(data.X, source)
        self.centre_ = features.mean(axis=0)
        spread = features.std(axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        self.spread_[:2] /= SHARED_WEIGHT
        scaled = (features - self.centre_) / self.spread_
        self.target_regressors_ = []
        for action in range(data.n_actions):
            taken = data.actions == action
            if action != self.source_:
                self.target_regressors_.append(
                    fitted_regressor(
                        self.target, self.random_state, scaled[taken], data.outcomes[taken], data.arm_groups(action)
                    )
                )

    def _training_source(self, data: LoggedData) -> Values:
        """The source level of every training context, shape (context,).

        Where contexts come in groups, those of the other actions get theirs from fits without their group.
        """
        source = self._source_level(data.X)
        if data.groups is None:
            return source
        low, high = self.bounds_[:, self.source_]
        for train, test in action_folds(data.actions, GROUP_FOLDS, self.random_state, data.groups):
            part, others = data.rows(train), test[data.actions[test] != self.source_]
            if len(others):
                own = part.arm_groups(self.source_)
                fitted = fitted_regressor(self.base, self.random_state, *part.arm(self.source_), own)
                source[others] = np.clip(fitted.predict(data.X[others]), low, high)
        return source

    def _raw_levels(self, X: Values) -> Values:
        source = self._source_level(X)
        scaled = (self._features(X, source) - self.centre_) / self.spread_
        targets = iter(self.target_regressors_)
        rows = [
            source if action == self.source_ else next(targets).predict(scaled) for action in range(self.n_actions_)
        ]
        return np.stack(rows)

    def _source_level(self, X: Values) -> Values:
        low, high = self.bounds_[:, self.source_]
        return np.asarray(np.clip(self.source_regressor_.predict(X), low, high), dtype=np.float64)

    def _features(self, X: Values, source: Values) -> Values:
        logarithm = np.log(np.maximum(source - self.shift_, self.floor_))
        return np.column_stack([source, logarithm, X])
