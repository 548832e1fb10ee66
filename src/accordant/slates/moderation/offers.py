"""What agents offer: the best items of every user, what is banned, how scores are scaled.

Items of the moderator's last offer are banned if agents leave them out of their own; the modes follow the
official code of Collab-REC (ashmibanerjee/collab-rec, MIT).

The moderator normalises scores after each round, so that old rounds and the new one count alike. The official code
carries the normalised scores into the next round, and so is it done here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import UnknownNameError
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


Rejection = Literal["majority", "unanimous", "aggressive"]
REJECTIONS: tuple[Rejection, ...] = get_args(Rejection)


def votes_needed(mode: Rejection, n_agents: int) -> int:
    """Return how many agents must omit an item for it to be banned.

    ``majority``: ⌊n / 2⌋ + 1. ``unanimous``: all, and a single agent never bans. ``aggressive``: one.

    Raises
    ------
    UnknownNameError
        If there is no such mode.
    """
    if mode not in REJECTIONS:
        raise UnknownNameError("rejection", mode, REJECTIONS)
    if mode == "majority":
        return n_agents // 2 + 1
    return max(2, n_agents) if mode == "unanimous" else 1


def rejected(mode: Rejection, last_offer: Sequence[str], offers: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the items of the last offer that enough agents omit, in the order of the last offer.

    Parameters
    ----------
    mode
        How many are enough, see `votes_needed`.
    last_offer
        The moderator's list after the round before; empty in round 1, in which nothing is banned.
    offers
        Valid items of each agent.
    """
    needed = votes_needed(mode, len(offers))
    omitted = Counter(item for offer in offers for item in last_offer if item not in offer)
    return tuple(item for item in last_offer if omitted[item] >= needed)


Scaling = Literal["min-max", "z"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)

SPAN = 1e-12  # scores whose range or deviation is smaller, relative to max(1, |score|), are all the same


def scaled(mode: Scaling, scores: Values, counted: NDArray[np.bool_]) -> Values:
    """Return normalised scores, shape of `scores`; 0 for all where they do not differ.

    ``min-max``: (s − min) / (max − min). ``z``: (s − mean) / standard deviation.

    Parameters
    ----------
    mode
        One of `SCALINGS`.
    scores
        Shape (item, user).
    counted
        Which items are not banned, shape (item, user); others get 0, and nothing reads it.

    Raises
    ------
    UnknownNameError
        If there is no such mode.
    """
    if mode not in SCALINGS:
        raise UnknownNameError("scaling", mode, SCALINGS)
    number = np.maximum(counted.sum(axis=0), 1)
    if mode == "min-max":
        shift = np.where(counted, scores, np.inf).min(axis=0, initial=np.inf)
        span = np.where(counted, scores, -np.inf).max(axis=0, initial=-np.inf) - shift
    else:
        shift = np.where(counted, scores, 0.0).sum(axis=0) / number
        span = np.sqrt(np.where(counted, (scores - shift) ** 2, 0.0).sum(axis=0) / number)
    differ = np.isfinite(span) & (span > SPAN * np.maximum(1.0, np.abs(shift)))
    return np.where(counted & differ, (scores - np.where(differ, shift, 0.0)) / np.where(differ, span, 1.0), 0.0)
