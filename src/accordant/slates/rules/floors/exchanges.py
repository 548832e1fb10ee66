"""Repairs of lists by exchanges: one item of the list for one that is not in it, the cheapest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.slates.candidates import Flags, Values
from accordant.slates.rules.welfare.normalised import NormalisedGains

Items = NDArray[np.intp]

FLOOR_TOLERANCE = 1e-9  # a normalised utility this little below its floor holds it: it is a sum of rounded numbers


@dataclass(frozen=True, eq=False)
class Shelf:
    """Lists of some users that are being repaired, in place.

    Attributes
    ----------
    items
        Lists, shape (user, k).
    free
        What may be shown and is not in the list, shape (item, user).
    gains
        What items add to the normalised utilities of those who have a floor.
    least
        Floors, −inf for whom all lists are alike, shape (stakeholder with a floor, user).
    worth
        Weighted expected reward of each item, which exchanges should cost little of, shape (item, user).
    """

    items: Items
    free: Flags
    gains: NormalisedGains
    least: Values
    worth: Values

    def shortfall(self) -> Values:
        """Return by how much lists miss each floor, shape (stakeholder with a floor, user); 0 within the tolerance."""
        missing = self.least - self.gains.total(self.items)
        return np.where(missing > FLOOR_TOLERANCE, missing, 0.0)

    def unmet(self) -> Flags:
        """Return whose list misses a floor, shape (user,)."""
        return np.asarray(self.shortfall().any(axis=0))

    def replace(self, user: int, chosen: Items) -> None:
        """Give a user a list of the same length."""
        shown = self.items[user] >= 0
        self.free[self.items[user, shown], user] = True
        self.items[user, shown] = chosen
        self.free[chosen, user] = False

    def in_place_of(self, before: Items) -> Items:
        """Return the lists, shape (user, k): items of the lists before keep their places, the best new ones come first.

        Parameters
        ----------
        before
            Lists of the same lengths, shape (user, k).
        """
        arranged = before.copy()
        for user in np.flatnonzero((before != self.items).any(axis=1)).tolist():
            new = self.items[user][~np.isin(self.items[user], before[user])]
            leaving = ~np.isin(before[user], self.items[user])
            arranged[user, leaving] = new[np.argsort(-self.worth[new, user], kind="stable")]
        return arranged


def repair(shelf: Shelf) -> None:
    """Exchange items until floors hold or no exchange makes the sum of shortfalls smaller."""
    while True:
        below = shelf.unmet()
        if not below.any():
            return
        places = np.full(len(below), -1, dtype=np.intp)
        entering = np.zeros(len(below), dtype=np.intp)
        reached = shelf.gains.total(shelf.items)
        cheapest_exchange(
            below, shelf.items, shelf.free, shelf.gains.values, reached, shelf.least, shelf.worth, places, entering
        )
        who = np.flatnonzero(places >= 0)
        if not len(who):
            return
        leaving = shelf.items[who, places[who]]
        shelf.free[leaving, who], shelf.free[entering[who], who] = True, False
        shelf.items[who, places[who]] = entering[who]


@compiled
def cheapest_exchange(
    below: Flags,
    items: Items,
    free: Flags,
    gains: Values,
    reached: Values,
    least: Values,
    worth: Values,
    places: Items,
    entering: Items,
) -> None:
    """Write which place gets which item for users below a floor; places stay as they are where nothing helps.

    The exchange costs least worth per unit by which the sum of shortfalls falls; equal ones go to the larger fall, then
    to the earlier place and the item that is declared first. A gain of worth counts as a cost of 0.
    """
    n_floored, n_items, n_users = gains.shape
    for u in range(n_users):
        if not below[u]:
            continue
        before = 0.0
        for i in range(n_floored):
            before += max(0.0, least[i, u] - reached[i, u])
        cheapest, largest = np.inf, 0.0
        for place in range(items.shape[1]):
            old = items[u, place]
            if old < 0:
                continue
            for new in range(n_items):
                if not free[new, u]:
                    continue
                after = 0.0
                for i in range(n_floored):
                    after += max(0.0, least[i, u] - (reached[i, u] - gains[i, old, u] + gains[i, new, u]))
                fall = before - after
                if fall <= FLOOR_TOLERANCE:  # less is no repair, and might go on for ever
                    continue
                price = max(0.0, worth[old, u] - worth[new, u]) / fall
                if price < cheapest or (price == cheapest and fall > largest):
                    cheapest, largest = price, fall
                    places[u], entering[u] = place, new
