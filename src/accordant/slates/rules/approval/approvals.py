"""Approvals: which items each stakeholder approves for each user, and the base of the rules that read nothing else.

    threshold     E[i, c, u] ≥ threshold
    best          c is among the `best` items of i; all items that tie with the last of them are approved too
    neither       E[i, c, u] ≥ mean over the items that may be shown: at least as good as a draw

Only items that may be shown are approved. Values within the candidates' tolerance are equal. A stakeholder to whom all
items are worth the same approves everything unless a threshold says otherwise, and so prefers no list to another.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Mask, Values
from accordant.compiled import compiled
from accordant.errors import InputError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import Kind, SlateRule
from accordant.slates.slates import Slates


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

    Raises
    ------
    InputError
        If both are given, or one is out of range.
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

    Raises
    ------
    InputError
        If both are given, or one is out of range.
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

    Raises
    ------
    InputError
        If both are given, `best` is no whole number of at least 1, or `threshold` is outside [0, 1].
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
