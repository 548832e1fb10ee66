"""`Witness`: the group that shows that an axiom does not hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Witness:
    """A group that is wronged.

    Attributes
    ----------
    voters
        Positions of its members.
    size
        ℓ: the places that it is worth and does not get.
    items
        Positions of items that all of them approve: ℓ of them, or the one on which they agree.
    """

    voters: tuple[int, ...]
    size: int
    items: tuple[int, ...]
