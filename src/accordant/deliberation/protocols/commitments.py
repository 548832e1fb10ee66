"""Commitments: hashes of blind proposals, published before any proposal is opened."""

from __future__ import annotations

import hashlib

from accordant.agents import Proposal
from accordant.deliberation.protocols.views import seed_of
from accordant.deliberation.record import Deliberation, canonical
from accordant.randomness import keyed_seed


def commitment(proposal: Proposal, seed: int, agent: str) -> str:
    """Return the hash that commits an agent to its blind proposal (sha256, hexadecimal).

    Parameters
    ----------
    proposal
        With the reasons as they were given.
    seed
        Of the deliberation. The salt is drawn from it and the agent's name: whoever knows the seed can open it.
    agent
        Name.
    """
    salt = keyed_seed(seed_of(seed, agent), "salt")
    return hashlib.sha256(canonical({"move": proposal.to_json(), "salt": salt}).encode()).hexdigest()


def broken_commitments(deliberation: Deliberation) -> tuple[str, ...]:
    """Return the agents whose first proposal in the transcript is not the one they committed to."""
    first = {turn.agent: turn.move for turn in deliberation.turns if isinstance(turn.move, Proposal)}
    return tuple(
        name
        for name, published in deliberation.commitments.items()
        if name not in first or commitment(first[name], deliberation.seed, name) != published
    )
