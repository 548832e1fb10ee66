"""`PreferenceLearner` and `RewardModel`: from comparisons to rewards of items, for everybody or for each user."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import DataError, InputError
from accordant.preferences.records import Comparisons
from accordant.registry import Registry

learners: Registry[PreferenceLearner] = Registry(
    "preference learner", group="accordant.preferences", packages=("accordant.preferences.learners",)
)


class RewardModel(ABC):
    """Rewards of items.

    A margin of 1 makes the chosen item e times as likely to be chosen as the other. Rewards are in the same units, but
    for `DistributionalReward`, whose margins are differences of rewards divided by their spreads.
    """

    @abstractmethod
    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item, shape (item,).

        Parameters
        ----------
        features
            Shape (item, feature).
        user
            Position of the user; None, or a user without records, for somebody unknown. Users are those of training,
            by position; for others see `adapted`.

        Raises
        ------
        InputError
            If features have another shape than those trained on.
        """

    @abstractmethod
    def margins(self, comparisons: Comparisons) -> Values:
        """Return the reward of the chosen item less that of the rejected one for the record's user, shape (record,).

        Users are those of training, by position, whatever their names; for others see `adapted`.
        """

    def adapted(self, comparisons: Comparisons) -> RewardModel:
        """Return the model for the users of a few other records; what users share stays as it is.

        Positions of users are then those of these records. A model that knows nothing of single users is returned
        unchanged.

        Parameters
        ----------
        comparisons
            Records of users who were not trained on, perhaps none of some of them.
        """
        del comparisons
        return self


class UserRewards(RewardModel):
    """A linear reward for each user."""

    @abstractmethod
    def of_user(self, user: int | None) -> Values:
        """Return the coefficients for a user, by position, or for somebody unknown, shape (feature,)."""

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        theta = self.of_user(user)
        return np.asarray(checked_features(features, len(theta)) @ theta)


@dataclass(frozen=True)
class PreferenceLearner(ABC):
    """A way to learn rewards, with its parameters.

    Class attributes
    ----------------
    name
        Registered name.
    control
        Whether it is there to be compared with, such as the pooled model.
    needs_groups
        Whether training reads the groups of users.
    extra
        The optional extra of this package that training needs; None for none.
    cost
        How long training takes, in times of that of the pooled reward, very roughly: what takes longest is begun first.
    """

    name: ClassVar[str]
    control: ClassVar[bool] = False
    needs_groups: ClassVar[bool] = False
    extra: ClassVar[str | None] = None
    cost: ClassVar[int] = 1

    @abstractmethod
    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> RewardModel:
        """Learn from records.

        Parameters
        ----------
        comparisons
            At least one record with weight.
        generator
            Source of randomness, for learners that need one; None seeds one with 0.

        Raises
        ------
        DataError
            If there is no record, or groups are needed and missing.
        """

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that rebuild the learner: ``learners.create(name, parameters)``."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


register = learners.named


def checked_records(comparisons: Comparisons, *, groups: bool = False) -> Comparisons:
    """Return the records, or raise if there are none, or groups are needed and missing."""
    if len(comparisons) == 0:
        raise DataError("there are no comparisons to learn from")
    if groups and comparisons.groups is None:
        raise DataError("the learner needs the group of each user while it is trained, and there are none")
    return comparisons


def checked_features(features: ArrayLike, n_features: int) -> Values:
    """Return the features of items, shape (item, feature), or raise if they are not as wide as those trained on.

    Parameters
    ----------
    features
        Of items, one row for each.
    n_features
        Number of features that the model was trained on.

    Raises
    ------
    InputError
        If the shape is another one, or these are no numbers.
    """
    array = np.asarray(features)
    if array.ndim != 2 or array.shape[1] != n_features:
        raise InputError(f"features have shape {array.shape}; allowed: (item, {n_features}), as in training")
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer) or array.dtype == bool):
        raise InputError(f"features are of type {array.dtype}; allowed: numbers")
    return array


@dataclass(frozen=True, eq=False)
class LinearReward(RewardModel):
    """The same linear reward for everybody.

    Attributes
    ----------
    coefficients
        θ, shape (feature,).
    """

    coefficients: Values

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return θ · features of each item, shape (item,)."""
        del user
        return np.asarray(checked_features(features, len(self.coefficients)) @ self.coefficients)

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins, shape (record,)."""
        rewards = self.rewards(comparisons.features)
        return np.asarray(rewards[comparisons.chosen] - rewards[comparisons.rejected])
