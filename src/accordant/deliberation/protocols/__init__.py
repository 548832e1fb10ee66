"""Protocols: how a deliberation runs from the first proposal to the joint decision.

debate.py          three rounds, then a settlement rule, a mediator who reads the declared criteria, or a vote
offers.py          alternating offers
session.py         asking agents, keeping the transcript, hashes of blind proposals
views.py           what an agent is shown; everything else does not exist for it
validity.py        what every move must be, and what is given to a protocol
admissibility.py   what in a move does not count
"""

from __future__ import annotations

from accordant.deliberation.protocols.debate import debate, mediated, vote_after_debate
from accordant.deliberation.protocols.offers import alternating_offers
from accordant.deliberation.protocols.session import broken_commitments

__all__ = ["alternating_offers", "broken_commitments", "debate", "mediated", "vote_after_debate"]
