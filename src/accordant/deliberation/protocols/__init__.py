"""Protocols: how a deliberation runs from the first proposal to the joint decision.

debate.py          three rounds, then a settlement rule
offers.py          alternating offers
mediation.py       a debate that a mediator settles by the declared criteria
voting.py          a debate, then a vote on all proposals
order.py           the same deliberation under other orders of its agents
arguments.py       what is given to a protocol, checked
session.py         asking agents, keeping the transcript
views.py           what an agent is shown; everything else does not exist for it
validity.py        what every move must be
admissibility.py   what in a move does not count
commitments.py     hashes of blind proposals
"""

from __future__ import annotations

from accordant.deliberation.protocols.commitments import broken_commitments
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.protocols.mediation import mediated
from accordant.deliberation.protocols.offers import alternating_offers
from accordant.deliberation.protocols.order import OrderEffects, order_effects
from accordant.deliberation.protocols.voting import vote_after_debate

__all__ = [
    "OrderEffects",
    "alternating_offers",
    "broken_commitments",
    "debate",
    "mediated",
    "order_effects",
    "vote_after_debate",
]
