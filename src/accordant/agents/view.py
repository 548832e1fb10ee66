"""`View`: everything an agent may see at one moment. What is not in it does not exist for the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from accordant.agents.moves import Proposal, Turn
from accordant.allocations import Allocation, Scenario
from accordant.allocations.options import Options

Phase = Literal["propose", "contest", "answer", "offer", "vote"]


@dataclass(frozen=True, eq=False)
class View:
    """What one agent may see.

    Arrays and facts in it cannot be written: agents with the same facts are shown the same ones. Reasons of others
    have neither texts nor names of facts where they cite a fact that this agent is not shown.

    Parameters
    ----------
    agent
        Its own name.
    phase
        Which move is asked for: ``propose`` a `Proposal`, ``contest`` a `Contestation`, ``answer`` an
        `Answer` that ends a debate, ``offer`` an `Answer` among alternating offers, ``vote`` a `Ballot`.
    scenario
        Patients with only the facts that the agent may see.
    options
        All feasible allocations, or None where they are too many to list.
    time
        Share of the deliberation that is over, in [0, 1].
    step
        Round of a debate, or number of the offer, from 1.
    proposals
        Agent to its standing proposal; empty while proposals are blind.
    disputed
        Ids of the patients whom standing proposals treat differently.
    candidates
        Allocations to rank; ``vote`` only.
    disagreement
        What happens without an agreement, or None if that is not known.
    history
        Turns that everybody has seen, without what others said that does not count; empty in the first round, and
        without all that came before for an agent that was asked again without the protected facts.
    seed
        Of everything random in this agent; depends on nobody else's name, presence or moves.
    """

    agent: str
    phase: Phase
    scenario: Scenario
    options: Options | None = None
    time: float = 0.0
    step: int = 1
    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    disputed: tuple[str, ...] = ()
    candidates: tuple[Allocation, ...] = ()
    disagreement: Allocation | None = None
    history: tuple[Turn, ...] = ()
    seed: int = 0

    @property
    def others(self) -> dict[str, Proposal]:
        """Standing proposals of the other agents."""
        return {name: each for name, each in self.proposals.items() if name != self.agent}

    @property
    def own(self) -> Proposal | None:
        """One's own standing proposal."""
        return self.proposals.get(self.agent)
