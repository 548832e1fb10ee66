"""One place after the other: the item whose approvals count most now, then those approvals count less.

Sequential PAV, greedy Chamberlin-Courant and greedy Monroe differ only in how the approvals of a stakeholder lose
weight once an item that it approves is chosen. Where no approval counts any more, all items tie at 0, and the remaining
places go to the higher sum of expected rewards, then to the item that is declared first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.slates.candidates import Candidates
from accordant.slates.rules.approval.approvals import Approved, Values
from accordant.slates.slates import NOTHING, Slates
from accordant.strategies.selection import select_best

Spend = Callable[[Values, Approved, Values], Values]


def one_by_one(label: str, approved: Approved, candidates: Candidates, k: int, spend: Spend) -> Slates:
    """Return the lists that grow by the item with the highest Σ_i power[i] over those who approve it.

    Parameters
    ----------
    label
        Name of the rule with its parameters.
    approved
        Shape (stakeholder, item, user).
    candidates
        Gives weights, which are the powers at the start, what may be shown, and what breaks ties.
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
    power = np.repeat(candidates.weights[:, None], n_users, axis=1)
    counts, everyone = np.zeros((n_stakeholders, n_users)), np.arange(n_users)
    scores = np.where(candidates.available, 0.0, -np.inf)
    _add(approved, power, scores)
    chosen = np.full((n_users, k), NOTHING, dtype=np.intp)
    tied = np.zeros(n_users, dtype=bool)
    for place in range(min(k, n_items)):
        selection = select_best(scores, candidates.totals, candidates.tolerance)
        codes = selection.codes.astype(np.intp)
        left = scores[codes, everyone] > -np.inf
        if not left.any():
            break
        chosen[left, place] = codes[left]
        tied |= selection.tied & left
        approves = approved[:, codes, everyone] & left
        counts += approves
        after = spend(power, approves, counts)
        _add(approved, after - power, scores)
        scores[codes, everyone] = -np.inf
        power = after
    return Slates(label, candidates.items, chosen, tied, quantities={"approved": counts.astype(np.intp)})


@compiled
def _add(approved: NDArray[np.bool_], change: Values, scores: Values) -> None:
    """Add Σ_i change[i, u] · approved[i, c, u] to scores, shape (item, user), in the order of i.

    Stakeholders whose power changed for nobody in the block cost nothing.
    """
    n_stakeholders, n_items, n_users = approved.shape
    for i in range(n_stakeholders):
        by = change[i]
        if not by.any():
            continue
        for c in range(n_items):
            row, score = approved[i, c], scores[c]
            for u in range(n_users):
                score[u] += by[u] * row[u]
