"""A reward for every group, or for every user, drawn towards the pooled one by a ridge.

    θ_g = argmin  Σ_{r of g} w_r [−log σ(D_r)] + ½ prior |θ_g − θ_pooled|²

The prior is in units of records: somebody with few records stays near the pooled reward, somebody with many leaves it
(a maximum a posteriori estimate under a normal prior; ridge towards a common centre as in multi-task learning, Evgeniou
and Pontil 2004).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from accordant.arrays import Codes, Values
from accordant.preferences.checks import check_positive
from accordant.preferences.learners.bradley_terry import pooled_coefficients
from accordant.preferences.learners.learner import (
    PreferenceLearner,
    UserRewards,
    checked_features,
    checked_records,
    register,
)
from accordant.preferences.learners.logistic import LogisticProblem
from accordant.preferences.learners.shared_items import independent_weights
from accordant.preferences.records import Comparisons

TOLERANCE = 1e-8  # largest entry of every gradient when other users are fitted


@dataclass(frozen=True, eq=False)
class PerUserReward(UserRewards):
    """A linear reward for each user, and a common one for everybody else.

    Attributes
    ----------
    common
        Coefficients for users who are unknown, shape (feature,).
    coefficients
        One row for each cluster, shape (cluster, feature).
    cluster
        Row of each user; -1 for the common coefficients, shape (user,).
    prior
        How many records the common reward is worth when other users are fitted; None if it is not known.
    groups
        Name of each row's group; None if rows are users.
    """

    common: Values
    coefficients: Values
    cluster: Codes
    prior: float | None = None
    groups: tuple[str, ...] | None = None

    def of_user(self, user: int | None) -> Values:
        """Return the coefficients for a user, shape (feature,)."""
        known = user is not None and 0 <= user < len(self.cluster) and self.cluster[user] >= 0
        return np.asarray(self.coefficients[self.cluster[user]] if known else self.common)

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        checked_features(comparisons.features, len(self.common))
        margins = np.empty(len(comparisons))
        known = comparisons.users < len(self.cluster)
        cluster = np.where(known, self.cluster[np.minimum(comparisons.users, len(self.cluster) - 1)], -1)
        for row in np.unique(cluster):
            rows = np.flatnonzero(cluster == row)
            theta = self.common if row < 0 else self.coefficients[row]
            margins[rows] = comparisons.differences(rows) @ theta
        return margins

    def adapted(self, comparisons: Comparisons) -> PerUserReward:
        """Return rewards for the users of other records: near the common one, or that of their group.

        Where rows are groups, users without a group, or of one that was not trained on, get the common reward. So does
        everybody if rows are users and there is no prior.
        """
        cluster = np.full(comparisons.n_users, -1, dtype=np.intp)
        if self.groups is not None:
            row = {name: k for k, name in enumerate(self.groups)}
            cluster[:] = [row.get(name, -1) for name in comparisons.groups or ("",) * comparisons.n_users]
            return replace(self, cluster=cluster)
        if self.prior is None:
            return replace(self, cluster=cluster)
        present = np.flatnonzero(comparisons.counts)
        cluster[present] = np.arange(len(present))
        independent = replace(comparisons, weights=independent_weights(comparisons))
        rows = near_rows(independent, cluster, self.common, self.prior, TOLERANCE)
        return replace(self, coefficients=rows, cluster=cluster)


def near_rows(comparisons: Comparisons, cluster: Codes, centre: Values, prior: float, tolerance: float) -> Values:
    """Return the reward of each cluster's records, drawn towards a centre (feature,), shape (cluster, feature).

    `cluster` is that of each user, or -1 for none, shape (user,); for prior and tolerance see `Shrunk`.
    """
    rewards = np.tile(centre, (int(cluster.max(initial=-1)) + 1, 1))
    of_record = np.where(comparisons.record_weights > 0, cluster[comparisons.users], -1)
    order = np.argsort(of_record, kind="stable")
    keys, starts = np.unique(of_record[order], return_index=True)
    for k, rows in zip(keys, np.split(order, starts[1:]) if len(keys) else [], strict=True):
        if k >= 0:
            weights = comparisons.record_weights[rows]
            problem = LogisticProblem(
                comparisons.differences(rows), weights=weights, ridge=prior / weights.sum(), centre=centre
            )
            rewards[k] = problem.solve(centre, tolerance=tolerance).coefficients
    return rewards


@dataclass(frozen=True)
class Shrunk(PreferenceLearner):
    """A pooled reward, and one for each cluster of users that is drawn towards it; learners say what a cluster is.

    Parameters
    ----------
    prior
        How many records the pooled reward is worth, above 0.
    ridge
        Of the pooled reward, above 0, see `BradleyTerry`.
    tolerance
        Largest entry of every gradient at the end, above 0.
    """

    prior: float = 10.0
    ridge: float = 1e-4
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        check_positive(prior=self.prior, ridge=self.ridge, tolerance=self.tolerance)

    def specialised(self, comparisons: Comparisons, cluster: Codes) -> PerUserReward:
        """Return the pooled reward and one for each cluster of users (position, or -1 for none, shape (user,))."""
        pooled = pooled_coefficients(comparisons, ridge=self.ridge, tolerance=self.tolerance)
        rows = near_rows(comparisons, cluster, pooled, self.prior, self.tolerance)
        return PerUserReward(pooled, rows, cluster, self.prior)


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
        model = self.specialised(comparisons, cluster.astype(np.intp))
        return replace(model, groups=tuple(map(str, names)))


@register("per_user")
@dataclass(frozen=True)
class PerUser(Shrunk):
    """A reward for each user; a user without records gets the pooled one.

    Records of a user that share items weigh together what independent ones would: see `independent_weights`.
    """

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> PerUserReward:
        """Learn the pooled reward, then each user's; deterministic."""
        del generator
        checked_records(comparisons)
        present = np.flatnonzero(comparisons.counts)
        cluster = np.full(comparisons.n_users, -1, dtype=np.intp)
        cluster[present] = np.arange(len(present))
        return self.specialised(replace(comparisons, weights=independent_weights(comparisons)), cluster)
