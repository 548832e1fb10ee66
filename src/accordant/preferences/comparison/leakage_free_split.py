"""Test records of users whose records share items: none of them may follow from the records that are learned from.

From a user's choices of a over b and of b over c follows that of a over c, and whatever the user makes of a beyond its
features stands in every record of a. Where all pairs of rated items are records, a learner that knows a user by name
would foretell noise. So the items of a user are on one side alone. [ours] Records that are linked through items stay
together where that leaves others; where most of a user's pairs are linked, the *items* are drawn, and a record of an
item of each side is used for nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Codes, Mask

MOST_LINKED = 0.5  # of a user's pairs that stay together; if more are linked, their items are drawn
TRIES = 20  # draws of items of which none gives both sides a pair: then the records stay together after all


@dataclass(frozen=True, eq=False)
class Dealt:
    """What items decide.

    Attributes
    ----------
    linked
        Records of users of whom two different pairs share an item, shape (record,).
    judged
        Which of those records are for the test, shape (record,).
    between
        Which of those records have an item on each side, shape (record,).
    """

    linked: Mask
    judged: Mask
    between: Mask


def deal_items(users: Codes, pairs: Codes, items: Codes, test: float, generator: np.random.Generator) -> Dealt:
    """Draw the test records of users whose records share items, so that no item of a user is on both sides.

    Parameters
    ----------
    users, pairs
        Position of the user, and number of the pair of items, shape (record,).
    items
        Number of either item, shape (2, record).
    test
        Share of the records that are used which is for the test, in (0, 1).
    generator
        Draws users in order of their position; nothing is drawn for users whose records share no item.
    """
    linked, judged, between = (np.zeros(len(users), dtype=bool) for _ in range(3))
    for user in np.unique(users):
        rows = np.flatnonzero(users == user)
        first = rows[np.unique(pairs[rows], return_index=True)[1]]
        if len(np.unique(items[:, first])) == 2 * len(first):
            continue
        linked[rows] = True
        named, own = np.unique(items[:, rows], return_inverse=True)
        of_pair = np.isin(rows, first)
        tested, apart = _of_one_user(own.reshape(2, -1), len(named), of_pair, test, generator)
        judged[rows], between[rows] = tested, apart
    return Dealt(linked, judged, between)


def _of_one_user(
    items: Codes, n_items: int, of_pair: Mask, test: float, generator: np.random.Generator
) -> tuple[Mask, Mask]:
    """Return which records of a user are for the test, and which are between; one record of each pair is marked."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(items.shape[1]), (items[0], items[1])), shape=(n_items, n_items))
    n_links, link_of_item = connected_components(edges, directed=False)
    links = link_of_item[items[0]]
    sizes = np.bincount(links[of_pair], minlength=n_links)
    largest = int(sizes.argmax())
    if sizes[largest] > MOST_LINKED * sizes.sum():
        of_largest = np.flatnonzero(link_of_item == largest)
        few = np.where(np.arange(n_links) == largest, 0, sizes)
        for _ in range(TRIES):
            sides = np.isin(link_of_item, _links(few, test, generator))
            drawn = generator.permutation(of_largest)[: _number_of_items(len(of_largest), test)]
            sides[drawn] = True
            found = sides[items]
            judged, known = found[0] & found[1], ~(found[0] | found[1])
            if judged.any() and known.any():
                return judged, ~judged & ~known
    chosen = _links(sizes, test, generator, least=1)
    return np.isin(links, chosen), np.zeros(items.shape[1], dtype=bool)


def _number_of_items(n: int, test: float) -> int:
    """Return how many of n items go to the test, so that pairs in test are that share of all pairs within a side.

    If a share p of the items does, p² and (1 − p)² of the pairs lie within the sides: p = √t / (√t + √(1 − t)).
    """
    within, rest = math.sqrt(test), math.sqrt(1.0 - test)
    return min(max(2, round(within / (within + rest) * n)), max(n - 2, 1))


def _links(sizes: Codes, test: float, generator: np.random.Generator, least: int = 0) -> Codes:
    """Return links, in a random order, that have no more than the share of the pairs; at least and never all of them.

    Links without a pair are left out. If fewer than `least` fit, it is the smallest.
    """
    order = generator.permutation(np.flatnonzero(sizes))
    if len(order) < 2:
        return np.empty(0, dtype=np.intp)
    wanted, taken = round(test * int(sizes.sum())), 0
    found: list[int] = []
    for link in order:
        if taken + sizes[link] <= wanted and len(found) < len(order) - 1:
            found.append(int(link))
            taken += int(sizes[link])
    if len(found) < least:
        found = [int(order[sizes[order].argmin()])]
    return np.array(found, dtype=np.intp)
