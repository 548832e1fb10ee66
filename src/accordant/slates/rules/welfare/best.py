"""The best k items by a score, place after place, with the ties of every rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Floats, Mask
from accordant.slates.candidates import Candidates
from accordant.slates.slates import NOTHING
from accordant.strategies.selection import select_best

LEAST = -1e300  # stands for −inf of an item that may be shown, so that one that may not is still below


@dataclass(frozen=True, eq=False)
class Picked:
    """Which items, shape (user, k), padded with `NOTHING`, and whether a tie was broken, shape (user,)."""

    items: NDArray[np.intp]
    tied: Mask


def best_items(scores: Floats, candidates: Candidates, k: int) -> Picked:
    """Return the k items with the highest scores that may be shown.

    Each place goes to the highest score that is left. Scores within the tolerance of it tie; the tie goes to the
    higher sum of expected rewards over those who have a say, then to the item that is declared first.

    Parameters
    ----------
    scores
        Shape (item, user); −inf is allowed, NaN and +inf are not.
    candidates
        What may be shown, and what breaks ties.
    k
        Places, at least 1.

    Raises
    ------
    InputError
        If a score is NaN or +inf.
    """
    left = np.where(candidates.available, np.maximum(scores, LEAST), -np.inf)
    users = np.arange(candidates.n_users)
    items = np.full((candidates.n_users, k), NOTHING, dtype=np.intp)
    tied = np.zeros(candidates.n_users, dtype=bool)
    for place in range(min(k, len(left))):
        found = pick(left, candidates)
        items[:, place] = found.items[:, 0]
        tied |= found.tied
        left[np.maximum(found.items[:, 0], 0), users] = -np.inf
    return Picked(items, tied)


def pick(scores: Floats, candidates: Candidates) -> Picked:
    """Return the best single item for each user; `NOTHING` for whom every score is −inf."""
    chosen = select_best(scores, candidates.totals, candidates.tolerance)
    codes = chosen.codes.astype(np.intp)
    some = scores[codes, np.arange(len(codes))] > -np.inf
    return Picked(np.where(some, codes, NOTHING)[:, None], chosen.tied & some)
