"""What records say of a reward, whether comparisons or rankings: how likely each record is, and what fits some of them.

A mixture reads records through this alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.preferences.learners.logistic import ConvexProblem, LogisticProblem, log_loss
from accordant.preferences.learners.plackett_luce import RankingProblem
from accordant.preferences.records import Comparisons, Rankings


class Evidence(ABC):
    """Records of users, and what they say of linear rewards."""

    @property
    @abstractmethod
    def users(self) -> Codes:
        """Position of the user, shape (record,)."""

    @property
    @abstractmethod
    def n_users(self) -> int:
        """Number of users, with and without records."""

    @property
    @abstractmethod
    def weights(self) -> Values:
        """Weight of each record, shape (record,)."""

    @property
    @abstractmethod
    def of_three_or_more(self) -> NDArray[np.bool_]:
        """Which records rank three items or more, shape (record,)."""

    @abstractmethod
    def losses(self, coefficients: Values) -> Values:
        """Return −log P of each record under each of several rewards (type, feature), shape (record, type)."""

    @abstractmethod
    def problem(self, weights: Values, ridge: float) -> ConvexProblem:
        """Return the problem of fitting one reward to records with other weights, shape (record,), not all 0."""

    def by_user(self, of_record: Values) -> Values:
        """Return sums over each user's records, shape (user,)."""
        return np.bincount(self.users, of_record, minlength=self.n_users).astype(np.float64, copy=False)

    @cached_property
    def counts(self) -> Codes:
        """Number of records with weight of each user, shape (user,)."""
        return np.bincount(self.users[self.weights > 0], minlength=self.n_users)


@dataclass(frozen=True, eq=False)
class ComparisonEvidence(Evidence):
    """Comparisons: P = σ(D)."""

    comparisons: Comparisons

    @property
    def users(self) -> Codes:
        """Position of the user, shape (record,)."""
        return self.comparisons.users

    @property
    def n_users(self) -> int:
        """Number of users."""
        return self.comparisons.n_users

    @property
    def weights(self) -> Values:
        """Weight of each record, shape (record,)."""
        return self.comparisons.record_weights

    @property
    def of_three_or_more(self) -> NDArray[np.bool_]:
        """No comparison does, shape (record,)."""
        return np.zeros(len(self.comparisons), dtype=bool)

    def losses(self, coefficients: Values) -> Values:
        """Return −log σ(D), shape (record, type)."""
        return log_loss(self._differences @ coefficients.T)

    def problem(self, weights: Values, ridge: float) -> ConvexProblem:
        """Return the problem of Bradley and Terry."""
        return LogisticProblem(self._differences, weights=weights, ridge=ridge)

    @cached_property
    def _differences(self) -> Values:
        return self.comparisons.differences()


@dataclass(frozen=True, eq=False)
class RankingEvidence(Evidence):
    """Rankings: P of Plackett and Luce."""

    rankings: Rankings

    @property
    def users(self) -> Codes:
        """Position of the user, shape (record,)."""
        return self.rankings.users

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.rankings.user_names or ())

    @property
    def weights(self) -> Values:
        """1 for each record."""
        return np.ones(len(self.rankings))

    @property
    def of_three_or_more(self) -> NDArray[np.bool_]:
        """Which rankings have three items or more, shape (record,)."""
        return np.asarray(self.rankings.lengths > 2)

    def losses(self, coefficients: Values) -> Values:
        """Return −log P of each ranking, shape (record, type)."""
        problem = RankingProblem(self.rankings)
        return np.stack([problem.losses(problem.predictions(theta)) for theta in coefficients], axis=1)

    def problem(self, weights: Values, ridge: float) -> ConvexProblem:
        """Return the problem of Plackett and Luce."""
        return RankingProblem(self.rankings, ridge, weights)


def evidence(records: Comparisons | Rankings) -> Evidence:
    """Return what records say."""
    return ComparisonEvidence(records) if isinstance(records, Comparisons) else RankingEvidence(records)


def of_users(records: Comparisons | Rankings, users: Codes) -> Comparisons | Rankings:
    """Return the records of some users; items, users and groups stay."""
    if isinstance(records, Comparisons):
        return records.of_users(users)
    rows = np.flatnonzero(np.isin(records.users, users))
    return replace(records, order=records.order[rows], users=records.users[rows])
