"""Recommenders: what they learn from, what they share, and how one is chosen by its name."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError, UnknownNameError
from accordant.registry import Registry
from accordant.slates.catalogue import Catalogue

Start = Literal["first", "previous"]

NOBODY = -1  # a user of whom nothing is known
NOWHERE = -1  # no item came before


@dataclass(frozen=True, eq=False)
class Interactions:
    """One row for each time that a user consumed an item.

    Attributes
    ----------
    n_users, n_items
        Numbers of users and items; some may have no row.
    users, items
        Positions, shape (row,).
    counts
        How often, or how strongly, above 0, shape (row,).
    times
        In any unit, shape (row,).
    starts
        The item that the user started from, `NOWHERE` for none, shape (row,).
    """

    n_users: int
    n_items: int
    users: Codes
    items: Codes
    counts: Values
    times: Values
    starts: Codes

    def __post_init__(self) -> None:
        n_rows = len(self.users)
        for name in ("items", "counts", "times", "starts"):
            if getattr(self, name).shape != (n_rows,):
                raise InputError(f"{name} has shape {getattr(self, name).shape}; allowed: {(n_rows,)}, one per row")
        for name, lowest, size in (
            ("users", 0, self.n_users),
            ("items", 0, self.n_items),
            ("starts", -1, self.n_items),
        ):
            check_positions(name, getattr(self, name), lowest, size)
        if not (np.isfinite(self.counts).all() and (self.counts > 0).all() and np.isfinite(self.times).all()):
            raise InputError("a count or a time is no finite number; allowed: counts above 0, finite times")

    @classmethod
    def of(
        cls,
        n_users: int,
        n_items: int,
        users: ArrayLike,
        items: ArrayLike,
        *,
        counts: ArrayLike | None = None,
        times: ArrayLike | None = None,
        starts: ArrayLike | None = None,
    ) -> Self:
        """Return interactions; counts are 1, times the order of rows and starts `NOWHERE` if they are not given."""
        rows = np.asarray(users, dtype=np.intp)
        return cls(
            n_users, n_items, rows, np.asarray(items, dtype=np.intp),
            np.ones(len(rows)) if counts is None else np.asarray(counts, dtype=np.float64),
            np.arange(len(rows), dtype=np.float64) if times is None else np.asarray(times, dtype=np.float64),
            np.full(len(rows), NOWHERE) if starts is None else np.asarray(starts, dtype=np.intp),
        )  # fmt: skip

    def within(self, sessions: ArrayLike, start: Start = "previous") -> Interactions:
        """Return the same rows, each starting from another item of its session.

        Parameters
        ----------
        sessions
            What belongs together, such as the tour of a visit, shape (row,).
        start
            ``first``: rows start from the first item of the session, in the order of times. ``previous``: from the item
            before. The first row of a session starts from `NOWHERE`.

        Raises
        ------
        UnknownNameError
            If `start` is neither.
        InputError
            If there are not as many sessions as rows.
        """
        if start not in get_args(Start):
            raise UnknownNameError("start", start, get_args(Start))
        named = np.asarray(sessions)
        if named.shape != self.users.shape:
            raise InputError(f"sessions have shape {named.shape}; allowed: {self.users.shape}, one per row")
        _, codes = np.unique(named, return_inverse=True)
        order = np.lexsort((np.arange(len(codes)), self.times, codes))
        opens = np.append(True, np.diff(codes[order]) != 0)[: len(codes)]
        rows = np.arange(len(codes))
        before = np.maximum.accumulate(np.where(opens, rows, 0)) if start == "first" else rows - 1
        starts = np.empty(len(codes), dtype=np.intp)
        starts[order] = np.where(opens, NOWHERE, self.items[order][before])
        return replace(self, starts=starts)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Interactions:
        """Return some of the rows, with the same users and items."""
        return Interactions(
            self.n_users, self.n_items, self.users[rows], self.items[rows], self.counts[rows], self.times[rows],
            self.starts[rows],
        )  # fmt: skip

    @property
    def popularity(self) -> Values:
        """Sum of counts of each item, shape (item,)."""
        return np.bincount(self.items, self.counts, self.n_items).astype(np.float64)

    @property
    def reach(self) -> Values:
        """Share of users with a row who consumed an item, in [0, 1], shape (item,); 0 without rows."""
        pairs = np.unique(np.stack([self.users, self.items]), axis=1)
        return np.bincount(pairs[1], minlength=self.n_items) / max(1, len(np.unique(self.users)))


def check_positions(name: str, positions: Codes, lowest: int, size: int) -> None:
    """Raise `InputError` unless positions are whole numbers from `lowest` to below `size`."""
    if not np.issubdtype(positions.dtype, np.integer):
        raise InputError(f"{name} are of type {positions.dtype}; allowed: whole numbers")
    if positions.size and not (positions.min() >= lowest and positions.max() < size):
        position = positions[(positions < lowest) | (positions >= size)][0]
        raise InputError(f"{name} name position {position}; allowed: {lowest} to {size - 1}")


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
    """Raise `InputError` unless interactions and catalogue have as many items."""
    if interactions.n_items != catalogue.n_items:
        raise InputError(f"interactions are about {interactions.n_items} items; allowed: {catalogue.n_items}")


def recommender_of(name: str, parameters: Mapping[str, Any], seed: int) -> Recommender:
    """Return a recommender; one that draws gets the seed, unless its parameters hold one.

    Raises
    ------
    UnknownNameError
        If there is no such recommender.
    """
    draws = "seed" in inspect.signature(recommenders.factory(name)).parameters
    return recommenders.create(name, ({"seed": seed} if draws else {}) | dict(parameters))
