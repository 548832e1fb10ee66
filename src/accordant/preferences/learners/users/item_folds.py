"""Folds of each user's records that share no item: what a user made of an item is known on one side alone.

Records of one user that share items are not independent. From ratings they follow from each other, x_ab + x_bc = x_ac,
and any two of them share what the user makes of their common item beyond its features; so records of other items are
what a held-out record must be predicted from. [ours] Records that are linked by items stay in one fold where that
leaves the other folds enough; where they are most of the user's, the *items* are dealt, and a record between two folds
is held out with neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes
from accordant.errors import InputError
from accordant.preferences.records import Comparisons

MOST_LINKED = 0.5  # of a user's records in one fold; if more are linked, their items are dealt


@dataclass(frozen=True, eq=False)
class ItemFolds:
    """Folds of the two items of each record, for the record's user.

    A fold below is one for all records, or one for each.

    Attributes
    ----------
    sides
        Fold of either item, shape (2, record).
    """

    sides: Codes

    def held_out(self, fold: int | Codes) -> NDArray[np.bool_]:
        """Return which records have both items in a fold, shape (record,)."""
        return np.asarray((self.sides == fold).all(axis=0))

    def known(self, fold: int | Codes) -> NDArray[np.bool_]:
        """Return which records have no item in a fold, shape (record,)."""
        return np.asarray((self.sides != fold).all(axis=0))

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which records are held out once, the others never, shape (record,)."""
        return np.asarray(self.sides[0] == self.sides[1])


def item_folds(comparisons: Comparisons, folds: int, generator: np.random.Generator) -> ItemFolds:
    """Deal each user's records into folds so that those of different folds share no item.

    Linked records, which are connected through items of the same user, are dealt in turn as one, in the order in which
    they come; user u begins at fold u mod `folds`. If they are most of the user's records and of more than one pair of
    items, their items are dealt at random instead, at least two to a fold while there are as many.

    Parameters
    ----------
    comparisons
        The records.
    folds
        At least 2.
    generator
        Deals items of records that cannot stay together; the same state gives the same folds.

    Raises
    ------
    InputError
        If `folds` is not a whole number of at least 2.
    """
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise InputError(f"folds is {folds}; allowed: a whole number from 2")
    items, link = _linked(comparisons)
    _, first, counts = np.unique(link, return_index=True, return_counts=True)
    owners = comparisons.users[first]
    together = (_place_in_turn(owners, first) + owners) % folds
    link_of_item = np.empty(int(items.max(initial=-1)) + 1, dtype=np.intp)
    link_of_item[items] = link
    sizes = np.bincount(link_of_item, minlength=len(owners))
    dealt = (counts > MOST_LINKED * comparisons.counts[owners]) & (sizes > 2)
    turn = _place_in_turn(link_of_item, generator.permutation(len(link_of_item)))
    enough = np.clip(sizes // 2, 2, folds)
    apart = (turn % enough[link_of_item] + owners[link_of_item]) % folds
    return ItemFolds(np.where(dealt[link], apart[items], together[link]))


def _linked(comparisons: Comparisons) -> tuple[Codes, Codes]:
    """Return a number for each user's item, shape (2, record), and for each set of linked records, shape (record,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sides = np.stack([comparisons.chosen, comparisons.rejected])
    named, items = np.unique(comparisons.users * len(comparisons.features) + sides, return_inverse=True)
    items = np.asarray(items.reshape(sides.shape), dtype=np.intp)
    edges = coo_array((np.ones(len(comparisons)), (items[0], items[1])), shape=(len(named), len(named)))
    _, found = connected_components(edges, directed=False)
    return items, np.asarray(found[items[0]], dtype=np.intp)


def _place_in_turn(owners: Codes, order: Codes) -> Codes:
    """Return how many come before each with the same owner in some order of distinct numbers, shape (any,)."""
    turn = np.lexsort((order, owners))
    _, starts, counts = np.unique(owners[turn], return_index=True, return_counts=True)
    found = np.empty(len(owners), dtype=np.intp)
    found[turn] = np.arange(len(owners)) - np.repeat(starts, counts)
    return found
