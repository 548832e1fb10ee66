"""Who is in a group, what it is worth, and how far exact searches go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.slates.rule import check_places
from accordant.strategies.strategy import stakeholder_weights

MOST_VOTERS = 12  # voters whose groups are all looked at: the work doubles with every one
ROUNDING = 1e-9  # a group this little below its quota, relative to all weight, reaches it: weights are rounded sums


@dataclass(frozen=True, eq=False)
class Approvals:
    """Approvals of those with weight above 0, and a list.

    Attributes
    ----------
    approved
        Shape (voter, item).
    voters
        Position of each row among all voters, shape (voter,).
    weights
        As shares of all weight, shape (voter,).
    shown
        Which items are in the list, shape (item,).
    k
        Places.
    """

    approved: Mask
    voters: NDArray[np.intp]
    weights: Values
    shown: Mask
    k: int

    @property
    def hits(self) -> NDArray[np.intp]:
        """How many items of the list each voter approves, shape (voter,)."""
        return np.asarray(self.approved[:, self.shown].sum(axis=1))

    def worth(self, mass: float) -> int:
        """Return how many places a group with a share of all weight is worth: the largest ℓ with mass ≥ ℓ/k."""
        return int(np.floor(mass * self.k + ROUNDING * self.k))


def shares(weights: Values | None, n_voters: int) -> Values:
    """Return weights as shares of all weight, shape (voter,); None means equal weights.

    Raises
    ------
    InputError
        If there is not one finite weight of at least 0 per voter, or all are 0.
    """
    checked = stakeholder_weights(None if weights is None else tuple(np.asarray(weights).tolist()), n_voters)
    return np.asarray(checked / checked.sum())


def approvals(approved: Mask, weights: Values | None, committee: NDArray[np.intp], k: int) -> Approvals:
    """Return checked approvals of one list.

    Raises
    ------
    InputError
        If a shape, a weight or k is wrong, or the list holds an unknown item, one twice, or more than k.
    """
    check_places(k)
    check_flags(approved, 2, "(voter, item)")
    chosen = np.asarray(committee, dtype=np.intp)
    n_items = approved.shape[1]
    if chosen.ndim != 1 or len(chosen) > k or len(set(chosen.tolist())) < len(chosen):
        raise InputError(f"the list is {chosen.tolist()}; allowed: at most {k} different items")
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < n_items):
        raise InputError(f"the list is {chosen.tolist()}; allowed: positions of the {n_items} items, from 0")
    mass = shares(weights, len(approved))
    say = np.flatnonzero(mass > 0)
    shown = np.zeros(n_items, dtype=bool)
    shown[chosen] = True
    return Approvals(approved[say], say, mass[say], shown, k)


def check_flags(approved: Mask, n_axes: int, axes: str) -> None:
    """Stop unless approvals are booleans with so many axes.

    Raises
    ------
    InputError
        If they are not.
    """
    if approved.dtype != np.bool_ or approved.ndim != n_axes or 0 in approved.shape[:2]:
        raise InputError(
            f"approvals have shape {approved.shape} and type {approved.dtype}; allowed: booleans of shape {axes}, "
            "with a voter and an item at least"
        )


def check_few(axiom: str, n_voters: int) -> None:
    """Stop if there are too many voters to look at every group.

    Raises
    ------
    InputError
        If there are more than `MOST_VOTERS`.
    """
    if n_voters > MOST_VOTERS:
        raise InputError(
            f"{axiom} looks at every group of voters, and there are {n_voters}; allowed: at most {MOST_VOTERS}, or "
            "the axioms 'jr' and 'ejr_plus', which take polynomial time (ejr_plus implies ejr and pjr)"
        )
