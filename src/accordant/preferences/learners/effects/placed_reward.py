"""A linear reward for each user, in few directions around a common one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Values
from accordant.preferences.learners.effects.user_effects import UserRecords, likeliest_places
from accordant.preferences.learners.learner import RewardModel, checked_features
from accordant.preferences.learners.users.shared_items import independent_weights
from accordant.preferences.records import Comparisons


@dataclass(frozen=True, eq=False)
class PlacedReward(RewardModel):
    """θ_u = θ_0 + B z_u.

    Attributes
    ----------
    common
        θ_0, shape (feature,).
    directions
        B, shape (feature, direction).
    places
        z of users, shape (user, direction).
    unknown
        z of anybody else, shape (direction,).
    """

    common: Values
    directions: Values
    places: Values
    unknown: Values

    def of_user(self, user: int | None) -> Values:
        """Return the coefficients for a user, shape (feature,)."""
        known = user is not None and 0 <= user < len(self.places)
        return np.asarray(self.common + self.directions @ (self.places[user] if known else self.unknown))

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        return np.asarray(checked_features(features, len(self.common)) @ self.of_user(user))

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        features = checked_features(comparisons.features, len(self.common))
        common, along = features @ self.common, features @ self.directions
        gaps = along[comparisons.chosen] - along[comparisons.rejected]
        table = np.vstack([self.places, self.unknown])
        places = table[np.minimum(comparisons.users, len(self.places))]
        margins = common[comparisons.chosen] - common[comparisons.rejected]
        return np.asarray(margins + np.einsum("rk,rk->r", gaps, places))


def records_along(comparisons: Comparisons, common: Values, directions: Values) -> UserRecords:
    """Return records along directions in the order of users, with the common reward as offsets.

    Weights are those of independent records, see `independent_weights`.
    """
    order = np.argsort(comparisons.users, kind="stable")
    columns = np.column_stack([directions, common])
    if 2 * len(order) < len(comparisons.features):
        seen = comparisons.differences(order) @ columns
    else:
        of_item = comparisons.features @ columns
        seen = of_item[comparisons.chosen[order]] - of_item[comparisons.rejected[order]]
    return UserRecords(
        seen[:, :-1], seen[:, -1], independent_weights(comparisons)[order], comparisons.users[order],
        comparisons.n_users,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class AdaptableReward(PlacedReward):
    """θ_0 + B z_u with z_u near 0: adapted to other users by their likeliest z, with θ_0 and B as they are.

    Attributes
    ----------
    prior
        How many records z = 0 is worth, for records of unit variance along directions; above 0.
    """

    prior: float

    def adapted(self, comparisons: Comparisons) -> AdaptableReward:
        """Return the rewards of other users; without records, the common one."""
        return replace(self, places=near_common(records_along(comparisons, self.common, self.directions), self.prior))


def near_common(records: UserRecords, prior: float) -> Values:
    """Return each user's likeliest z under z ~ N(0, I / prior), shape (user, direction)."""
    size = records.columns.shape[1]
    return likeliest_places(records, np.zeros((records.n_users, size)), prior * np.eye(size)).modes
