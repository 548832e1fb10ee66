"""Recommenders that count: popularity, transitions from item to item, neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance.recommender import NOWHERE, Fitted, Interactions, Recommender, check_fit, register


@dataclass(frozen=True, eq=False)
class Rows:
    """Entries above 0 of a matrix, sorted by row and column; every pair occurs once.

    Attributes
    ----------
    shape
        Numbers of rows and columns.
    rows, columns
        Positions, shape (entry,).
    values
        Shape (entry,).
    """

    shape: tuple[int, int]
    rows: Codes
    columns: Codes
    values: Values

    @classmethod
    def of(cls, interactions: Interactions) -> Rows:
        """Return sums of counts by user and item."""
        shape = (interactions.n_users, interactions.n_items)
        keys, inverse = np.unique(interactions.users * shape[1] + interactions.items, return_inverse=True)
        values = np.bincount(inverse, interactions.counts, len(keys)).astype(np.float64)
        return cls(shape, keys // shape[1], keys % shape[1], values)

    @cached_property
    def bounds(self) -> Codes:
        """Where the entries of each row begin, and where the last end, shape (row + 1,)."""
        return np.searchsorted(self.rows, np.arange(self.shape[0] + 1))

    def row(self, position: int) -> tuple[Codes, Values]:
        """Return columns and values of a row; nothing for position −1."""
        if position < 0:
            return self.columns[:0], self.values[:0]
        part = slice(self.bounds[position], self.bounds[position + 1])
        return self.columns[part], self.values[part]

    def __iter__(self) -> Iterator[tuple[Codes, Values]]:
        """Return columns and values row by row."""
        return (self.row(position) for position in range(self.shape[0]))

    @property
    def turned(self) -> Rows:
        """Columns as rows."""
        order = np.lexsort((self.rows, self.columns))
        return Rows(self.shape[::-1], self.columns[order], self.rows[order], self.values[order])

    @property
    def dense(self) -> Values:
        """The whole matrix, shape (row, column)."""
        filled = np.zeros(self.shape)
        filled[self.rows, self.columns] = self.values
        return filled


@dataclass(frozen=True, eq=False)
class FittedPopular(Fitted):
    """How often items were consumed, shape (item,)."""

    popularity: Values

    def rate(self, users: NDArray[np.intp], starts: NDArray[np.intp]) -> Values:
        """Return popularity for everybody."""
        del starts
        return np.repeat(self.popularity[:, None], len(users), axis=1)


@register("popular")
@dataclass(frozen=True)
class Popular(Recommender):
    """How often items were consumed, the same for everybody; 0 for items that nobody consumed."""

    about: ClassVar[str] = "what most consumed"

    def fit(self, interactions: Interactions, catalogue: Catalogue) -> FittedPopular:
        """Return the sum of counts of each item."""
        check_fit(interactions, catalogue)
        return FittedPopular(interactions.n_users, interactions.n_items, interactions.popularity)


@dataclass(frozen=True, eq=False)
class FittedTransitions(Fitted):
    """Chances of items after each start, shape (start, item); the last row is for no start."""

    chances: Values

    def rate(self, users: NDArray[np.intp], starts: NDArray[np.intp]) -> Values:
        """Return the chance of each item after the start, the same for all users."""
        del users
        return self.chances[starts].T  # NOWHERE, −1, is the last row


@register("transitions")
@dataclass(frozen=True)
class Transitions(Recommender):
    """A Markov chain of first order with Dirichlet smoothing towards popularity (Zhai and Lafferty 2001).

        P(c | s) = (n(s, c) + m p(c)) / (n(s) + m),        p(c) the share of c in all that was consumed

    Without a start, and after a start that nothing followed, it is p; an item that nobody consumed has chance 0.

    Parameters
    ----------
    smoothing
        m, how many observations popularity counts for, above 0.
    """

    about: ClassVar[str] = "what follows the start; popularity where little is known"
    smoothing: float = 20.0

    def __post_init__(self) -> None:
        if not 0 < self.smoothing < np.inf:
            raise InputError(f"smoothing is {self.smoothing}; allowed: a number above 0")

    def fit(self, interactions: Interactions, catalogue: Catalogue) -> FittedTransitions:
        """Return chances after each start."""
        check_fit(interactions, catalogue)
        n_items, known = interactions.n_items, interactions.starts != NOWHERE
        followed = np.zeros((n_items + 1, n_items))
        np.add.at(followed, (interactions.starts[known], interactions.items[known]), interactions.counts[known])
        popularity = interactions.popularity
        prior = popularity / popularity.sum() if len(interactions.items) else popularity
        chances = (followed + self.smoothing * prior) / (followed.sum(axis=1, keepdims=True) + self.smoothing)
        return FittedTransitions(interactions.n_users, n_items, chances)


@dataclass(frozen=True, eq=False)
class FittedNeighbours(Fitted):
    """Similarity of items, shape (item, item), what each user consumed, and the share of users per item.

    Similarity is at least 0, with 0 on the diagonal; `history` is log(1 + count), one row per user. `reach`, shape
    (item,), is what is left to say where no neighbour says anything.
    """

    similarity: Values
    history: Rows
    reach: Values

    def rate(self, users: NDArray[np.intp], starts: NDArray[np.intp]) -> Values:
        """Return sums of similarities to what the user consumed and to the start."""
        ratings = np.empty((self.n_items, len(users)))
        for request, (user, start) in enumerate(zip(users, starts, strict=True)):
            items, weights = self.history.row(int(user))
            ratings[:, request] = self.similarity[:, items] @ weights
            if start != NOWHERE:
                ratings[:, request] += self.similarity[:, start]
        uncounted = ~(ratings > 0).any(axis=0)
        ratings[:, uncounted] = self.reach[:, None]
        return ratings


@register("neighbours")
@dataclass(frozen=True)
class Neighbours(Recommender):
    """Cosine between items as vectors over users (Sarwar, Karypis, Konstan and Riedl 2001), entries log(1 + count).

        score(u, c) = Σ_{j ∈ history of u, or the start} w_uj cos(c, j),  j among the most similar to c

    The cosine is multiplied by n / (n + shrinkage), where n users consumed both. A request of which no neighbour is
    known has the share of users who consumed each item; an item that nobody consumed has 0.

    Parameters
    ----------
    neighbours
        Most similar items that count for each item, at least 1; equally similar ones by order of items.
    shrinkage
        At least 0; doubts similarities that few users stand for.
    """

    about: ClassVar[str] = "what the same users consumed, from the user's history and the start"
    neighbours: int = 50
    shrinkage: float = 30.0

    def __post_init__(self) -> None:
        if self.neighbours < 1:
            raise InputError(f"neighbours is {self.neighbours}; allowed: a whole number of at least 1")
        if not 0 <= self.shrinkage < np.inf:
            raise InputError(f"shrinkage is {self.shrinkage}; allowed: a number of at least 0")

    def fit(self, interactions: Interactions, catalogue: Catalogue) -> FittedNeighbours:
        """Return similarities; memory grows with the square of the number of items."""
        check_fit(interactions, catalogue)
        counted = Rows.of(interactions)
        history = Rows(counted.shape, counted.rows, counted.columns, np.log1p(counted.values))
        similarity = self.similarities(history)
        nearest = np.argsort(-similarity, axis=1, kind="stable")[:, self.neighbours :]
        np.put_along_axis(similarity, nearest, 0.0, axis=1)
        return FittedNeighbours(interactions.n_users, interactions.n_items, similarity, history, interactions.reach)

    def similarities(self, history: Rows) -> Values:
        """Return shrunk cosines, shape (item, item); 0 on the diagonal and for items without users."""
        n_items = history.shape[1]
        products, shared = np.zeros((n_items, n_items)), np.zeros((n_items, n_items))
        for items, weights in history:
            both = np.ix_(items, items)
            products[both] += weights[:, None] * weights
            shared[both] += 1.0
        norms = np.sqrt(np.diag(products))
        scale = norms[:, None] * norms * (shared + self.shrinkage)
        cosines = np.divide(products * shared, scale, out=np.zeros_like(products), where=scale > 0)
        np.fill_diagonal(cosines, 0.0)
        return np.asarray(cosines)
