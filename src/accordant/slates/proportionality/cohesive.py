"""Axioms on groups that agree on one item, which are searched item by item in polynomial time."""

from __future__ import annotations

import numpy as np

from accordant.slates.proportionality.groups import Approvals
from accordant.slates.proportionality.witness import Witness


def jr(given: Approvals) -> Witness | None:
    """Return a group worth one place that agrees on an item and has nothing in the list, or None.

    Justified representation (Aziz, Brill, Conitzer, Elkind, Freeman and Walsh 2017, Definition 1).
    """
    return _wronged(given, 1)


def ejr_plus(given: Approvals) -> Witness | None:
    """Return a group worth ℓ places that agrees on an item outside the list, each with fewer than ℓ in it, or None.

    EJR+ (Brill and Peters 2023, Definition 6).
    """
    found = (_wronged(given, size) for size in range(1, given.k + 1))
    return next((each for each in found if each is not None), None)


def _wronged(given: Approvals, size: int) -> Witness | None:
    """Return the heaviest group that agrees on an item outside the list, each with fewer than `size` items in it."""
    behind = given.hits < size
    mass = np.where(given.shown, 0.0, given.weights[behind] @ given.approved[behind])
    item = int(mass.argmax())
    if given.shown[item] or given.worth(float(mass[item])) < size:
        return None
    members = np.flatnonzero(behind & given.approved[:, item])
    return Witness(tuple(given.voters[members].tolist()), size, (item,))
