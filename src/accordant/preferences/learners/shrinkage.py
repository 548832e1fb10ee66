"""A reward for every group, or for every user, drawn towards the pooled one by a ridge.

    θ_g = argmin  Σ_{r of g} w_r [−log σ(D_r)] + ½ prior |θ_g − θ_pooled|²

The prior is in units of records: somebody with few records stays near the pooled reward, somebody with many leaves it
(a maximum a posteriori estimate under a normal prior; ridge towards a common centre as in multi-task learning, Evgeniou
and Pontil 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.preferences.learners.bradley_terry import pooled_coefficients
from accordant.preferences.learners.learner import PreferenceLearner, RewardModel, checked_records, register
from accordant.preferences.learners.logistic import LogisticProblem
from accordant.preferences.records import Comparisons

Values = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PerUserReward(RewardModel):
    """A linear reward for each user, and a common one for everybody else.

    Attributes
    ----------
    common
        Coefficients for users who are unknown, shape (feature,).
    coefficients
        One row for each cluster, shape (cluster, feature).
    cluster
        Row of each user; -1 for the common coefficients, shape (user,).
    """

    common: Values
    coefficients: Values
    cluster: Codes

    def of_user(self, user: int | None) -> Values:
        """Return the coefficients for a user, shape (feature,)."""
        known = user is not None and 0 <= user < len(self.cluster) and self.cluster[user] >= 0
        return np.asarray(self.coefficients[self.cluster[user]] if known else self.common)

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        return np.asarray(features @ self.of_user(user))

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        found = np.empty(len(comparisons))
        known = comparisons.users < len(self.cluster)
        cluster = np.where(known, self.cluster[np.minimum(comparisons.users, len(self.cluster) - 1)], -1)
        for row in np.unique(cluster):
            rows = np.flatnonzero(cluster == row)
            theta = self.common if row < 0 else self.coefficients[row]
            found[rows] = comparisons.differences(rows) @ theta
        return found


@dataclass(frozen=True)
class Shrunk(PreferenceLearner):
    """What both learners share.

    Parameters
    ----------
    prior
        How many records the pooled reward is worth, above 0.
    ridge
        Of the pooled reward, see `BradleyTerry`.
    tolerance
        Largest entry of every gradient at the end.
    """

    prior: float = 10.0
    ridge: float = 1e-4
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        if not 0 < self.prior < np.inf:
            raise InputError(f"prior is {self.prior}; allowed: above 0")

    def specialised(self, comparisons: Comparisons, cluster: Codes, n_clusters: int) -> PerUserReward:
        """Return the pooled reward and one for each cluster of users (position, or -1 for none, shape (user,))."""
        pooled = pooled_coefficients(comparisons, ridge=self.ridge, tolerance=self.tolerance)
        found = np.tile(pooled, (n_clusters, 1))
        of_record = cluster[comparisons.users]
        for k in range(n_clusters):
            rows = np.flatnonzero((of_record == k) & (comparisons.record_weights > 0))
            if len(rows):
                weights = comparisons.record_weights[rows]
                problem = LogisticProblem(
                    comparisons.differences(rows), weights=weights, ridge=self.prior / weights.sum(), centre=pooled
                )
                found[k] = problem.solve(pooled, tolerance=self.tolerance).coefficients
        return PerUserReward(pooled, found, cluster)


@register("per_group")
@dataclass(frozen=True)
class PerGroup(Shrunk):
    """A reward for each group; needs to know the group of whoever it is asked about."""

    needs_groups: ClassVar[bool] = True

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> PerUserReward:
        """Learn the pooled reward, then each group's; deterministic."""
        del generator
        checked_records(comparisons, groups=True)
        names, cluster = np.unique(np.array(comparisons.groups), return_inverse=True)
        return self.specialised(comparisons, cluster.astype(np.intp), len(names))


@register("per_user")
@dataclass(frozen=True)
class PerUser(Shrunk):
    """A reward for each user; a user without records gets the pooled one."""

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> PerUserReward:
        """Learn the pooled reward, then each user's; deterministic."""
        del generator
        checked_records(comparisons)
        present = np.flatnonzero(comparisons.counts)
        cluster = np.full(comparisons.n_users, -1, dtype=np.intp)
        cluster[present] = np.arange(len(present))
        return self.specialised(comparisons, cluster, len(present))
