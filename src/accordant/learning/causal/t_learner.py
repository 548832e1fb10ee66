"""T-learner: a separate regression for every action."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from accordant.arrays import Values
from accordant.learning.causal.level_learner import RANGE_SHARE, LevelLearner
from accordant.learning.causal.nuisances import fit_arms
from accordant.learning.causal.training_data import LoggedData


class TLearner(LevelLearner):
    """One regressor per action, each seeing only its own contexts (Künzel et al. 2019, equation 3).

    Args:
        base: name of a base regressor, or a scikit-learn regressor, used for every action.
        range_share: how far levels may leave the training outcome range.
        random_state: seed.
    """

    def __init__(
        self, base: str | RegressorMixin = "ridge", range_share: float = RANGE_SHARE, random_state: int = 0
    ) -> None:
        self.base = base
        self.range_share = range_share
        self.random_state = random_state

    def _fit_levels(self, data: LoggedData) -> None:
        self.regressors_ = fit_arms(data, self.base, self.random_state)

    def _raw_levels(self, X: Values) -> Values:
        return np.stack([np.asarray(regressor.predict(X)) for regressor in self.regressors_])
