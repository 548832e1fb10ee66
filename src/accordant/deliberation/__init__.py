"""Deliberation: agents argue, bargain and vote until there is a joint decision, and all of it is on record.

Vocabulary
----------
debate
    Three rounds: blind proposals, contestation, settlement by a named rule.
solo, revised, joint
    What an agent wants alone, what it proposes after contestation, what is decided together.
settlement
    The named rule that fixes the joint decision.
transcript
    Every move in order, with what was void and why.
ledger
    Who moved on which claimant, towards whom, and with which reason.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accordant.deliberation.assessment import OrderEffects, order_effects
    from accordant.deliberation.protocols import alternating_offers, broken_commitments
    from accordant.deliberation.protocols.debate import debate, mediated, vote_after_debate
    from accordant.deliberation.record import Deliberation, Settled

_PARTS = {
    "Deliberation": "record",
    "OrderEffects": "assessment",
    "Settled": "record",
    "alternating_offers": "protocols",
    "broken_commitments": "protocols",
    "debate": "protocols",
    "mediated": "protocols",
    "order_effects": "assessment",
    "vote_after_debate": "protocols",
}

__all__ = [
    "Deliberation", "OrderEffects", "Settled", "alternating_offers", "broken_commitments", "debate", "mediated",
    "order_effects", "vote_after_debate",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a part on first use: the registry of strategies imports this room for one of its rules."""
    if name in _PARTS:
        return getattr(importlib.import_module(f"accordant.deliberation.{_PARTS[name]}"), name)
    raise AttributeError(f"module 'accordant.deliberation' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return everything that is public, imported or not."""
    return sorted(__all__)
