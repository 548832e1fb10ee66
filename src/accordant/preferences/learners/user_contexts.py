"""What a reward may know of a user, beside the group: features that were given, or a summary of the user's own records.

A context is a row (1, c_1, …, c_k) per user; a reward that reads it is θ_0 + Σ_j c_j θ_j. A group is never part of it.

[ours] The summary of records: differences x are whitened, so that the mean of a user's records has the noise 1/n in
every direction, where n is how many independent records they are worth (`SharedItems`). Directions in which users'
means differ by more than noise can explain (the edge of the spectrum of noise, Marchenko and Pastur 1967) are kept, and
a user's mean along them is shrunk by signal / (signal + 1/n). While a reward is trained, each record sees the summary
of those of the user's records that share no item with it: the others may determine its answer. Directions, signal and
centre are those of all records, the record itself among them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from accordant.arrays import Values
from accordant.errors import DataError, UnknownNameError
from accordant.preferences.learners.shared_items import RecordSums, SharedItems
from accordant.preferences.records import Comparisons

Source = Literal["none", "given", "history"]

WHITENED = 20_000  # records are enough for a covariance
SMALL = 1e-6  # added to its diagonal, relative to its mean
CONSTANT = 1e-12  # spread of a feature relative to its mean: less is rounding


class UserContexts(ABC):
    """Contexts of users."""

    @abstractmethod
    def of_users(self, comparisons: Comparisons) -> Values:
        """Return (1, c) for each user of some records, shape (user, 1 + k); c = 0 for users who are unknown."""

    @abstractmethod
    def of_training_records(self, comparisons: Comparisons) -> Values:
        """Return (1, c) as each training record may see it, shape (record, 1 + k)."""

    @abstractmethod
    def of_user(self, user: int | None) -> Values:
        """Return (1, c) of a user who was trained on, by position; c = 0 for anybody else, shape (1 + k,)."""

    @abstractmethod
    def adapted(self, comparisons: Comparisons) -> UserContexts:
        """Return the same contexts for the users of other records, of whom nothing else is known."""


@dataclass(frozen=True, eq=False)
class GivenContexts(UserContexts):
    """The users' own features, standardised over the users with training records.

    Attributes
    ----------
    mean, spread
        Of each feature, shape (k,).
    known
        (1, c) of the users, shape (user, 1 + k).
    """

    mean: Values
    spread: Values
    known: Values

    @classmethod
    def learned(cls, comparisons: Comparisons) -> GivenContexts:
        """Return contexts from the users' features."""
        if comparisons.user_features is None:
            raise DataError("context is 'given', and the records hold no user_features")
        present = comparisons.user_features[comparisons.counts > 0]
        mean, spread = present.mean(axis=0), present.std(axis=0)
        varies = spread > CONSTANT * np.maximum(np.abs(mean), np.finfo(float).tiny)
        mean, spread = np.where(varies, mean, present[0]), np.where(varies, spread, 1.0)
        return cls(mean, spread, _with_constant((comparisons.user_features - mean) / spread))

    def of_users(self, comparisons: Comparisons) -> Values:
        """Return contexts from the records' own user features; without them, users are known by position."""
        if comparisons.user_features is None:
            return np.stack([self.of_user(user) for user in range(comparisons.n_users)])
        if comparisons.user_features.shape[1] != len(self.mean):
            n_features = comparisons.user_features.shape[1]
            raise DataError(f"users have {n_features} features; allowed: {len(self.mean)}, as in training")
        return _with_constant((comparisons.user_features - self.mean) / self.spread)

    def of_training_records(self, comparisons: Comparisons) -> Values:
        """Return each record's user's context."""
        return self.known[comparisons.users]

    def of_user(self, user: int | None) -> Values:
        """Return the context of one user."""
        return _row(self.known, user)

    def adapted(self, comparisons: Comparisons) -> GivenContexts:
        """Return contexts for other users; without features of theirs nothing is known of them, c = 0."""
        if comparisons.user_features is None:
            return GivenContexts(
                self.mean, self.spread, _with_constant(np.zeros((comparisons.n_users, len(self.mean))))
            )
        return GivenContexts(self.mean, self.spread, self.of_users(comparisons))


@dataclass(frozen=True, eq=False)
class HistoryContexts(UserContexts):
    """Summaries of users' records.

    Attributes
    ----------
    directions
        From a difference to whitened directions, shape (feature, k).
    centre
        Mean of users' means along them, each user counting n, shape (k,).
    signal
        Variance of users' true means along them, in units of one record's noise, above 0, shape (k,).
    known
        Means of the users' records along them, and n.
    """

    directions: Values
    centre: Values
    signal: Values
    known: RecordSums

    @classmethod
    def learned(cls, comparisons: Comparisons, most: int) -> HistoryContexts:
        """Return contexts from records, along at most `most` directions, perhaps none."""
        differences = comparisons.differences()
        whiten = _whitening(differences, comparisons.record_weights)
        users = SharedItems(comparisons).of_users(differences)
        has_weight = users.counted > 0
        means, counted = users.means[has_weight], users.counted[has_weight]
        centre = counted @ means / counted.sum()
        away = (means - centre) @ whiten
        _, strengths, vectors = np.linalg.svd(away * np.sqrt(counted)[:, None], full_matrices=False)
        edge = (np.sqrt(len(means)) + np.sqrt(differences.shape[1])) ** 2
        kept = np.flatnonzero(strengths**2 > edge)[:most]
        directions = whiten @ vectors[kept].T
        signal = (strengths[kept] ** 2 - len(means)) / counted.sum()
        known = RecordSums(users.means @ directions, users.counted)
        return cls(directions, centre @ directions, signal, known)

    def of_users(self, comparisons: Comparisons) -> Values:
        """Return contexts of users by position."""
        contexts = np.zeros((comparisons.n_users, 1 + len(self.signal)))
        known = self._summaries(self.known)[: comparisons.n_users]
        contexts[: len(known)] = known
        contexts[:, 0] = 1.0
        return contexts

    def of_training_records(self, comparisons: Comparisons) -> Values:
        """Return, for each record, the summary of the user's records that share no item with it."""
        return self._summaries(SharedItems(comparisons).of_others(comparisons.differences() @ self.directions))

    def of_user(self, user: int | None) -> Values:
        """Return the context of one user."""
        return _row(self._summaries(self.known), user)

    def adapted(self, comparisons: Comparisons) -> HistoryContexts:
        """Return the same summaries of other users' records."""
        known = SharedItems(comparisons).of_users(comparisons.differences() @ self.directions)
        return replace(self, known=known)

    def _summaries(self, records: RecordSums) -> Values:
        """Return (1, c) with c in units of the spread over users, shape (any, 1 + k)."""
        counted = records.counted[:, None]
        away = counted * (records.means - self.centre)
        return _with_constant(np.sqrt(self.signal) * away / (counted * self.signal + 1.0))


def user_contexts(source: Source, comparisons: Comparisons, *, directions: int) -> UserContexts | None:
    """Return what a reward may know of users; None for nothing.

    Parameters
    ----------
    source
        ``"none"``, ``"given"`` (user features), or ``"history"`` (a summary of the user's records).
    comparisons
        Training records.
    directions
        Most directions of a summary, at least 1.

    Raises
    ------
    UnknownNameError
        If there is no such source.
    """
    if source not in get_args(Source):
        raise UnknownNameError("context", source, get_args(Source))
    if source == "none":
        return None
    return (
        GivenContexts.learned(comparisons)
        if source == "given"
        else HistoryContexts.learned(comparisons, directions)
    )  # fmt: skip


def _whitening(differences: Values, weights: Values) -> Values:
    """Return the inverse of a square root of the second moment, shape (feature, feature)."""
    rows = np.flatnonzero(weights > 0)
    rows = rows[:: max(1, len(rows) // WHITENED)]
    some, counted = differences[rows], weights[rows] / weights[rows].max(initial=0.0)
    moment = (some * counted[:, None]).T @ some / max(float(counted.sum()), np.finfo(float).tiny)
    sizes, vectors = np.linalg.eigh(moment)
    least = SMALL * max(float(sizes.mean()), np.finfo(float).tiny)
    return np.asarray(vectors / np.sqrt(np.maximum(sizes, 0.0) + least))


def _with_constant(columns: Values) -> Values:
    return np.hstack([np.ones((len(columns), 1)), columns])


def _row(table: Values, user: int | None) -> Values:
    """Return a row of a table, or that of somebody unknown."""
    if user is not None and 0 <= user < len(table):
        return np.asarray(table[user])
    unknown = np.zeros(table.shape[1])
    unknown[0] = 1.0
    return unknown
