"""The Method of Equal Shares: every stakeholder holds the same share of the places and pays for items it wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.compiled import compiled
from accordant.errors import UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import register
from accordant.slates.rules.approval.approvals import ApprovalRule
from accordant.slates.rules.approval.seq_phragmen import EVEN, add_by_load
from accordant.slates.rules.approval.sequential import highest
from accordant.slates.rules.weights import even_weights
from accordant.slates.slates import NOTHING, Slates
from accordant.strategies.selection import TIE_TOLERANCE

Ballot = Literal["approval", "utility"]
Completion = Literal["phragmen", "utilitarian"]


@register("equal_shares", aliases=("mes",))
@dataclass(frozen=True)
class EqualShares(ApprovalRule):
    """The Method of Equal Shares, also Rule X (Peters and Skowron 2020; Peters, Pierczyński and Skowron 2021).

    Each place costs 1, and stakeholder i holds w_i k / W. An item can be bought at price ρ if its supporters, each
    paying min(what it holds, w_i ρ u_i), raise 1. The item with the lowest ρ is bought, until nobody can buy any more.
    With approvals the bought items satisfy extended justified representation: of stakeholders with ℓ/k of the weight
    who all approve the same ℓ items, one approves at least ℓ items of the list.

    Parameters
    ----------
    best, threshold
        See `ApprovalRule`.
    ballots
        ``approval``: u is 1 for approved items and 0 for others. ``utility``: u is the expected reward, and approvals
        only serve the completion.
    completion
        How the places that were not bought are filled: ``phragmen`` goes on with Phragmén's sequential rule, where
        stakeholders start with what they still hold (the usual choice, as in abcvoting [code]); ``utilitarian`` takes
        the highest Σ w_i u_i.

    Raises
    ------
    InputError
        If a parameter is outside its range.
    """

    ballots: Ballot = "approval"
    completion: Completion = "phragmen"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, allowed in (("ballots", get_args(Ballot)), ("completion", get_args(Completion))):
            if getattr(self, name) not in allowed:
                raise UnknownNameError(f"{name} of equal_shares", getattr(self, name), allowed)

    def elect(self, approved: Mask, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; see `ApprovalRule.elect`.

        Quantities: ``held``, what stakeholders hold after buying per unit of weight, where the mean weight of those who
        have a say is 1, shape (stakeholder, user); ``bought``, how many items of a list were bought, shape (user,).
        """
        n_stakeholders, _, n_users = approved.shape
        weights = even_weights(candidates.weights)
        utilities = approved if self.ballots == "approval" else candidates.values
        tolerance = EVEN if self.ballots == "approval" else max(EVEN, candidates.tolerance)
        items = np.full((n_users, k), NOTHING, dtype=np.intp)
        held = np.full((n_stakeholders, n_users), k / weights.sum())
        tied = np.zeros(n_users, dtype=bool)
        available = np.ascontiguousarray(candidates.available)
        _buy(utilities, available, weights, candidates.totals, EVEN, tolerance, candidates.tolerance, items, held, tied)
        quantities = {"held": held, "bought": (items != NOTHING).sum(axis=1)}
        short = np.flatnonzero(quantities["bought"] < k)
        if len(short):
            lists, some = items[short], candidates.take(short)
            if self.completion == "utilitarian":
                level = TIE_TOLERANCE if self.ballots == "approval" else candidates.tolerance
                tied[short] |= _add_by_total(lists, weights, utilities[:, :, short], some, level)
            else:
                tied[short] |= add_by_load(lists, -held[:, short], np.ascontiguousarray(approved[:, :, short]), some)
            items[short] = lists
        return Slates(self.label, candidates.items, items, tied, quantities=quantities)


def _add_by_total(
    items: NDArray[np.intp], weights: Values, utilities: NDArray[Any], candidates: Candidates, tolerance: float
) -> NDArray[np.bool_]:
    """Fill the empty places of lists, shape (user, k), by Σ w_i u_i; return whether a tie was broken, shape (user,)."""
    n_users, k = items.shape
    everyone, lengths = np.arange(n_users), (items != NOTHING).sum(axis=1)
    scores = np.where(candidates.available, np.einsum("i,icu->cu", weights, utilities), -np.inf)
    users, places = np.nonzero(items != NOTHING)
    scores[items[users, places], users] = -np.inf
    tied = np.zeros(n_users, dtype=bool)
    for _ in range(k - int(lengths.min(initial=k))):
        selection = highest(scores, candidates, tolerance)
        codes = selection.codes
        growing = (lengths < k) & (scores[codes, everyone] > -np.inf)
        items[everyone[growing], lengths[growing]] = codes[growing]
        tied |= selection.tied & growing
        scores[codes, everyone] = -np.inf
        lengths[growing] += 1
    return tied


@compiled
def _buy(
    utilities: NDArray[Any], available: Mask, weights: Values, totals: Values, even: float, same: float,
    level: float, items: NDArray[np.intp], held: Values, tied: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Write the items that each user's stakeholders buy, what they hold afterwards, and whether a tie was broken.

    `even` is the tolerance for money, `same` that for prices, `level` that for totals.
    """
    n_stakeholders, n_items, n_users = utilities.shape
    k = items.shape[1]
    wanted = np.empty((n_items, n_stakeholders))
    lowest = np.empty(n_items)  # bounds of prices from below; infinite for what cannot be bought any more
    for u in range(n_users):
        for c in range(n_items):
            gain = 0.0
            for i in range(n_stakeholders):
                wanted[c, i] = utilities[i, c, u]
                gain += weights[i] * wanted[c, i]
            lowest[c] = 1.0 / gain if available[c, u] and gain > 0.0 else np.inf
        for place in range(k):
            best = np.inf
            for c in range(n_items):
                if lowest[c] == np.inf or lowest[c] > best + same * max(1.0, best):
                    continue
                money = 0.0
                for i in range(n_stakeholders):
                    money += weights[i] * held[i, u] if wanted[c, i] > 0.0 else 0.0
                if money < 1.0 - even:
                    lowest[c] = np.inf
                    continue
                price, n_poor = 0.0, 0
                while True:  # Newton's method from below: who cannot pay her part pays all
                    shared, from_poor, poorer = 0.0, 0.0, 0
                    for i in range(n_stakeholders):
                        if wanted[c, i] > 0.0:
                            if held[i, u] < price * wanted[c, i]:
                                from_poor += weights[i] * held[i, u]
                                poorer += 1
                            else:
                                shared += weights[i] * wanted[c, i]
                    if price > 0.0 and (poorer == n_poor or shared == 0.0):
                        break
                    n_poor = poorer
                    price = (1.0 - from_poor) / shared
                lowest[c] = price
                best = min(best, price)
            if best == np.inf:
                break
            limit, top, chosen, count = best + same * max(1.0, best), -np.inf, -1, 0
            for c in range(n_items):
                if lowest[c] <= limit:
                    count += 1
                    top = max(top, totals[c, u])
            for c in range(n_items):
                if lowest[c] <= limit and totals[c, u] >= top - level * max(1.0, abs(top)):
                    chosen = c
                    break
            tied[u] |= count > 1
            price = lowest[chosen]
            items[u, place] = chosen
            for i in range(n_stakeholders):
                held[i, u] = max(0.0, held[i, u] - price * wanted[chosen, i])
            lowest[chosen] = np.inf
