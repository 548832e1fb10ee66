"""`Recommender`: from interactions to scores of items for requests, and the registry that knows each by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.registry import Registry
from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance.interactions import Interactions, check_positions

recommenders: Registry[Recommender] = Registry(
    "recommender", group="accordant.recommenders", packages=("accordant.slates.relevance",)
)


@dataclass(frozen=True, eq=False)
class Fitted(ABC):
    """What a recommender learned.

    Attributes
    ----------
    n_users, n_items
        Of the interactions that it learned from.
    """

    n_users: int
    n_items: int

    @abstractmethod
    def rate(self, users: Codes, starts: Codes) -> Values:
        """Return scores of at least 0, shape (item, request), for positions that were checked."""

    def scores(self, users: ArrayLike, starts: ArrayLike) -> Values:
        """Return how well items suit requests, at least 0, shape (item, request); only their order means anything.

        Parameters
        ----------
        users
            Position of each request's user, `NOBODY` for one of whom nothing is known, shape (request,).
        starts
            Item that each request starts from, `NOWHERE` for none, shape (request,). It is scored like any other.

        Raises
        ------
        InputError
            If a position is not declared, or there are not as many starts as users.
        """
        who, where = np.atleast_1d(np.asarray(users)), np.atleast_1d(np.asarray(starts))
        if who.shape != where.shape or who.ndim != 1:
            raise InputError(f"users have shape {who.shape}, starts {where.shape}; allowed: one of each per request")
        if not who.size:
            return np.zeros((self.n_items, 0))
        check_positions("users", who, -1, self.n_users)
        check_positions("starts", where, -1, self.n_items)
        return self.rate(who.astype(np.intp), where.astype(np.intp))

    def relevance(self, users: ArrayLike, starts: ArrayLike) -> Values:
        """Return scores in [0, 1], shape (item, request): see `relative`."""
        return relative(self.scores(users, starts))


@dataclass(frozen=True)
class Recommender(ABC):
    """A way to learn relevance, a frozen dataclass of its parameters.

    Class attributes
    ----------------
    name
        Registered name.
    about
        One phrase that says what it learns.
    """

    name: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def fit(self, interactions: Interactions, catalogue: Catalogue) -> Fitted:
        """Return what is learned; the catalogue has the items of the interactions, in the same order."""


register = recommenders.named


def relative(scores: Values) -> Values:
    """Return scores over the best of each request, in [0, 1], shape (item, request) [ours].

    The best item of a request has 1, an item with score 0 keeps 0, and ratios stay. A softmax would need a temperature,
    which would decide how much a compromise costs the user. Where no item scores above 0, all have 0.
    """
    best = scores.max(axis=0, initial=0.0)
    return np.asarray(np.divide(scores, best, out=np.zeros_like(scores), where=best > 0))


def check_fit(interactions: Interactions, catalogue: Catalogue) -> None:
    """Stop unless interactions and catalogue have as many items.

    Raises
    ------
    InputError
        If they have not.
    """
    if interactions.n_items != catalogue.n_items:
        raise InputError(f"interactions are about {interactions.n_items} items; allowed: {catalogue.n_items}")
