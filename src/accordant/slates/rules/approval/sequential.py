"""One place after the other: the item whose approvals count most now, then those approvals count less.

Sequential PAV, greedy Chamberlin-Courant and greedy Monroe differ only in how the approvals of a stakeholder lose
weight once an item that it approves is chosen. Where no approval counts any more, all items tie at 0, and the remaining
places go to the higher sum of expected rewards, then to the item that is declared first.

Only ratios of weights matter. Sums of weights are made anew at every place, for what is left of a sum from which all
its parts were taken is rounding, not 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.compiled import compiled
from accordant.slates.candidates import Candidates
from accordant.slates.rules.weights import even_weights
from accordant.slates.slates import NOTHING, Slates
from accordant.strategies.selection import TIE_TOLERANCE, Selection

Spend = Callable[[Values, Mask, Values], Values]


def one_by_one(label: str, approved: Mask, candidates: Candidates, k: int, spend: Spend) -> Slates:
    """Return the lists that grow by the item with the highest Σ_i power[i] over those who approve it.

    Parameters
    ----------
    label
        Name of the rule with its parameters.
    approved
        Shape (stakeholder, item, user).
    candidates
        Gives weights, which as `even_weights` are the powers at the start, what may be shown, and what breaks ties.
    k
        Places.
    spend
        From the powers, who approves the item that was chosen last, and how many chosen items each stakeholder approves
        by now, all of shape (stakeholder, user), to the powers from here on. Users without an item left have no
        approvals of it.

    Returns
    -------
    Slates
        With the quantity ``approved``: how many items of the list each stakeholder approves, shape (stakeholder, user).
    """
    n_stakeholders, n_items, n_users = approved.shape
    power = np.repeat(even_weights(candidates.weights)[:, None], n_users, axis=1)
    counts, everyone = np.zeros((n_stakeholders, n_users)), np.arange(n_users)
    left, scores = candidates.available.copy(), np.empty((n_items, n_users))
    chosen = np.full((n_users, k), NOTHING, dtype=np.intp)
    tied = np.zeros(n_users, dtype=bool)
    for place in range(min(k, n_items)):
        _count(approved, power, left, scores)
        selection = highest(scores, candidates)
        codes = selection.codes
        growing = left[codes, everyone]
        if not growing.any():
            break
        chosen[growing, place] = codes[growing]
        tied |= selection.tied & growing
        approves = approved[:, codes, everyone] & growing
        counts += approves
        power = spend(power, approves, counts)
        left[codes, everyone] = False
    return Slates(label, candidates.items, chosen, tied, quantities={"approved": counts.astype(np.intp)})


def highest(scores: Values, candidates: Candidates, tolerance: float = TIE_TOLERANCE) -> Selection:
    """Return the item with the highest score; ties go to the higher sum of expected rewards, then to the first.

    Sums of weights are as exact as floats are, whatever the precision of E, so that E's wider tolerance is only for the
    sums of expected rewards.

    Parameters
    ----------
    scores
        Sums of weights with mean 1, at least 0, −inf for items that cannot be had, shape (item, user).
    candidates
        What breaks ties.
    tolerance
        Scores this close, relative to max(1, best), tie.
    """
    codes, tied = np.empty(scores.shape[1], dtype=np.intp), np.empty(scores.shape[1], dtype=bool)
    _choose(scores, candidates.totals, tolerance, candidates.tolerance, codes, tied)
    return Selection(codes, tied)


@compiled
def _count(approved: NDArray[np.bool_], power: Values, left: NDArray[np.bool_], scores: Values) -> None:
    """Write Σ_i power[i, u] · approved[i, c, u], added in the order of i, shape (item, user); −inf if not left.

    Stakeholders without power for anybody in the block cost nothing.
    """
    n_stakeholders, n_items, n_users = approved.shape
    for c in range(n_items):
        score, may = scores[c], left[c]
        for u in range(n_users):
            score[u] = 0.0 if may[u] else -np.inf
    for i in range(n_stakeholders):
        by = power[i]
        if not by.any():
            continue
        for c in range(n_items):
            row, score = approved[i, c], scores[c]
            for u in range(n_users):
                score[u] += by[u] * row[u]


@compiled
def _choose(
    scores: Values, totals: Values, even: float, level: float, codes: NDArray[np.intp], tied: NDArray[np.bool_]
) -> None:
    """Write the chosen item of each user, and whether others have its score within `even`; `level` is for totals."""
    n_items, n_users = scores.shape
    limit, top, count = np.full(n_users, -np.inf), np.full(n_users, -np.inf), np.zeros(n_users)
    for c in range(n_items):
        score = scores[c]
        for u in range(n_users):
            here, best = score[u], limit[u]
            limit[u] = here if here > best else best
    for u in range(n_users):
        limit[u] -= even * max(1.0, limit[u])
    for c in range(n_items):
        score, total = scores[c], totals[c]
        for u in range(n_users):
            among, here, reached = score[u] >= limit[u], total[u], top[u]
            count[u] += 1.0 if among else 0.0
            top[u] = here if among and here > reached else reached
    for u in range(n_users):
        tied[u] = count[u] > 1.0
        top[u] -= level * max(1.0, abs(top[u]))
    for c in range(n_items - 1, -1, -1):
        score, total = scores[c], totals[c]
        for u in range(n_users):
            codes[u] = c if score[u] >= limit[u] and total[u] >= top[u] else codes[u]
