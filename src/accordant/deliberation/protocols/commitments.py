"""Commitments: hashes of blind proposals, taken before any proposal is opened.

They show that a transcript and what was made of it belong together. The salt follows from the seed, which stands in the
record: whoever rewrites the whole record can write commitments that fit.
"""

from __future__ import annotations

import hashlib

import numpy as np

from accordant.agents import Proposal
from accordant.deliberation.protocols.admissibility import counted
from accordant.deliberation.protocols.views import seed_of
from accordant.deliberation.record import Deliberation, canonical
from accordant.randomness import keyed_seed

UNCOMMITTED = ("alternating_offers",)  # protocols in which nobody is shown blind proposals
DIGITS = 9  # of utilities that are committed to: beyond that, machines may round otherwise


def commitment(proposal: Proposal, seed: int, agent: str) -> str:
    """Return the hash that commits an agent to its blind proposal (sha256, hexadecimal).

    The utility is hashed by what it says of itself, and by how much it gives for meeting the demand of each patient
    alone. Two utilities that agree in both pass for one.

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
    alone = proposal.utility.of(np.eye(len(proposal.allocation.scenario.ids)))
    worth = [f"{value:.{DIGITS}g}" for value in np.asarray(alone, dtype=np.float64).tolist()]
    return hashlib.sha256(canonical({"move": proposal.to_json(), "worth": worth, "salt": salt}).encode()).hexdigest()


def broken_commitments(deliberation: Deliberation) -> tuple[str, ...]:
    """Return the agents whose first proposal is not the one they committed to, in the transcript or among `solo`.

    An agent without a commitment or without a first proposal is one of them, and so is a name that took no part. Where
    nobody commits, as in alternating offers, there are none.
    """
    if deliberation.protocol in UNCOMMITTED:
        return ()
    names = dict.fromkeys([*(agent.name for agent in deliberation.agents), *deliberation.commitments])
    return tuple(name for name in names if not _kept(deliberation, name))


def _kept(deliberation: Deliberation, name: str) -> bool:
    made = [turn for turn in deliberation.turns if turn.agent == name and isinstance(turn.move, Proposal)]
    if len(made) != 1 or name not in deliberation.solo:
        return False
    turn, seed = made[0], deliberation.seed
    assert isinstance(turn.move, Proposal)
    opened = commitment(turn.move, seed, name) == deliberation.commitments.get(name)
    solo, opened_solo = deliberation.solo[name], counted(turn.move, turn.faults)
    return opened and commitment(solo, seed, name) == commitment(opened_solo, seed, name)
