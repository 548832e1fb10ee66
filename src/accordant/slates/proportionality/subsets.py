"""Axioms on groups that agree on ℓ items, searched group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask
from accordant.slates.proportionality.groups import Approvals, check_few
from accordant.slates.proportionality.witness import Witness


@dataclass(frozen=True, eq=False)
class Group:
    """Some voters, and the items that all of them approve, shape (item,)."""

    members: NDArray[np.intp]
    common: Mask


def pjr(given: Approvals) -> Witness | None:
    """Return a group worth ℓ places that agrees on ℓ items and approves, together, fewer of the list, or None.

    Proportional justified representation (Sánchez-Fernández et al. 2017, Definition 2).
    """
    check_few("pjr", len(given.voters))
    return _first(given, lambda group: int((given.approved[group.members].any(axis=0) & given.shown).sum()))


def ejr(given: Approvals) -> Witness | None:
    """Return a group worth ℓ places that agrees on ℓ items, each of whom approves fewer of the list, or None.

    Extended justified representation (Aziz et al. 2017, Definition 4).
    """
    check_few("ejr", len(given.voters))
    hits = given.hits
    return _first(given, lambda group: int(hits[group.members].max()))


def _first(given: Approvals, has: Callable[[Group], int]) -> Witness | None:
    """Return the first group that has fewer than the ℓ items that it is worth and agrees on."""
    for group in _groups(given):
        size = min(given.worth(float(given.weights[group.members].sum())), int(group.common.sum()))
        if size and has(group) < size:
            items = np.flatnonzero(group.common)[:size]
            return Witness(tuple(given.voters[group.members].tolist()), size, tuple(items.tolist()))
    return None


def _groups(given: Approvals) -> Iterator[Group]:
    """Yield every group of voters that agrees on an item."""
    n_voters = len(given.voters)
    for code in range(1, 2**n_voters):
        members = np.flatnonzero([(code >> voter) & 1 for voter in range(n_voters)])
        common = np.asarray(given.approved[members].all(axis=0))
        if common.any():
            yield Group(members, common)
