"""Repairs of lists by exchanges: one item of the list for one that is not in it, the cheapest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.compiled import compiled
from accordant.slates.moderation.offers import best_items
from accordant.slates.rules.welfare.normalised import NormalisedGains

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
    totals
        Sums of expected rewards over those who have a say, which break ties, shape (item, user).
    """

    items: Codes
    free: Mask
    gains: NormalisedGains
    least: Values
    worth: Values
    totals: Values

    def alone(self, user: int) -> Shelf:
        """Return the shelf of one user, with a copy of the list."""
        one = slice(user, user + 1)
        gains = self.gains
        return Shelf(
            self.items[one].copy(), self.free[:, one].copy(),
            NormalisedGains(gains.values[:, :, one].copy(), gains.sided[:, one], gains.weights, gains.lengths[one],
                            gains.tolerance),
            self.least[:, one].copy(), self.worth[:, one].copy(), self.totals[:, one].copy(),
        )  # fmt: skip

    def shortfall(self) -> Values:
        """Return by how much lists miss each floor, shape (stakeholder with a floor, user); 0 within the tolerance."""
        missing = self.least - self.gains.total(self.items)
        return np.where(missing > FLOOR_TOLERANCE, missing, 0.0)

    def unmet(self) -> Mask:
        """Return whose list misses a floor, shape (user,)."""
        return np.asarray(self.shortfall().any(axis=0))

    def replace(self, user: int, chosen: Codes) -> None:
        """Give a user a list of the same length."""
        shown = self.items[user] >= 0
        self.free[self.items[user, shown], user] = True
        self.items[user, shown] = chosen
        self.free[chosen, user] = False

    def in_place_of(self, before: Codes) -> tuple[Codes, Mask]:
        """Return the lists, shape (user, k): items of the lists before keep their places, the best new ones come first.

        Whether new items were level in worth, so that a tie-break put them in order, comes with them, shape (user,).

        Parameters
        ----------
        before
            Lists of the same lengths, shape (user, k).
        """
        arranged, tied = before.copy(), np.zeros(len(before), dtype=bool)
        for user in np.flatnonzero((before != self.items).any(axis=1)).tolist():
            new = np.sort(self.items[user][~np.isin(self.items[user], before[user])])
            leaving = ~np.isin(before[user], self.items[user])
            column = slice(user, user + 1)
            ranked = best_items(
                self.worth[new, column], self.totals[new, column], np.ones((len(new), 1), dtype=bool), len(new),
                self.gains.tolerance,
            )  # fmt: skip
            arranged[user, leaving], tied[user] = new[ranked.items[0]], ranked.tied[0]
        return arranged, tied


def repair(shelf: Shelf) -> Mask:
    """Exchange items until floors hold or no exchange makes the sum of shortfalls smaller.

    Returns
    -------
    Whether a tie between exchanges was broken, shape (user,).
    """
    tied = np.zeros(len(shelf.items), dtype=bool)
    while True:
        below = shelf.unmet()
        if not below.any():
            return tied
        places = np.full(len(below), -1, dtype=np.intp)
        entering = np.zeros(len(below), dtype=np.intp)
        reached = shelf.gains.total(shelf.items)
        cheapest_exchange(
            below, shelf.items, shelf.free, shelf.gains.values, reached, shelf.least, shelf.worth, shelf.totals,
            shelf.gains.tolerance, places, entering, tied,
        )  # fmt: skip
        who = np.flatnonzero(places >= 0)
        if not len(who):
            return tied
        leaving = shelf.items[who, places[who]]
        shelf.free[leaving, who], shelf.free[entering[who], who] = True, False
        shelf.items[who, places[who]] = entering[who]


@compiled
def cheapest_exchange(
    below: Mask, items: Codes, free: Mask, gains: Values, reached: Values, least: Values, worth: Values,
    totals: Values, tolerance: float, places: Codes, entering: Codes, tied: Mask,
) -> None:  # fmt: skip
    """Write which place gets which item for users below a floor; places stay as they are where nothing helps.

    The exchange costs least worth per unit by which the sum of shortfalls falls, and of those within the tolerance,
    relative to max(1, price), it has the largest fall. Of those within the tolerance of that it adds most to the sum
    of expected rewards; then come the earlier place and the item that is declared first, and `tied` says so. A gain of
    worth counts as a cost of 0.
    """
    n_floored, n_items, n_users = gains.shape
    k = items.shape[1]
    prices, falls = np.empty((k, n_items)), np.empty((k, n_items))
    for u in range(n_users):
        if not below[u]:
            continue
        before = 0.0
        for i in range(n_floored):
            before += max(0.0, least[i, u] - reached[i, u])
        cheapest = np.inf
        for place in range(k):
            old = items[u, place]
            for new in range(n_items):
                prices[place, new] = np.inf
                if old < 0 or not free[new, u]:
                    continue
                after = 0.0
                for i in range(n_floored):
                    after += max(0.0, least[i, u] - (reached[i, u] - gains[i, old, u] + gains[i, new, u]))
                fall = before - after
                if fall <= FLOOR_TOLERANCE:  # less is no repair, and might go on for ever
                    continue
                falls[place, new] = fall
                prices[place, new] = max(0.0, worth[old, u] - worth[new, u]) / fall
                cheapest = min(cheapest, prices[place, new])
        if cheapest == np.inf:
            continue
        limit, largest = cheapest + tolerance * max(1.0, cheapest), 0.0
        for place in range(k):
            for new in range(n_items):
                if prices[place, new] <= limit:
                    largest = max(largest, falls[place, new])
        enough, most, n_level = largest - tolerance * max(1.0, largest), -np.inf, 0
        for place in range(k):
            for new in range(n_items):
                if prices[place, new] <= limit and falls[place, new] >= enough:
                    n_level += 1
                    most = max(most, totals[new, u] - totals[items[u, place], u])
        tied[u] |= n_level > 1
        most -= tolerance * max(1.0, abs(most))
        for place in range(k - 1, -1, -1):
            for new in range(n_items - 1, -1, -1):
                if (
                    prices[place, new] <= limit
                    and falls[place, new] >= enough
                    and totals[new, u] - totals[items[u, place], u] >= most
                ):
                    places[u], entering[u] = place, new
