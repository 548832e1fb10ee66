"""`check`: whether one list meets an axiom, and who is wronged if not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import UnknownNameError
from accordant.slates.proportionality.cohesive import ejr_plus, jr
from accordant.slates.proportionality.groups import Approvals, approvals
from accordant.slates.proportionality.subsets import ejr, pjr
from accordant.slates.proportionality.witness import Witness

Axiom = Literal["jr", "pjr", "ejr", "ejr_plus"]
AXIOMS: tuple[Axiom, ...] = get_args(Axiom)

_SEARCHES: Mapping[str, Callable[[Approvals], Witness | None]] = {
    "jr": jr, "pjr": pjr, "ejr": ejr, "ejr_plus": ejr_plus
}  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Whether a list meets an axiom.

    Attributes
    ----------
    axiom
        Its name.
    witness
        A group that is wronged; None if there is none.
    """

    axiom: Axiom
    witness: Witness | None

    @property
    def holds(self) -> bool:
        """Whether no group is wronged."""
        return self.witness is None


def check(axiom: Axiom, approved: Mask, weights: Values | None, committee: NDArray[np.intp], k: int) -> Verdict:
    """Return whether a list meets an axiom.

    Parameters
    ----------
    axiom
        ``jr``, ``pjr``, ``ejr`` or ``ejr_plus``.
    approved
        Who approves what, shape (voter, item). Items that may not be shown must not be approved.
    weights
        Shape (voter,); None means 1 for everybody.
    committee
        Positions of the items of the list, at most k.
    k
        Places, by which weight is divided; a list may have fewer items.

    Raises
    ------
    UnknownNameError
        If there is no such axiom.
    InputError
        If a shape or a number is wrong, or there are more than 12 voters with ``pjr`` or ``ejr``.
    """
    if axiom not in _SEARCHES:
        raise UnknownNameError("proportionality axiom", axiom, AXIOMS)
    return Verdict(axiom, _SEARCHES[axiom](approvals(approved, weights, committee, k)))
