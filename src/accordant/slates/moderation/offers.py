"""What becomes of offers: which items are banned, and how scores are scaled.

Items of the moderator's last offer are banned if agents leave them out of their own; the modes follow the
official code of Collab-REC (ashmibanerjee/collab-rec, MIT).

The moderator normalises scores after each round, so that old rounds and the new one count alike. The official code
carries the normalised scores into the next round, and so is it done here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import UnknownNameError

Rejection = Literal["majority", "unanimous", "aggressive"]
REJECTIONS: tuple[Rejection, ...] = get_args(Rejection)


def votes_needed(mode: Rejection, n_agents: int) -> int:
    """Return how many agents must omit an item for it to be banned.

    ``majority``: ⌊n / 2⌋ + 1. ``unanimous``: all, and a single agent never bans. ``aggressive``: one.
    """
    if mode not in REJECTIONS:
        raise UnknownNameError("rejection", mode, REJECTIONS)
    if mode == "majority":
        return n_agents // 2 + 1
    return max(2, n_agents) if mode == "unanimous" else 1


def banned_items(mode: Rejection, last_offer: Sequence[str], offers: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the items of the last offer that enough agents omit, in the order of the last offer.

    Parameters
    ----------
    mode
        How many are enough, see `votes_needed`.
    last_offer
        The moderator's list after the round before; empty in round 1, in which nothing is banned.
    """
    needed = votes_needed(mode, len(offers))
    omitted = Counter(item for offer in offers for item in last_offer if item not in offer)
    return tuple(item for item in last_offer if omitted[item] >= needed)


Scaling = Literal["min-max", "z"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)

SPAN = 1e-12  # scores whose range or deviation is smaller, relative to max(1, |score|), are all the same


def normalise_scores(mode: Scaling, scores: Values, counted: NDArray[np.bool_]) -> Values:
    """Return normalised scores, shape of `scores`; 0 for all where they do not differ.

    ``min-max``: (s − min) / (max − min). ``z``: (s − mean) / standard deviation.

    Parameters
    ----------
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
