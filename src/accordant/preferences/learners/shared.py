"""One reward for everybody that may read the user's context: what learners of shared coefficients have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.preferences.learners.learner import (
    LinearReward,
    PreferenceLearner,
    RewardModel,
    checked_features,
    checked_from_one,
    checked_positive,
)
from accordant.preferences.learners.solving.logistic import LogisticProblem
from accordant.preferences.learners.users.contexts import Source, UserContexts, user_contexts
from accordant.preferences.records import Comparisons


@dataclass(frozen=True, eq=False)
class ContextualReward(RewardModel):
    """A linear reward whose coefficients are linear in the user's context.

    Attributes
    ----------
    coefficients
        θ_j of the context's constant 1 and of each of its entries, shape (1 + k, feature).
    contexts
        Where contexts come from.
    """

    coefficients: Values
    contexts: UserContexts

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        found = checked_features(features, self.coefficients.shape[1])
        return np.asarray(found @ (self.contexts.of_user(user) @ self.coefficients))

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        by_scale = checked_features(comparisons.features, self.coefficients.shape[1]) @ self.coefficients.T
        gaps = by_scale[comparisons.chosen] - by_scale[comparisons.rejected]
        return np.asarray(np.einsum("rj,rj->r", gaps, self.contexts.of_users(comparisons)[comparisons.users]))

    def adapted(self, comparisons: Comparisons) -> ContextualReward:
        """Return the same reward for other users, who are known by their features or by these records."""
        return replace(self, contexts=self.contexts.adapted(comparisons))


@dataclass(frozen=True, eq=False)
class Design:
    """How shared coefficients become margins of training records.

    Attributes
    ----------
    differences
        x, shape (record, feature).
    contexts
        What the reward knows of users; None for nothing.
    scales
        (1, c) of each record, shape (record, 1 + k); None without contexts.
    """

    differences: Values
    contexts: UserContexts | None
    scales: Values | None

    def problem(self, **terms: Any) -> LogisticProblem:
        """Return the convex problem with these terms; see `LogisticProblem`."""
        return LogisticProblem(self.differences, scales=self.scales, **terms)

    def reward(self, coefficients: Values) -> LinearReward | ContextualReward:
        """Return the reward model of coefficients, shape (coefficient,)."""
        if self.contexts is None:
            return LinearReward(coefficients)
        return ContextualReward(coefficients.reshape(-1, self.differences.shape[1]), self.contexts)


@dataclass(frozen=True)
class SharedLearner(PreferenceLearner):
    """A learner of one linear reward for everybody.

    Parameters
    ----------
    ridge
        Multiplies half the squared length of the coefficients, beside the mean loss; above 0, so that separable records
        have a solution too.
    tolerance
        Largest entry of the gradient at the end.
    context
        What the reward may know of a user: nothing, the user's given features, or a summary of the user's records.
    directions
        Most directions of a summary of records, at least 1.
    """

    ridge: float = 1e-4
    tolerance: float = 1e-8
    context: Source = "none"
    directions: int = 8

    def __post_init__(self) -> None:
        checked_positive(ridge=self.ridge, tolerance=self.tolerance)
        checked_from_one(directions=self.directions)

    def design(self, comparisons: Comparisons) -> Design:
        """Return how coefficients become margins of these records."""
        contexts = user_contexts(self.context, comparisons, directions=self.directions)
        scales = None if contexts is None else contexts.of_training_records(comparisons)
        return Design(comparisons.differences(), contexts, scales)
