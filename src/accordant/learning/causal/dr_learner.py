"""DR-learner: doubly robust pseudo-outcomes, regressed."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from accordant.arrays import Values
from accordant.learning.causal.base_learners import fitted_regressor
from accordant.learning.causal.level_learner import RANGE_SHARE, LevelLearner, levels_from_effects
from accordant.learning.causal.losses import pseudo_levels
from accordant.learning.causal.nuisances import cross_fit, fit_arms, full_mean_outcome, most_frequent
from accordant.learning.causal.propensity import PropensityModel, clip_propensities
from accordant.learning.causal.training_data import LoggedData


class DRLearner(LevelLearner):
    """DR-learner of Kennedy (2023, algorithm 1), cross-fitted, every action against the most frequent one.

    The pseudo-effect psi_a - psi_ref (see `pseudo_levels`) of every context is regressed on x. Levels
    are formed so that their propensity-weighted mean is m(x) = sum_a e_a(x) mu_a(x), with mu refitted on all
    contexts (see `levels_from_effects`), before clipping.

    Args:
        base: regressor of the outcome regressions mu_a.
        effect: regressor of the pseudo-effects.
        folds: cross-fitting folds.
        range_share: how far levels may leave the training outcome range.
        random_state: seed.
    """

    def __init__(
        self,
        base: str | RegressorMixin = "ridge",
        effect: str | RegressorMixin = "ridge",
        folds: int = 5,
        range_share: float = RANGE_SHARE,
        random_state: int = 0,
    ) -> None:
        self.base = base
        self.effect = effect
        self.folds = folds
        self.range_share = range_share
        self.random_state = random_state

    def _fit_levels(self, data: LoggedData) -> None:
        self.reference_ = most_frequent(data.actions)
        self.propensity_ = PropensityModel(self.folds, self.random_state).fit(data.X, data.actions, data.groups)
        held_out = cross_fit(data, self.base, self.propensity_, self.folds, self.random_state)
        scores = pseudo_levels(held_out.levels, held_out.propensities, data.actions, data.outcomes)
        self.regressors_ = fit_arms(data, self.base, self.random_state)
        self.effect_regressors_ = [
            fitted_regressor(
                self.effect, self.random_state, data.X, scores[action] - scores[self.reference_], data.groups
            )
            for action in range(data.n_actions)
            if action != self.reference_
        ]

    def _raw_levels(self, X: Values) -> Values:
        e = clip_propensities(self.propensity_.predict(X))
        effects = np.zeros((self.n_actions_, X.shape[0]))
        others = [action for action in range(self.n_actions_) if action != self.reference_]
        for action, regressor in zip(others, self.effect_regressors_, strict=True):
            effects[action] = regressor.predict(X)
        mean_outcome = full_mean_outcome(self.regressors_, self.bounds_, X, e)
        return levels_from_effects(mean_outcome, effects, e)
