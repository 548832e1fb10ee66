"""Agents: whoever speaks for a stakeholder. Each turns a view into a typed move.

Vocabulary
----------
agent
    A rule, a language model or a person behind one method: ``act(view) → move``.
view
    Everything an agent may see at one moment, and nothing else. What is not in the view does not exist for the agent.
move
    What an agent does: propose, answer reasons, accept or counter, rank. Only typed fields change anything.
framework
    An ethical framework: a value for each claimant, hard constraints, and passages it may cite.
concession
    How far an agent goes below its best as time passes.
reason
    Why a claimant is put first: a code, the facts read, and the passages cited.
"""

from __future__ import annotations

from accordant.agents.agent import Acted, Agent, Phase, View, agents, check_allowed, create
from accordant.agents.moves import Answer, Ballot, Contestation, Fault, Move, Proposal, Reason, Reply, Turn

__all__ = [
    "Acted", "Agent", "Answer", "Ballot", "Contestation", "Fault", "Move", "Phase", "Proposal", "Reason", "Reply",
    "Turn", "View", "agents", "check_allowed", "create",
]  # fmt: skip
