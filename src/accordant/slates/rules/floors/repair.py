"""Lists after the repair of floors: by exchanges, then by an exact search where exchanges end below a floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.slates.candidates import Candidates
from accordant.slates.rules.floors.exchanges import FLOOR_TOLERANCE, Shelf, repair
from accordant.slates.rules.floors.proofs import best_list, beyond_reach
from accordant.slates.rules.welfare.normalised import gains_for_lengths
from accordant.slates.slates import NOTHING
from accordant.strategies.reductions import weighted_sum


@dataclass(frozen=True, eq=False)
class Mended:
    """Lists of some users after the repair.

    Attributes
    ----------
    items
        Shape (user, k).
    tied, changed
        Whether the repair broke a tie, and whether it changed the list, shape (user,).
    unmet, impossible
        Whether a floor is missed, and whether it is proved that no list holds all of them, shape (user,).
    shortfall
        By how much each floor is missed, shape (stakeholder, user); 0 for stakeholders without one.
    """

    items: Codes
    tied: Mask
    changed: Mask
    unmet: Mask
    impossible: Mask
    shortfall: Values


def shelf_of(items: Codes, lengths: Codes, levels: Values, candidates: Candidates) -> Shelf:
    """Return lists as they are before the repair.

    Parameters
    ----------
    items
        Shape (user, k); a copy of it will be changed.
    lengths
        How many items each list has, shape (user,).
    levels
        The floor of each stakeholder, NaN for who has none, shape (stakeholder,).
    candidates
        E, what may be shown, and weights.
    """
    who = ~np.isnan(levels)
    gains = gains_for_lengths(candidates, who, lengths)
    least = np.where(gains.sided, levels[who][:, None], -np.inf)
    free, worth = candidates.available.copy(), np.empty(candidates.available.shape)
    users, places = np.nonzero(items != NOTHING)
    free[items[users, places], users] = False
    weighted_sum(candidates.values, candidates.weights / candidates.weights.sum(), worth)
    return Shelf(items.copy(), free, gains, least, worth, candidates.totals)


def mended(shelf: Shelf, levels: Values) -> Mended:
    """Return lists that hold the floors where that is possible; order and places of kept items do not change.

    Parameters
    ----------
    shelf
        Lists; changed.
    levels
        As in `shelf_of`.
    """
    before = shelf.items.copy()
    tied = repair(shelf)
    open_ = shelf.unmet()
    impossible = np.zeros(len(before), dtype=bool)
    if open_.any():
        impossible[open_] = beyond_reach(shelf, np.flatnonzero(open_))
    for user in np.flatnonzero(open_ & ~impossible).tolist():
        found = best_list(shelf, user)
        impossible[user] = found.impossible
        if found.items is not None:
            shelf.replace(user, found.items)
            tied[user] = found.tied  # whatever exchanges came before, this list is the best one
    shortfall = np.zeros((len(levels), len(before)))
    shortfall[~np.isnan(levels)] = shelf.shortfall()
    items, by_order = shelf.in_place_of(before)
    return Mended(items, tied | by_order, (items != before).any(axis=1), shelf.unmet(), impossible, shortfall)


class Bench:
    """Repairs of the lists of a block of users, one after the other, each before it is shown.

    Parameters
    ----------
    candidates
        Of the block.
    k
        Places. Lists are as long as what may be shown allows.
    levels
        As in `shelf_of`.

    Attributes
    ----------
    done
        What became of the lists so far.
    """

    def __init__(self, candidates: Candidates, k: int, levels: Values) -> None:
        n_users = candidates.n_users
        lengths = np.minimum(k, candidates.available.sum(axis=0))
        empty = np.full((n_users, k), NOTHING, dtype=np.intp)
        self._levels, self._shelf = levels, shelf_of(empty, lengths, levels, candidates)
        tied, changed, unmet, impossible = (np.zeros(n_users, dtype=bool) for _ in range(4))
        self.done = Mended(empty, tied, changed, unmet, impossible, np.zeros((len(levels), n_users)))

    def mend(self, u: int, items: Codes) -> Codes:
        """Return the list that is shown to a user of the block, shape (k,), in place of the one that is given."""
        shelf, done = self._shelf, self.done
        shown = items[items != NOTHING]
        done.items[u] = items
        reached = shelf.gains.values[:, shown, u].sum(axis=1)
        if (reached >= shelf.least[:, u] - FLOOR_TOLERANCE / 2).all():
            return items
        shelf.items[u] = items
        alone = shelf.alone(u)
        alone.free[shown, 0] = False
        found = mended(alone, self._levels)
        done.items[u], done.tied[u], done.shortfall[:, u] = found.items[0], found.tied[0], found.shortfall[:, 0]
        done.changed[u], done.unmet[u], done.impossible[u] = found.changed[0], found.unmet[0], found.impossible[0]
        return np.asarray(found.items[0])


def together(parts: list[Mended]) -> Mended:
    """Return the lists of several blocks of users as one."""
    return Mended(
        np.concatenate([part.items for part in parts]),
        np.concatenate([part.tied for part in parts]),
        np.concatenate([part.changed for part in parts]),
        np.concatenate([part.unmet for part in parts]),
        np.concatenate([part.impossible for part in parts]),
        np.concatenate([part.shortfall for part in parts], axis=1),
    )
