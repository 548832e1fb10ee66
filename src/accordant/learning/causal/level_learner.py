"""What all causal learners share: checking, clipping, and turning effects into levels."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from accordant.arrays import Values, WholeNumbers
from accordant.learning.causal.training_data import CausalDataError, LoggedData, check_features, check_training_data
from accordant.learning.folds import deal_groups, held_out_parts

RANGE_SHARE = 0.25
"""Share of an action's training outcome range by which predicted levels may leave that range."""


class LevelLearner(BaseEstimator):  # type: ignore[misc]
    """An estimator of E[outcome | context, action] for every action.

    Predicted levels of an action are clipped to the range of its training outcomes, extended on both
    sides by `range_share` times the range's width.

    Attributes:
        n_actions_: number of actions.
        n_features_in_: number of features.
        bounds_: lowest and highest level that may be predicted, shape (2, action).
    """

    range_share: float

    def fit(
        self, X: object, actions: object, outcomes: object, *, n_actions: int | None = None, groups: object = None
    ) -> Self:
        """Learn from logged data.

        Args:
            X: features, shape (context, feature), finite floats.
            actions: codes 0 .. n_actions - 1 of the actions taken, shape (context,).
            outcomes: outcomes observed, shape (context,), finite floats.
            n_actions: number of actions; by default the largest code plus one.
            groups: whose each context is, shape (context,); those of one group stay together in every inner fold.

        Raises:
            CausalDataError: the arrays do not fit together or an action has too few contexts.
        """
        return self.fit_part(check_training_data(X, actions, outcomes, n_actions, groups))

    def fit_part(self, data: LoggedData) -> Self:
        """Learn from data already checked, such as one fold of it."""
        self.n_actions_ = data.n_actions
        self.n_features_in_ = int(data.X.shape[1])
        self.bounds_ = outcome_bounds(data, self.range_share)
        self._fit_levels(data)
        return self

    def predict_levels(self, X: object) -> Values:
        """Estimated outcome level of every action in every context, shape (action, context)."""
        check_is_fitted(self)
        levels = self._raw_levels(check_features(X, self.n_features_in_))
        return np.clip(levels, self.bounds_[0][:, None], self.bounds_[1][:, None])

    @abstractmethod
    def _fit_levels(self, data: LoggedData) -> None:
        """Learn from checked data."""

    @abstractmethod
    def _raw_levels(self, X: Values) -> Values:
        """Levels before clipping, shape (action, context)."""


def outcome_bounds(data: LoggedData, range_share: float) -> Values:
    """Lowest and highest admissible level per action, shape (2, action)."""
    bounds = np.empty((2, data.n_actions))
    for action in range(data.n_actions):
        outcomes = data.arm(action)[1]
        low, high = float(outcomes.min()), float(outcomes.max())
        margin = range_share * (high - low)
        bounds[:, action] = low - margin, high + margin
    return bounds


def action_folds(
    actions: WholeNumbers, folds: int, random_state: int, groups: WholeNumbers | None = None
) -> list[tuple[WholeNumbers, WholeNumbers]]:
    """Shuffled folds (train rows, test rows) with every action in about equal shares in each; groups stay whole.

    Raises:
        CausalDataError: there are groups, and all that took one action came to one fold.
    """
    if groups is not None:
        dealt = deal_groups(groups, folds, np.random.default_rng(random_state), actions)
        parts = held_out_parts(dealt, folds)
        for action in np.unique(actions):
            if not parts or min(np.count_nonzero(actions[train] == action) for train, _ in parts) == 0:
                raise CausalDataError(
                    f"action code {action} was taken by {len(np.unique(groups[actions == action]))} groups only: "
                    "without one of them nothing is left to learn from. Drop the action, merge it with another, or "
                    "add data."
                )
        return parts
    splitter = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    return list(splitter.split(np.zeros((actions.size, 1)), actions))


def levels_from_effects(mean_outcome: Values, effects: Values, propensities: Values) -> Values:
    """Levels whose propensity-weighted mean is the outcome regression.

    level_a(x) = m(x) + tau_a(x) - sum_b e_b(x) tau_b(x), so sum_a e_a(x) level_a(x) = m(x) and the
    differences between levels are the effects (Robinson 1988; Nie and Wager 2021, equation 1).

    Args:
        mean_outcome: m(x) = E[outcome | x] under the logged behaviour, shape (context,).
        effects: tau_a(x) against any one reference action (whose row is 0), shape (action, context).
        propensities: e_a(x), columns summing to one, shape (action, context).
    """
    return np.asarray(mean_outcome + effects - np.sum(propensities * effects, axis=0), dtype=np.float64)
