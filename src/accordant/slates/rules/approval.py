"""Multiwinner rules on approvals: every stakeholder approves some items, and the list represents them all.

`ApprovalRule` is the base of the rules that read nothing but which items each stakeholder approves for each user:

    threshold     E[i, c, u] ≥ threshold
    best          c is among the `best` items of i; all items that tie with the last of them are approved too
    neither       E[i, c, u] ≥ mean over the items that may be shown: at least as good as a draw

Only items that may be shown are approved. Values within the candidates' tolerance are equal. A stakeholder to whom all
items are worth the same approves everything unless a threshold says otherwise, and so prefers no list to another.

`one_by_one` fills one place after the other with the item whose approvals count most now; then those approvals count
less. Sequential PAV, greedy Chamberlin-Courant and greedy Monroe differ only in how the approvals of a stakeholder lose
weight once an item that it approves is chosen. Where no approval counts any more, all items tie at 0, and the remaining
places go to the higher sum of expected rewards, then to the item that is declared first.

Only ratios of weights matter. Sums of weights are made anew at every place, for what is left of a sum from which all
its parts were taken is rounding, not 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.kernels import compiled
from accordant.slates.candidates import Candidates, even_weights
from accordant.slates.rule import Kind, SlateRule, register
from accordant.slates.slates import NOTHING, Slates
from accordant.strategies.selection import TIE_TOLERANCE, Selection


@dataclass(frozen=True)
class ApprovalRule(SlateRule):
    """A rule that reads approvals; expected rewards themselves only break ties.

    Parameters
    ----------
    best
        How many items each stakeholder approves, at least 1; more where items tie with the last of them.
    threshold
        The least expected reward of an approved item, in [0, 1]. Without both, a stakeholder approves what is at least
        as good as the mean.

    Raises `InputError` if both are given, or one is out of range.
    """

    kind: ClassVar[Kind] = "approval"

    best: int | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        check_ballots(self.best, self.threshold)

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; k is at least 1."""
        return self.elect(approvals(candidates, self.best, self.threshold), candidates, k)

    @abstractmethod
    def elect(self, approved: Mask, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users.

        Parameters
        ----------
        approved
            Whether a stakeholder approves an item, shape (stakeholder, item, user). Rows of stakeholders with weight 0
            count for nothing.
        candidates
            Says what may be shown, with which weights, and how ties are broken.
        k
            Places, at least 1.
        """


def approvals(candidates: Candidates, best: int | None = None, threshold: float | None = None) -> Mask:
    """Return who approves what, shape (stakeholder, item, user), C-contiguous.

    Parameters
    ----------
    candidates
        E, and what may be shown: only that is approved.
    best
        Approve so many of the best items, and all that tie with the last of them.
    threshold
        Approve items with at least this expected reward.

    Raises `InputError` if both are given, or one is out of range.
    """
    check_ballots(best, threshold)
    values, available = candidates.values, np.ascontiguousarray(candidates.available)
    n_stakeholders, n_items, n_users = values.shape
    if threshold is not None:
        levels = np.full((n_stakeholders, n_users), float(threshold))
    elif best is not None and best < n_items:
        shown = values if available.all() else np.where(available, values, -np.inf)
        levels = np.partition(shown, n_items - best, axis=1)[:, n_items - best]  # −inf where fewer may be shown
    elif best is not None:
        levels = np.full((n_stakeholders, n_users), -np.inf)
    else:
        levels = np.empty((n_stakeholders, n_users))
        _means(values, available, levels)
    approved = np.empty(values.shape, dtype=np.bool_)
    np.greater_equal(values, (levels - candidates.tolerance)[:, None, :], out=approved)  # |E| is at most 1
    approved &= available
    return approved


def check_ballots(best: int | None, threshold: float | None) -> None:
    """Stop unless at most one of both is given, and in its range.

    Raises `InputError` if both are given, `best` is no whole number of at least 1, or `threshold` is outside [0, 1].
    """
    if best is not None and threshold is not None:
        raise InputError(f"approvals have best = {best} and threshold = {threshold}; allowed: one of them, or neither")
    if best is not None and (isinstance(best, bool) or not isinstance(best, int | np.integer) or best < 1):
        raise InputError(f"a stakeholder approves the best {best!r} items; allowed: a whole number of at least 1")
    if threshold is not None and not (_is_number(threshold) and 0 <= threshold <= 1):
        raise InputError(f"the threshold of approvals is {threshold!r}; allowed: a number in [0, 1]")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


@compiled
def _means(values: Values, available: Mask, means: Values) -> None:
    """Write the mean of values over available items, shape (stakeholder, user); inf if none is available.

    Differences to the first available item are added in declared order: equal values have exactly their mean, and the
    mean of a user does not depend on who else is in the block.

        np.where(available, values, 0.0).sum(axis=1) / available.sum(axis=0)
    """
    n_stakeholders, n_items, n_users = values.shape
    counts = np.zeros(n_users)
    first = np.zeros(n_users, dtype=np.intp)
    for c in range(n_items - 1, -1, -1):
        for u in range(n_users):
            counts[u] += 1.0 if available[c, u] else 0.0
            first[u] = c if available[c, u] else first[u]
    base = np.empty(n_users)
    for i in range(n_stakeholders):
        sums = means[i]
        for u in range(n_users):
            base[u] = values[i, first[u], u]
            sums[u] = 0.0
        for c in range(n_items):
            row, shown = values[i, c], available[c]
            for u in range(n_users):
                sums[u] += row[u] - base[u] if shown[u] else 0.0
        for u in range(n_users):
            sums[u] = base[u] + sums[u] / counts[u] if counts[u] > 0 else np.inf


Spend = Callable[[Values, Mask, Values], Values]


def one_by_one(label: str, approved: Mask, candidates: Candidates, k: int, spend: Spend) -> Slates:
    """Return the lists that grow by the item with the highest Σ_i power[i] over those who approve it.

    `approved` is of shape (stakeholder, item, user). `spend` gives, from the powers, who approves the item that was
    chosen last, and how many chosen items each stakeholder approves by now, all of shape (stakeholder, user), the
    powers from here on; at the start they are `even_weights`. Users without an item left have no approvals of it. The
    quantity ``approved`` of the slates says how many items of the list each stakeholder approves.
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

    Sums of weights, −∞ for items that cannot be had, are as exact as floats are, whatever the precision of E, so that
    E's wider tolerance is only for the sums of expected rewards.
    """
    codes, tied = np.empty(scores.shape[1], dtype=np.intp), np.empty(scores.shape[1], dtype=bool)
    _choose(scores, candidates.totals, tolerance, candidates.tolerance, codes, tied)
    return Selection(codes, tied)


@compiled
def _count(approved: NDArray[np.bool_], power: Values, left: NDArray[np.bool_], scores: Values) -> None:
    """Write Σ_i power[i, u] · approved[i, c, u], added in the order of i, shape (item, user); −inf if not left.

    Stakeholders without power for anybody in the block cost nothing.

        np.where(left, np.einsum("iu,icu->cu", power, approved), -np.inf)
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


@register("seq_cc")
@dataclass(frozen=True)
class SequentialCC(ApprovalRule):
    """Each place goes to the item that the highest weight of stakeholders without an approved item so far approves.

    The list covers at least 1 − 1/e of the weight that a list of k items can cover (Lu and Boutilier 2011 for this
    rule; Nemhauser, Wolsey and Fisher 1978). It satisfies justified representation (Aziz et al. 2017, greedy approval
    voting): of stakeholders with 1/k of the weight who all approve one item, one approves an item of the list. Once
    everybody who approves anything is covered, what remains is filled by the sum of expected rewards.
    """

    def elect(self, approved: Mask, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; see `ApprovalRule.elect`."""

        def spend(power: Values, approves: Mask, counts: Values) -> Values:
            """Return w_i where i approves nothing so far, and 0 elsewhere."""
            del counts
            return np.where(approves, 0.0, power)

        return one_by_one(self.label, approved, candidates, k, spend)


@register("seq_pav")
@dataclass(frozen=True)
class SequentialPAV(ApprovalRule):
    """Each place goes to the item with the highest Σ_i w_i / (1 + a_i) over those who approve it.

    Source: Thiele 1895.

    a_i is how many items of the list so far i approves. The list has at least 1 − 1/e of the highest PAV score
    Σ_i w_i (1 + 1/2 + … + 1/a_i) that a list of k items can have (Nemhauser, Wolsey and Fisher 1978). It need not
    satisfy justified representation (Aziz et al. 2017).
    """

    def elect(self, approved: Mask, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; see `ApprovalRule.elect`."""
        weights = even_weights(candidates.weights)[:, None]

        def spend(power: Values, approves: Mask, counts: Values) -> Values:
            """Return w_i / (1 + a_i)."""
            del power, approves
            return weights / (1.0 + counts)

        return one_by_one(self.label, approved, candidates, k, spend)
