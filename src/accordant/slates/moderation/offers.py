"""The best items of every user by some score, with ties as data: what a rule agent offers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.slates.slates import NOTHING
from accordant.strategies.selection import TIE_TOLERANCE, select_best


@dataclass(frozen=True, eq=False)
class BestItems:
    """Lists of at most k items.

    Attributes
    ----------
    items
        Positions of items, best first, `NOTHING` where none is left, shape (user, k).
    tied
        Whether a place was decided by a tie-break, shape (user,).
    """

    items: NDArray[np.intp]
    tied: Mask


def best_items(scores: Values, totals: Values, available: Mask, k: int, tolerance: float = TIE_TOLERANCE) -> BestItems:
    """Return the k available items with the highest scores.

    Ties go to the higher total, then to the item that is declared first.

    Parameters
    ----------
    scores, totals
        Finite, shape (item, user).
    available
        Shape (item, user).
    k
        At least 1.
    tolerance
        Scores this close, relative to max(1, |best|), tie.
    """
    if scores.shape[1] == 1:
        return _of_one_user(scores[:, 0], totals[:, 0], np.flatnonzero(available[:, 0]), k, tolerance)
    left = np.where(available, scores, -np.inf)
    found = BestItems(np.full((left.shape[1], k), NOTHING, dtype=np.intp), np.zeros(left.shape[1], dtype=bool))
    for place in range(min(k, len(left))):
        take_best(left, totals, found, place, tolerance)
    return found


def take_best(left: Values, totals: Values, found: BestItems, place: int, tolerance: float) -> NDArray[np.intp]:
    """Write the best item that is left for each user, take it out of `left`, and return it, shape (user,).

    Parameters
    ----------
    left
        Scores, −∞ for items that may not be shown or already are, shape (item, user); changed.
    totals
        What breaks ties, shape (item, user).
    found
        Where the item is written, and whether it was tied.
    place
        Counted from 0.
    tolerance
        As in `best_items`.
    """
    users = np.arange(left.shape[1])
    chosen = select_best(left, totals, tolerance)
    codes = chosen.codes.astype(np.intp)
    any_left = left[codes, users] > -np.inf
    codes = np.where(any_left, codes, NOTHING)
    found.items[:, place] = codes
    found.tied[:] |= chosen.tied & any_left
    left[codes[any_left], users[any_left]] = -np.inf
    return codes


def _of_one_user(scores: Values, totals: Values, allowed: NDArray[np.intp], k: int, tolerance: float) -> BestItems:
    """Return the same for one user, from the few items that can be among the best: one pass instead of k."""
    items, tied = np.full((1, k), NOTHING, dtype=np.intp), False
    own = scores[allowed]
    if len(own) > k:
        last = np.partition(own, len(own) - k)[len(own) - k]
        allowed = allowed[own >= last - tolerance * max(1.0, abs(last))]
        own = scores[allowed]
    sums = totals[allowed]
    for place in range(min(k, len(allowed))):
        best = own.max()
        level = np.flatnonzero(own >= best - tolerance * max(1.0, abs(best)))
        if len(level) > 1:
            tied = True
            most = sums[level].max()
            level = level[sums[level] >= most - tolerance * max(1.0, abs(most))]
        items[0, place] = allowed[level[0]]
        own[level[0]] = -np.inf
    return BestItems(items, np.array([tied]))
