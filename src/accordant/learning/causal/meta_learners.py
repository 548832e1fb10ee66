"""Meta-learners: S, T, X, DR, and a transfer learner, each built on base regressors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from accordant.arrays import Values, WholeNumbers
from accordant.learning.causal.base_learners import GROUP_FOLDS, fitted_regressor
from accordant.learning.causal.level_learner import (
    RANGE_SHARE,
    LevelLearner,
    LoggedData,
    action_folds,
    levels_from_effects,
)
from accordant.learning.causal.nuisances import (
    cross_fit,
    fit_arm,
    fit_arms,
    fit_propensities,
    full_mean_outcome,
    most_frequent,
    pseudo_levels,
)
from accordant.learning.causal.propensity import clip_propensities


class SLearner(LevelLearner):
    """One regressor for all actions (Künzel, Sekhon, Bickel and Yu 2019, equation 4).

    Parameters
    ----------
    base
        Name of a base regressor, or a scikit-learn regressor.
    interactions
        Also give it the product of every action indicator with every feature. Linear regressors need this to see any
        effect that varies; trees find it by themselves.
    range_share
        How far levels may leave the training outcome range.
    random_state
        Seed.
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


class TLearner(LevelLearner):
    """One regressor per action, each seeing only its own contexts (Künzel et al. 2019, equation 3).

    Parameters
    ----------
    base
        Name of a base regressor, or a scikit-learn regressor, used for every action.
    range_share
        How far levels may leave the training outcome range.
    random_state
        Seed.
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


class EffectLearner(LevelLearner):
    """Effects of every action against the most frequent one, turned into levels.

    Levels are formed so that their propensity-weighted mean is m(x) = sum_a e_a(x) mu_a(x), with mu fitted on all
    contexts (see `levels_from_effects`), before clipping.

    Parameters
    ----------
    base
        Regressor of the outcome regressions mu_a.
    effect
        Regressor of the effects.
    folds
        Folds of the propensity model, and of cross-fitting.
    range_share
        How far levels may leave the training outcome range.
    random_state
        Seed.
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
        self.propensity_ = fit_propensities(data, self.folds, self.random_state)
        self.regressors_ = fit_arms(data, self.base, self.random_state)
        others = [action for action in range(data.n_actions) if action != self.reference_]
        self.effect_regressors_ = self._effect_regressors(data, others)

    def _raw_levels(self, X: Values) -> Values:
        e = clip_propensities(self.propensity_.predict(X))
        effects = np.zeros((self.n_actions_, X.shape[0]))
        others = [action for action in range(self.n_actions_) if action != self.reference_]
        for action, fitted in zip(others, self.effect_regressors_, strict=True):
            effects[action] = self._effect(fitted, X, e[action] / (e[action] + e[self.reference_]))
        return levels_from_effects(full_mean_outcome(self.regressors_, self.bounds_, X, e), effects, e)

    @abstractmethod
    def _effect_regressors(self, data: LoggedData, others: Sequence[int]) -> list[Any]:
        """Return what is fitted for the effect of each other action."""

    @abstractmethod
    def _effect(self, fitted: Any, X: Values, share: Values) -> Values:
        """Return the effect of an action whose share among it and the reference is given, shape (context,)."""


class XLearner(EffectLearner):
    """X-learner of Künzel et al. (2019, equations 7 to 9), every action against the most frequent one.

    The effect of action a is imputed as y - mu_ref(x) where a was taken and as mu_a(x) - y where the
    reference was, regressed on x in both groups, and averaged with weights g(x) = e_a / (e_a + e_ref): the
    group that is rarer at x gets its estimate from the other side.
    """

    def __init__(
        self,
        base: str | RegressorMixin = "forest",
        effect: str | RegressorMixin = "ridge",
        folds: int = 5,
        range_share: float = RANGE_SHARE,
        random_state: int = 0,
    ) -> None:
        super().__init__(base, effect, folds, range_share, random_state)

    def _effect_regressors(self, data: LoggedData, others: Sequence[int]) -> list[Any]:
        imputing = self._imputing_levels(data)
        reference_X, reference_y = data.arm(self.reference_)
        reference_groups = data.arm_groups(self.reference_)
        fitted = []
        for action in others:
            X, y = data.arm(action)
            imputed = y - imputing(self.reference_, action)
            imputed_reference = imputing(action, self.reference_) - reference_y
            own = fitted_regressor(self.effect, self.random_state, X, imputed, data.arm_groups(action))
            fitted.append(
                [
                    own,
                    fitted_regressor(self.effect, self.random_state, reference_X, imputed_reference, reference_groups),
                ]
            )
        return fitted

    def _imputing_levels(self, data: LoggedData) -> Callable[[int, int], Values]:
        """A function (action, taken) that gives mu_action in the contexts in which another action was taken.

        These contexts took no part in fitting mu_action. Where contexts come in groups, others of their groups may
        have: then mu_action is cross-fitted.
        """
        if data.groups is None:
            return lambda action, taken: self.regressors_[action].predict(data.arm(taken)[0])
        held_out = cross_fit(data, self.base, self.propensity_, self.folds, self.random_state).levels
        return lambda action, taken: held_out[action, data.actions == taken]

    def _effect(self, fitted: Any, X: Values, share: Values) -> Values:
        from_action, from_reference = fitted
        return np.asarray(share * from_reference.predict(X) + (1 - share) * from_action.predict(X))


class DRLearner(EffectLearner):
    """DR-learner of Kennedy (2023, algorithm 1), cross-fitted, every action against the most frequent one.

    The pseudo-effect psi_a - psi_ref (see `pseudo_levels`) of every context is regressed on x.
    """

    def _effect_regressors(self, data: LoggedData, others: Sequence[int]) -> list[Any]:
        held_out = cross_fit(data, self.base, self.propensity_, self.folds, self.random_state)
        scores = pseudo_levels(held_out.levels, held_out.propensities, data.actions, data.outcomes)
        return [
            fitted_regressor(
                self.effect, self.random_state, data.X, scores[action] - scores[self.reference_], data.groups
            )
            for action in others
        ]

    def _effect(self, fitted: Any, X: Values, share: Values) -> Values:
        del share
        return np.asarray(fitted.predict(X))


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

    Parameters
    ----------
    base
        Regressor of the most frequent action: a name, or a scikit-learn regressor.
    target
        Regressor of the other actions. It is handed standardised features with the transferred ones `SHARED_WEIGHT`
        times larger; the default keeps that scale.
    range_share
        How far levels may leave the training outcome range.
    random_state
        Seed.

    Attributes
    ----------
    source_
        Code of the most frequent action.
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
        self.source_regressor_ = fit_arm(data, self.source_, self.base, self.random_state)
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
