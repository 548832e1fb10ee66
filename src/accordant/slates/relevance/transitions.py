"""Transitions: which items follow the one that a request starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance.interactions import NOWHERE, Interactions
from accordant.slates.relevance.recommender import Fitted, Recommender, check_fit, register


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
