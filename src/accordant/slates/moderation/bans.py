"""Which items of the moderator's last offer are banned, because agents leave them out of their own.

Modes follow the official code of Collab-REC (ashmibanerjee/collab-rec, MIT).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

from accordant.errors import UnknownNameError

Rejection = Literal["majority", "unanimous", "aggressive"]
REJECTIONS: tuple[Rejection, ...] = get_args(Rejection)


def votes_needed(mode: Rejection, n_agents: int) -> int:
    """Return how many agents must omit an item for it to be banned.

    ``majority``: ⌊n / 2⌋ + 1. ``unanimous``: all, and a single agent never bans. ``aggressive``: one.

    Raises
    ------
    UnknownNameError
        If there is no such mode.
    """
    if mode not in REJECTIONS:
        raise UnknownNameError("rejection", mode, REJECTIONS)
    if mode == "majority":
        return n_agents // 2 + 1
    return max(2, n_agents) if mode == "unanimous" else 1


def rejected(mode: Rejection, last_offer: Sequence[str], offers: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the items of the last offer that enough agents omit, in the order of the last offer.

    Parameters
    ----------
    mode
        How many are enough, see `votes_needed`.
    last_offer
        The moderator's list after the round before; empty in round 1, in which nothing is banned.
    offers
        Valid items of each agent.
    """
    needed = votes_needed(mode, len(offers))
    omitted = Counter(item for offer in offers for item in last_offer if item not in offer)
    return tuple(item for item in last_offer if omitted[item] >= needed)
