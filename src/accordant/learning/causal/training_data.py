"""The three arrays every causal learner is trained on, checked once and carried together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values, WholeNumbers

MIN_ROWS_PER_ACTION = 10
"""Five-fold cross-fitting then trains on eight rows or more of every action and checks on two."""


class CausalDataError(ValueError):
    """The training arrays do not fit together, or an action has too little data to learn from."""


@dataclass(frozen=True)
class LoggedData:
    """Contexts, the action that was taken in each, and the outcome that followed.

    Attributes:
        X: features, shape (context, feature), finite.
        actions: codes 0 .. n_actions - 1, shape (context,).
        outcomes: observed outcomes, shape (context,), finite, in the outcome's own unit.
        n_actions: number of actions, at least 2.
        groups: whose each context is, shape (context,): those of one group are never in two folds. None if contexts are
            independent.
    """

    X: Values
    actions: WholeNumbers
    outcomes: Values
    n_actions: int
    groups: WholeNumbers | None = None

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

    Raises:
        CausalDataError: wrong number of dimensions or features, or missing values.
    """
    features = np.ascontiguousarray(X, dtype=np.float64)
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

    Raises:
        CausalDataError: lengths differ, codes are not 0 .. n_actions - 1, values are not finite, or an
            action has fewer than `MIN_ROWS_PER_ACTION` contexts (the message names the action's code).
    """
    features = check_features(X)
    raw_codes = np.asarray(actions)
    y = np.asarray(outcomes, dtype=np.float64)
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
