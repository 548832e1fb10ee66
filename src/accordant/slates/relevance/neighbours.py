"""Neighbours: items that the same users consumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance.counts import Rows
from accordant.slates.relevance.interactions import NOWHERE, Interactions
from accordant.slates.relevance.recommender import Fitted, Recommender, check_fit, register


@dataclass(frozen=True, eq=False)
class FittedNeighbours(Fitted):
    """Similarity of items, shape (item, item), what each user consumed, and the share of users per item.

    Attributes
    ----------
    similarity
        At least 0; 0 on the diagonal.
    history
        log(1 + count), one row per user.
    reach
        Shape (item,); what is left to say where no neighbour says anything.
    """

    similarity: Values
    history: Rows
    reach: Values

    def rate(self, users: NDArray[np.intp], starts: NDArray[np.intp]) -> Values:
        """Return sums of similarities to what the user consumed and to the start."""
        found = np.empty((self.n_items, len(users)))
        for request, (user, start) in enumerate(zip(users, starts, strict=True)):
            items, weights = self.history.row(int(user))
            found[:, request] = self.similarity[:, items] @ weights
            if start != NOWHERE:
                found[:, request] += self.similarity[:, start]
        silent = ~(found > 0).any(axis=0)
        found[:, silent] = self.reach[:, None]
        return found


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
        found = np.divide(products * shared, scale, out=np.zeros_like(products), where=scale > 0)
        np.fill_diagonal(found, 0.0)
        return np.asarray(found)
