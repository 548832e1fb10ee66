"""Approval rules in which voters pay for items: Phragmén, equal shares, greedy Monroe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.kernels import compiled
from accordant.slates.candidates import Candidates, even_weights
from accordant.slates.rule import register
from accordant.slates.rules.approval import ApprovalRule, highest, one_by_one
from accordant.slates.slates import NOTHING, Slates
from accordant.strategies.selection import TIE_TOLERANCE, select_best

EVEN = 1e-10
"""Loads and prices this close, relative to max(1, |load|), are equal.

They are sums of a few quotients, which rounding moves by less than 1e-13, whatever the precision of E.
"""
Ballot = Literal["approval", "utility"]
Completion = Literal["phragmen", "utilitarian"]


@register("seq_phragmen", aliases=("phragmen",))
@dataclass(frozen=True)
class SequentialPhragmen(ApprovalRule):
    """Each place goes to the item that brings its approvers the lowest load (Σ_i w_i load_i + 1) / Σ_i w_i.

    Source: Phragmén 1894.

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
    """Fill the empty places at the end of lists by loads; return whether a tie was broken, shape (user,).

    Lists, shape (user, k), and loads, shape (stakeholder, user), below 0 for money that stakeholders hold, are written
    over; `approved` is of shape (stakeholder, item, user).
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
    """Write the load that each item would bring its approvers, shape (item, user); infinite if there are none.

    share = weights[:, None, None] * approved
    (1.0 + (share * loads[:, None]).sum(axis=0)) / share.sum(axis=0)
    """
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
    ballots
        ``approval``: u is 1 for approved items and 0 for others. ``utility``: u is the expected reward, and approvals
        only serve the completion.
    completion
        How the places that were not bought are filled: ``phragmen`` goes on with Phragmén's sequential rule, where
        stakeholders start with what they still hold (the usual choice, as in abcvoting [code]); ``utilitarian`` takes
        the highest Σ w_i u_i.

    Raises `InputError` if a parameter is outside its range.
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


@register("greedy_monroe")
@dataclass(frozen=True)
class GreedyMonroe(ApprovalRule):
    """Each place goes to the item that most of the weight approves that no item stands for yet.

    Greedy Monroe of Skowron, Faliszewski and Slinko (2015): every place stands for the same weight of stakeholders.
    The item then stands for those who approve it, in declared order, up to a quota; the last of them may be divided,
    and the rest of its weight still counts. Once nothing is left that anybody approves, what remains is filled by the
    sum of expected rewards.

    It satisfies justified representation: as long as stakeholders with 1/k of the weight approve one item and nothing
    stands for any of them, each place uses its quota up, and all quotas together are the whole weight. Proportional
    justified representation holds too if k divides the number of voters (Sánchez-Fernández et al. 2017).

    Parameters
    ----------
    whole
        False: each quota is W / k, with W the sum of weights. Only the ratios of weights matter, and each stakeholder
        may be stood for by several items, so that lists longer than the number of stakeholders are shared among all.
        The paper assumes that k divides the number of voters; then both are the same.
        True: weights are numbers of voters, whole numbers. The first W mod k quotas are ⌊W / k⌋ + 1, the others
        ⌊W / k⌋, as in abcvoting [code]. With fewer voters than places the last quotas are 0.

    Raises
    ------
    InputError
        When it is applied, if weights are not whole numbers and `whole` says that they count voters.
    """

    whole: bool = False

    def elect(self, approved: Mask, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; see `ApprovalRule.elect`."""
        weights = candidates.weights
        quotas = iter((self.quotas(weights, k) / weights[weights > 0].mean()).tolist())

        def spend(power: Values, approves: Mask, counts: Values) -> Values:
            """Return what is left of each weight once the chosen item stands for its share."""
            del counts
            after, room = power.copy(), np.full(power.shape[1], next(quotas))
            for i, approving in enumerate(approves):
                share = np.where(approving, np.minimum(after[i], room), 0.0)
                after[i] -= share
                room -= share
            return after

        return one_by_one(self.label, approved, candidates, k, spend)

    def quotas(self, weights: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        """Return the weight that each place stands for, the first place first, shape (k,).

        Weights are of shape (stakeholder,), and k is at least 1. Raises `InputError` if weights are to count voters and
        one is no whole number.
        """
        total = float(weights.sum())
        if not self.whole:
            return np.full(k, total / k)
        if (weights != np.floor(weights)).any():
            raise InputError(
                f"weights are {weights.tolist()}; allowed with whole=True: whole numbers, counts of voters"
            )
        least, more = divmod(int(total), k)
        return np.asarray(least + (np.arange(k) < more), dtype=np.float64)
