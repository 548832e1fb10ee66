"""X-learner: effects imputed with the other action's outcome regression, then regressed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import RegressorMixin

from accordant.arrays import Values
from accordant.learning.causal.base_learners import fitted_regressor
from accordant.learning.causal.level_learner import RANGE_SHARE, LevelLearner, levels_from_effects
from accordant.learning.causal.nuisances import cross_fit, fit_arms, full_mean_outcome, most_frequent
from accordant.learning.causal.propensity import PropensityModel, clip_propensities
from accordant.learning.causal.training_data import LoggedData


class XLearner(LevelLearner):
    """X-learner of Künzel et al. (2019, equations 7 to 9), every action against the most frequent one.

    The effect of action a is imputed as y - mu_ref(x) where a was taken and as mu_a(x) - y where the
    reference was, regressed on x in both groups, and averaged with weights g(x) = e_a / (e_a + e_ref): the
    group that is rarer at x gets its estimate from the other side. Levels are formed so that their
    propensity-weighted mean is m(x) = sum_a e_a(x) mu_a(x) (see `levels_from_effects`), before clipping.

    Args:
        base: regressor of the outcome regressions mu_a.
        effect: regressor of the imputed effects.
        folds: folds of the propensity model.
        range_share: how far levels may leave the training outcome range.
        random_state: seed.
    """

    def __init__(
        self,
        base: str | RegressorMixin = "forest",
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
        self.regressors_ = fit_arms(data, self.base, self.random_state)
        imputing = self._imputing_levels(data)
        reference_X, reference_y = data.arm(self.reference_)
        reference_groups = data.arm_groups(self.reference_)
        self.effect_regressors_ = []
        for action in range(data.n_actions):
            if action == self.reference_:
                continue
            X, y = data.arm(action)
            imputed = y - imputing(self.reference_, action)
            imputed_reference = imputing(action, self.reference_) - reference_y
            self.effect_regressors_.append(
                [
                    fitted_regressor(self.effect, self.random_state, X, imputed, data.arm_groups(action)),
                    fitted_regressor(self.effect, self.random_state, reference_X, imputed_reference, reference_groups),
                ]
            )

    def _imputing_levels(self, data: LoggedData) -> Callable[[int, int], Values]:
        """A function (action, taken) that gives mu_action in the contexts in which another action was taken.

        These contexts took no part in fitting mu_action. Where contexts come in groups, others of their groups may
        have: then mu_action is cross-fitted.
        """
        if data.groups is None:
            return lambda action, taken: self.regressors_[action].predict(data.arm(taken)[0])
        held_out = cross_fit(data, self.base, self.propensity_, self.folds, self.random_state).levels
        return lambda action, taken: held_out[action, data.actions == taken]

    def _raw_levels(self, X: Values) -> Values:
        e = clip_propensities(self.propensity_.predict(X))
        effects = np.zeros((self.n_actions_, X.shape[0]))
        others = [action for action in range(self.n_actions_) if action != self.reference_]
        for action, (from_action, from_reference) in zip(others, self.effect_regressors_, strict=True):
            share = e[action] / (e[action] + e[self.reference_])
            effects[action] = share * from_reference.predict(X) + (1 - share) * from_action.predict(X)
        mean_outcome = full_mean_outcome(self.regressors_, self.bounds_, X, e)
        return levels_from_effects(mean_outcome, effects, e)
