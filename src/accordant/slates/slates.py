"""Slates: k items for every user, and the state that earlier lists leave behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.faces import Displayed

NOTHING = -1  # the place of a slate that no item was left for
# slates that are remembered: enough for stable shares, few enough that old injustice is not eternal [ours]
WINDOW = 500


@dataclass(frozen=True, eq=False)
class Slates(Displayed):
    """One list of at most k items for each user.

    Attributes
    ----------
    rule
        Name of the rule with its parameters, as every table shows it.
    items
        Positions in `item_names`, the first place first, shape (user, k); `NOTHING` fills up a list for which there
        were fewer items.
    tied
        Whether a tie was broken somewhere in the list, by repairs and exchanges too, shape (user,).
    flags
        What else a reader must know about a list, name to booleans of shape (user,): ``floor_unmet`` (no list satisfies
        all floors, or none was found), ``floor_impossible`` (it is proved that none does), ``changed`` (floors changed
        the list).
    quantities
        Intermediate quantities by name, the last axis is the user.
    """

    rule: str
    item_names: tuple[str, ...]
    items: NDArray[np.intp]
    tied: NDArray[np.bool_]
    flags: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    quantities: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = self.items.shape
        if len(shape) != 2 or self.tied.shape != shape[:1]:
            raise InputError(f"slates of {self.rule} have shape {shape}; allowed: (user, k)")
        if self.items.size and not (self.items.min() >= NOTHING and self.items.max() < len(self.item_names)):
            raise InputError(f"{self.rule} shows an item that is not declared")

    @property
    def k(self) -> int:
        """Places in a list."""
        return int(self.items.shape[1])

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.items)

    @property
    def lengths(self) -> NDArray[np.intp]:
        """How many items each user is shown, shape (user,)."""
        return np.asarray((self.items != NOTHING).sum(axis=1))

    def names(self, user: int) -> tuple[str, ...]:
        """Return the names of the items that a user is shown, the first place first."""
        return tuple(self.item_names[item] for item in self.items[user] if item != NOTHING)

    def shown(self) -> NDArray[np.bool_]:
        """Return whether an item is in the list of a user, shape (item, user)."""
        shown = np.zeros((len(self.item_names), self.n_users), dtype=bool)
        users, places = np.nonzero(self.items != NOTHING)
        shown[self.items[users, places], users] = True
        return shown

    def exposure(self) -> Values:
        """Return the attention that each item gets from each user, shape (item, user): see `attention`."""
        exposure = np.zeros((len(self.item_names), self.n_users))
        users, places = np.nonzero(self.items != NOTHING)
        exposure[self.items[users, places], users] = attention(self.k)[places]
        return exposure

    def take(self, users: slice | NDArray[np.intp]) -> Slates:
        """Return the slates of some users."""
        return Slates(
            self.rule, self.item_names, self.items[users], self.tied[users],
            {name: flag[users] for name, flag in self.flags.items()},
            {name: quantity[..., users] for name, quantity in self.quantities.items()},
        )  # fmt: skip


def attention(k: int) -> Values:
    """Return 1 / log2(1 + rank) for ranks 1..k, shape (place,).

    The discount of the discounted cumulative gain (Järvelin and Kekäläinen 2002), as usual for exposure (Singh and
    Joachims 2018).
    """
    return np.asarray(1.0 / np.log2(np.arange(2, k + 2)))


def join_slates(parts: Sequence[Slates]) -> Slates:
    """Return the slates of several blocks of users of one rule as one.

    Flags and quantities that only some parts have are left out, for there is nothing to say about the others.
    """
    first = parts[0]
    flags = [name for name in first.flags if all(name in part.flags for part in parts)]
    quantities = [name for name in first.quantities if all(name in part.quantities for part in parts)]
    return Slates(
        first.rule, first.item_names,
        np.concatenate([part.items for part in parts]), np.concatenate([part.tied for part in parts]),
        {name: np.concatenate([part.flags[name] for part in parts]) for name in flags},
        {name: np.concatenate([part.quantities[name] for part in parts], axis=-1) for name in quantities},
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class State:
    """The load of today, and the last slates with what they gave to whom.

    Attributes
    ----------
    day
        Counted from 0.
    load
        Expected visits of each item so far today, shape (item,).
    exposure
        Attention that each item got since the beginning, shape (item,); see `accordant.slates.slates.attention`.
    slates
        The last slates, oldest first, shape (slate, k); `accordant.slates.slates.NOTHING` for empty places.
    attained
        Normalised utility of each stakeholder from each of these slates, shape (stakeholder, slate); NaN for
        stakeholders to whom all lists are alike.
    served
        How many slates were shown since the beginning.
    """

    day: int
    load: Values
    exposure: Values
    slates: NDArray[np.intp]
    attained: Values
    served: int = 0

    @classmethod
    def start(cls, n_items: int, n_stakeholders: int, k: int) -> State:
        """Return the state before the first user."""
        return cls(
            0, np.zeros(n_items), np.zeros(n_items), np.empty((0, k), dtype=np.intp), np.empty((n_stakeholders, 0))
        )

    def on(self, day: int) -> State:
        """Return the state at the beginning of a batch on a day: a new day has no load yet."""
        load = self.load if day == self.day else np.zeros_like(self.load)
        return replace(self, day=day, load=load)

    def after(self, slates: Slates, attained: Values, load: Values) -> State:
        """Return the state after a batch.

        Parameters
        ----------
        slates
            What was shown.
        attained
            Normalised utilities, shape (stakeholder, user).
        load
            Visits that the batch adds to each item, shape (item,).
        """
        return State(
            self.day,
            self.load + load,
            self.exposure + slates.exposure().sum(axis=1),
            np.concatenate([self.slates, slates.items])[-WINDOW:],
            np.concatenate([self.attained, attained], axis=1)[:, -WINDOW:],
            self.served + slates.n_users,
        )
