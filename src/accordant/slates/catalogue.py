"""`Catalogue`: the items and what is known of them. `Requests`: users at the moment when each wants a list."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError

Names = tuple[str | None, ...]


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Items, and what is known of them; every column is of shape (item,).

    Attributes
    ----------
    items
        Names, all different.
    category, provider
        Names; None where unknown.
    popularity
        How often each was consumed in the data that may be learned from, at least 0 and finite.
    capacity
        Visits per day at most; inf where there is no limit, 0 for a closed item, which is never shown.
    latitude, longitude
        Degrees; NaN where unknown.
    price
        In one currency; NaN where unknown.
    safety
        In [0, 1], 1 is safe; NaN where unknown.
    """

    items: tuple[str, ...]
    category: Names
    provider: Names
    popularity: Values
    capacity: Values
    latitude: Values
    longitude: Values
    price: Values
    safety: Values

    def __post_init__(self) -> None:
        for field in fields(self):
            length = len(getattr(self, field.name))
            if length != len(self.items):
                raise InputError(f"{field.name} has {length} entries; allowed: {len(self.items)}, one per item")
        if len(set(self.items)) < len(self.items):
            raise InputError("names of items repeat; allowed: different names")
        for name in ("popularity", "capacity"):
            column = getattr(self, name)
            if np.isnan(column).any() or (column < 0).any():
                raise InputError(f"{name} of an item is negative or missing; allowed: numbers of at least 0")
        if np.isinf(self.popularity).any():
            raise InputError("popularity of an item is infinite; allowed: finite numbers of at least 0")

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def open(self) -> NDArray[np.bool_]:
        """Whether an item has any capacity, shape (item,)."""
        return np.asarray(self.capacity > 0)

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Names of categories, sorted."""
        return tuple(sorted({category for category in self.category if category is not None}))

    @cached_property
    def category_codes(self) -> NDArray[np.intp]:
        """Position of each item's category in `categories`, −1 where unknown, shape (item,)."""
        return _codes(self.category, self.categories)

    def by_category(self, amounts: NDArray[Any]) -> Values:
        """Return sums over the items of each category, shape (category, …), from amounts of shape (item, …)."""
        members = np.equal.outer(np.arange(len(self.categories)), self.category_codes)
        return np.asarray(members.astype(np.float64) @ amounts)

    @cached_property
    def providers(self) -> tuple[str, ...]:
        """Names of providers, sorted."""
        return tuple(sorted({provider for provider in self.provider if provider is not None}))

    @cached_property
    def provider_codes(self) -> NDArray[np.intp]:
        """Position of each item's provider in `providers`, −1 where unknown, shape (item,)."""
        return _codes(self.provider, self.providers)


@dataclass(frozen=True, eq=False)
class Requests:
    """Users, each at the moment when a list is wanted; a user may come several times.

    Attributes
    ----------
    ids
        Of requests, all different.
    users
        Who asks; requests of one user are resampled together.
    day
        Counted from 0, the same for all of them.
    latitude, longitude
        Where each is, degrees, shape (user,); NaN where unknown.
    relevance
        Predicted for each item and request, in [0, 1], shape (item, user).
    history
        How often the user consumed each item before, shape (item, user).
    available
        Whether an item may be shown, shape (item, user); closed items are left out later.
    targets
        What was really consumed afterwards, shape (item, user); None where nobody knows.
    """

    ids: tuple[str, ...]
    users: tuple[str, ...]
    day: int
    latitude: Values
    longitude: Values
    relevance: Values
    history: Values
    available: NDArray[np.bool_]
    targets: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        n_users = len(self.ids)
        for name in ("users", "latitude", "longitude"):
            if len(getattr(self, name)) != n_users:
                raise InputError(f"{name} has {len(getattr(self, name))} entries; allowed: {n_users}, one per request")
        shape = self.relevance.shape
        for name in ("relevance", "history", "available", "targets"):
            given = getattr(self, name)
            if given is not None and given.shape != (shape[0], n_users):
                raise InputError(f"{name} has shape {given.shape}; allowed: (item, user), {(shape[0], n_users)}")

    @property
    def n_users(self) -> int:
        """Number of requests."""
        return len(self.ids)

    @property
    def cold(self) -> NDArray[np.bool_]:
        """Whether nothing is known of the user's past, shape (user,)."""
        return np.asarray(self.history.sum(axis=0) == 0)

    def take(self, users: slice | NDArray[np.intp]) -> Requests:
        """Return some of the requests."""
        chosen = np.arange(self.n_users)[users]
        return Requests(
            tuple(self.ids[u] for u in chosen), tuple(self.users[u] for u in chosen), self.day,
            self.latitude[chosen], self.longitude[chosen], self.relevance[:, chosen], self.history[:, chosen],
            self.available[:, chosen], None if self.targets is None else self.targets[:, chosen],
        )  # fmt: skip


def _codes(names: Names, known: tuple[str, ...]) -> NDArray[np.intp]:
    position = {name: code for code, name in enumerate(known)}
    return np.array([-1 if name is None else position[name] for name in names], dtype=np.intp)
