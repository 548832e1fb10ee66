"""`violations`: which of many lists break an axiom."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.compiled import compiled
from accordant.errors import InputError, UnknownNameError
from accordant.slates.proportionality.groups import ROUNDING, check_few, check_flags, shares
from accordant.slates.proportionality.verdict import AXIOMS, Axiom


def violations(axiom: Axiom, approved: Mask, items: Codes, weights: Values | None = None) -> Mask:
    """Return which lists break an axiom, shape (user,).

    Parameters
    ----------
    axiom
        ``jr``, ``pjr``, ``ejr`` or ``ejr_plus``.
    approved
        Which stakeholder approves which item for which user, shape (stakeholder, item, user). Items that may not be
        shown must not be approved.
    items
        Lists, shape (user, k), −1 where there is no item, as in `Slates.items`; k is what weight is divided by.
    weights
        Shape (stakeholder,); None means 1 for everybody.

    Raises
    ------
    UnknownNameError
        If there is no such axiom.
    InputError
        If a shape or a weight is wrong, or more than 12 stakeholders have a say with ``pjr`` or ``ejr``.
    """
    if axiom not in AXIOMS:
        raise UnknownNameError("proportionality axiom", axiom, AXIOMS)
    check_flags(approved, 3, "(stakeholder, item, user)")
    n_stakeholders, n_items, n_users = approved.shape
    if items.ndim != 2 or len(items) != n_users or not items.shape[1]:
        raise InputError(f"lists have shape {items.shape}; allowed: (user, k) with {n_users} users")
    mass = shares(weights, n_stakeholders)
    heard = np.ascontiguousarray(approved[mass > 0])
    shown = np.zeros((n_items, n_users), dtype=bool)
    users, places = np.nonzero(items >= 0)
    shown[items[users, places], users] = True
    broken = np.zeros(n_users, dtype=bool)
    if axiom in ("jr", "ejr_plus"):
        _one_item(heard, mass[mass > 0], shown, items.shape[1], 1 if axiom == "jr" else items.shape[1], broken)
    else:
        check_few(axiom, len(heard))
        _groups(heard, mass[mass > 0], shown, items.shape[1], axiom == "ejr", broken)
    return broken


@compiled
def _one_item(approved: Mask, mass: Values, shown: Mask, k: int, largest: int, broken: Mask) -> None:
    """Write for whom some ℓ up to `largest` has a group worth ℓ that agrees on an item not shown, all below ℓ."""
    n_voters, n_items, n_users = approved.shape
    hits = np.zeros((n_voters, n_users), dtype=np.int64)
    for i in range(n_voters):
        count = hits[i]
        for c in range(n_items):
            row, inside = approved[i, c], shown[c]
            for u in range(n_users):
                count[u] += 1 if row[u] and inside[u] else 0
    behind = np.empty((n_voters, n_users))
    heavy = np.empty(n_users)
    for size in range(1, largest + 1):
        quota = size / k - ROUNDING
        for i in range(n_voters):
            for u in range(n_users):
                behind[i, u] = mass[i] if hits[i, u] < size else 0.0
        for c in range(n_items):
            heavy[:] = 0.0
            for i in range(n_voters):
                row, part = approved[i, c], behind[i]
                for u in range(n_users):
                    heavy[u] += part[u] if row[u] else 0.0
            inside = shown[c]
            for u in range(n_users):
                broken[u] |= heavy[u] >= quota and not inside[u]


@compiled
def _groups(approved: Mask, mass: Values, shown: Mask, k: int, each: bool, broken: Mask) -> None:
    """Write for whom a group worth ℓ agrees on ℓ items and has fewer in the list: each member alone, or together.

    Groups are numbers whose bits are voters. Items are counted by who approves exactly them; sums over supersets give
    the items on which a group agrees, sums over subsets of the others those of the list that nobody in it approves.
    """
    n_voters, n_items, n_users = approved.shape
    n_groups = 1 << n_voters
    worth = np.zeros(n_groups, dtype=np.int64)
    for group in range(n_groups):
        total = 0.0
        for i in range(n_voters):
            total += mass[i] if (group >> i) & 1 else 0.0
        worth[group] = int(np.floor(total * k + ROUNDING * k))
    agreed, absent = np.empty(n_groups, dtype=np.int64), np.empty(n_groups, dtype=np.int64)
    hits = np.empty(n_voters, dtype=np.int64)
    for u in range(n_users):
        agreed[:] = 0
        absent[:] = 0
        hits[:] = 0
        length = 0
        for c in range(n_items):
            who = 0
            for i in range(n_voters):
                who |= (1 << i) if approved[i, c, u] else 0
            agreed[who] += 1
            if shown[c, u]:
                length += 1
                absent[who] += 1
                for i in range(n_voters):
                    hits[i] += (who >> i) & 1
        for i in range(n_voters):
            for group in range(n_groups):
                if (group >> i) & 1:
                    agreed[group ^ (1 << i)] += agreed[group]
                    absent[group] += absent[group ^ (1 << i)]
        for group in range(1, n_groups):
            due = min(worth[group], agreed[group])
            if due == 0:
                continue
            has = length - absent[n_groups - 1 - group]
            if each:
                has = 0
                for i in range(n_voters):
                    if (group >> i) & 1:
                        has = max(has, hits[i])
            broken[u] |= has < due
