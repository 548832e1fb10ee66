"""`State`: what has happened before a batch of users is served."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.slates.slates import Slates

WINDOW = (
    500  # slates that are remembered: enough for stable shares, few enough that old injustice is not eternal [ours]
)


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
