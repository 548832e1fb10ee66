"""Phragmén's sequential rule: every item costs its approvers one unit, and their load is kept low (Phragmén 1894)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.compiled import compiled
from accordant.slates.candidates import Candidates
from accordant.slates.rule import register
from accordant.slates.rules.approval.approvals import ApprovalRule
from accordant.slates.rules.weights import even_weights
from accordant.slates.slates import NOTHING, Slates
from accordant.strategies.selection import select_best

EVEN = 1e-10
"""Loads and prices this close, relative to max(1, |load|), are equal.

They are sums of a few quotients, which rounding moves by less than 1e-13, whatever the precision of E.
"""


@register("seq_phragmen", aliases=("phragmen",))
@dataclass(frozen=True)
class SequentialPhragmen(ApprovalRule):
    """Each place goes to the item that brings its approvers the lowest load (Σ_i w_i load_i + 1) / Σ_i w_i.

    Those who approve the item then all carry that load. The same list results if stakeholders earn money at speed w_i
    and buy an item as soon as those who approve it hold one unit together (Lackner and Skowron 2023, rule 9). It
    satisfies proportional justified representation (Brill et al. 2017): of the list, stakeholders with ℓ/k of the
    weight who all approve the same ℓ items approve at least ℓ items between them. Items that nobody approves come last,
    by the sum of expected rewards.
    """

    def elect(self, approved: Mask, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; see `ApprovalRule.elect`.

        The quantity ``load`` is what stakeholders carry at the end per unit of weight, where the mean weight of those
        who have a say is 1, shape (stakeholder, user).
        """
        n_stakeholders, _, n_users = approved.shape
        items = np.full((n_users, k), NOTHING, dtype=np.intp)
        loads = np.zeros((n_stakeholders, n_users))
        tied = add_by_load(items, loads, approved, candidates)
        return Slates(self.label, candidates.items, items, tied, quantities={"load": loads})


def add_by_load(items: NDArray[np.intp], loads: Values, approved: Mask, candidates: Candidates) -> NDArray[np.bool_]:
    """Fill the empty places of lists by loads; return whether a tie was broken, shape (user,).

    Parameters
    ----------
    items
        Lists with `NOTHING` in empty places at the end, shape (user, k); written over.
    loads
        What stakeholders carry so far, below 0 for money they hold, shape (stakeholder, user); written over.
    approved
        Shape (stakeholder, item, user).
    candidates
        Gives weights, what may be shown, and what breaks ties.
    """
    n_users, k = items.shape
    weights, everyone = even_weights(candidates.weights), np.arange(n_users)
    lengths = (items != NOTHING).sum(axis=1)
    left = candidates.available.copy()
    users, places = np.nonzero(items != NOTHING)
    left[items[users, places], users] = False
    tied = np.zeros(n_users, dtype=bool)
    raised = np.empty(left.shape)
    for _ in range(k - int(lengths.min(initial=k))):
        _raise(approved, weights, loads, raised)
        raised[~left] = np.nan
        codes, level, lowest = _lowest(raised, candidates)
        growing = (lengths < k) & left[codes, everyone]
        if not growing.any():
            break
        items[everyone[growing], lengths[growing]] = codes[growing]
        tied |= level & growing
        carrying = approved[:, codes, everyone] & growing & (weights > 0)[:, None]
        np.copyto(loads, lowest, where=carrying)
        left[codes[growing], everyone[growing]] = False
        lengths[growing] += 1
    return tied


def _lowest(raised: Values, candidates: Candidates) -> tuple[NDArray[np.intp], NDArray[np.bool_], Values]:
    """Return the item with the lowest load for each user, whether others have it too, and that load.

    Loads are NaN where an item cannot be had; a user without any gets whatever item.
    """
    lowest = np.fmin.reduce(raised, axis=0)
    limit = lowest + EVEN * np.maximum(1.0, np.abs(lowest))
    scores = np.where(raised <= limit, 0.0, -np.inf)
    selection = select_best(scores, candidates.totals, candidates.tolerance)
    codes = selection.codes.astype(np.intp)
    return codes, selection.tied, np.asarray(raised[codes, np.arange(raised.shape[1])])


@compiled
def _raise(approved: Mask, weights: Values, loads: Values, raised: Values) -> None:
    """Write the load that each item would bring its approvers, shape (item, user); infinite if there are none."""
    n_stakeholders, n_items, n_users = approved.shape
    voters = np.empty(n_users)
    for c in range(n_items):
        carried = raised[c]
        carried[:] = 1.0
        voters[:] = 0.0
        for i in range(n_stakeholders):
            row, load, weight = approved[i, c], loads[i], weights[i]
            for u in range(n_users):
                share = weight if row[u] else 0.0
                carried[u] += share * load[u]
                voters[u] += share
        for u in range(n_users):
            carried[u] = carried[u] / voters[u] if voters[u] > 0.0 else np.inf
