"""What all causal learners share: training data checked once, clipping, and turning effects into levels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from accordant.arrays import Values, WholeNumbers, real_array
from accordant.errors import DataError, check_fitted
from accordant.learning.folds import deal_groups, held_out_parts

Fitted = TypeVar("Fitted")

MIN_ROWS_PER_ACTION = 10
"""Five-fold cross-fitting then trains on eight rows or more of every action and checks on two."""


class CausalDataError(DataError):
    """The training arrays do not fit together, or an action has too little data to learn from."""


@dataclass(frozen=True)
class LoggedData:
    """Contexts, the action that was taken in each, and the outcome that followed.

    Attributes
    ----------
    X
        Features, shape (context, feature), finite.
    actions
        Codes 0 .. n_actions - 1, shape (context,).
    outcomes
        Observed outcomes, shape (context,), finite, in the outcome's own unit.
    n_actions
        Number of actions, at least 2.
    groups
        Whose each context is, shape (context,): those of one group are never in two folds. None if contexts are
        independent.
    """

    X: Values
    actions: WholeNumbers
    outcomes: Values
    n_actions: int
    groups: WholeNumbers | None = None
    _fits: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Hashable, fit: Callable[[], Fitted]) -> Fitted:
        """What `fit` returns, fitted at the first call with this key: learners that see the same contexts share it."""
        if key not in self._fits:
            self._fits[key] = fit()
        fitted: Fitted = self._fits[key]
        return fitted

    def rows(self, index: WholeNumbers) -> LoggedData:
        """The same data restricted to some contexts (`index`: row numbers)."""
        groups = None if self.groups is None else self.groups[index]
        return LoggedData(self.X[index], self.actions[index], self.outcomes[index], self.n_actions, groups)

    def arm(self, action: int) -> tuple[Values, Values]:
        """Features and outcomes of the contexts in which `action` was taken."""
        taken = self.actions == action
        return self.X[taken], self.outcomes[taken]

    def arm_groups(self, action: int) -> WholeNumbers | None:
        """Groups of the contexts in which `action` was taken."""
        return None if self.groups is None else self.groups[self.actions == action]

    def counts(self) -> WholeNumbers:
        """Number of contexts per action, shape (action,)."""
        return np.bincount(self.actions, minlength=self.n_actions).astype(np.int64)


def check_features(X: object, n_features: int | None = None) -> Values:
    """`X` as a finite float array (context, feature).

    Raises
    ------
    CausalDataError
        Wrong number of dimensions or features, or missing values.
    """
    features = np.ascontiguousarray(real_array("X", X, CausalDataError), dtype=np.float64)
    if features.ndim != 2:
        raise CausalDataError(f"X must have two dimensions (context, feature); found {features.ndim}.")
    if n_features is not None and features.shape[1] != n_features:
        raise CausalDataError(f"X must have {n_features} features as in fit; found {features.shape[1]}.")
    if not np.isfinite(features).all():
        raise CausalDataError("X holds missing or infinite values; impute them before the causal learner.")
    return features


def check_training_data(
    X: object, actions: object, outcomes: object, n_actions: int | None, groups: object = None
) -> LoggedData:
    """Check and join the training arrays.

    Raises
    ------
    CausalDataError
        Lengths differ, codes are not 0 .. n_actions - 1, values are not finite, or an action has fewer than
        `MIN_ROWS_PER_ACTION` contexts (the message names the action's code).
    """
    features = check_features(X)
    raw_codes = np.asarray(actions)
    y = np.asarray(real_array("outcomes", outcomes, CausalDataError), dtype=np.float64)
    for name, array in (("actions", raw_codes), ("outcomes", y)):
        if array.shape != (features.shape[0],):
            raise CausalDataError(f"{name} must have shape ({features.shape[0]},); found {array.shape}.")
    if not np.issubdtype(raw_codes.dtype, np.integer):
        raise CausalDataError(f"actions must be integer codes; found dtype {raw_codes.dtype}.")
    if not np.isfinite(y).all():
        raise CausalDataError("outcomes hold missing or infinite values.")
    codes = raw_codes.astype(np.int64)
    count = int(codes.max(initial=-1)) + 1 if n_actions is None else int(n_actions)
    if count < 2 and n_actions is None and codes.min(initial=0) == 0:
        raise CausalDataError(f"a causal learner needs at least 2 actions; found {count}.")
    if codes.min() < 0 or codes.max() >= count:
        raise CausalDataError(
            f"action codes must lie in 0 .. {count - 1}; found {int(codes.min())} .. {int(codes.max())}."
        )
    whose = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int64)
    if whose is not None and whose.shape != y.shape:
        raise CausalDataError(f"groups must have shape {y.shape}; found {whose.shape}.")
    data = LoggedData(features, codes, y, count, whose)
    for action, rows in enumerate(data.counts()):
        if rows < MIN_ROWS_PER_ACTION:
            raise CausalDataError(
                f"action code {action} was taken in {int(rows)} contexts; at least {MIN_ROWS_PER_ACTION} "
                "are needed to learn its outcome level. Drop the action, merge it with another, or add data."
            )
    return data


RANGE_SHARE = 0.25
"""Share of an action's training outcome range by which predicted levels may leave that range."""


class LevelLearner(BaseEstimator):  # type: ignore[misc]
    """An estimator of E[outcome | context, action] for every action.

    Predicted levels of an action are clipped to the range of its training outcomes, extended on both
    sides by `range_share` times the range's width.

    Attributes
    ----------
    n_actions_
        Number of actions.
    n_features_in_
        Number of features.
    bounds_
        Lowest and highest level that may be predicted, shape (2, action).
    """

    range_share: float

    def fit(
        self, X: object, actions: object, outcomes: object, *, n_actions: int | None = None, groups: object = None
    ) -> Self:
        """Learn from logged data.

        Parameters
        ----------
        X
            Features, shape (context, feature), finite floats.
        actions
            Codes 0 .. n_actions - 1 of the actions taken, shape (context,).
        outcomes
            Outcomes observed, shape (context,), finite floats.
        n_actions
            Number of actions; by default the largest code plus one.
        groups
            Whose each context is, shape (context,); those of one group stay together in every inner fold.

        Raises
        ------
        CausalDataError
            The arrays do not fit together or an action has too few contexts.
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
        check_fitted(self)
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

    Raises
    ------
    CausalDataError
        There are groups, and all that took one action came to one fold.
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

    Parameters
    ----------
    mean_outcome
        Expected outcome m(x) = E[outcome | x] under the logged behaviour, shape (context,).
    effects
        Effects tau_a(x) against any one reference action (whose row is 0), shape (action, context).
    propensities
        Propensities e_a(x), columns summing to one, shape (action, context).
    """
    return np.asarray(mean_outcome + effects - np.sum(propensities * effects, axis=0), dtype=np.float64)
