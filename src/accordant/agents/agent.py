"""`Agent`: one method from a `View`, all that it may see, to a move; and the registry of agents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from accordant.agents.concession import Concession
from accordant.agents.moves import Move, Proposal, Turn
from accordant.allocations import Allocation, Scenario
from accordant.allocations.allocation import Options
from accordant.errors import InputError
from accordant.registry import Registry

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
        Claimants with only the facts that the agent may see.
    options
        All feasible allocations, or None where they are too many to list.
    time
        Share of the deliberation that is over, in [0, 1].
    step
        Round of a debate, or number of the offer, from 1.
    proposals
        Agent to its standing proposal; empty while proposals are blind.
    disputed
        Ids of the claimants whom standing proposals treat differently.
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
        return {name: proposal for name, proposal in self.proposals.items() if name != self.agent}

    @property
    def own(self) -> Proposal | None:
        """One's own standing proposal."""
        return self.proposals.get(self.agent)


agents: Registry[Agent] = Registry("agent", group="accordant.agents", packages=("accordant.agents",))


@dataclass(frozen=True)
class Acted:
    """A move, and how it came about.

    Attributes
    ----------
    move
        What the agent does.
    generated_by
        ``template``, ``model NAME`` or ``person``: who wrote the texts.
    fallback
        Whether a rule stood in for a language model that gave no valid move.
    repairs
        How often a language model had to be told what was wrong.
    """

    move: Move
    generated_by: str
    fallback: bool = False
    repairs: int = 0


class Agent(ABC):
    """Whoever speaks for a stakeholder.

    Attributes
    ----------
    name
        Unique in a deliberation.
    kind
        ``rule``, ``language model``, ``person`` or ``fixture``; stands in every transcript.
    about
        One sentence on how it decides; a rule agent says that it is one.
    adversarial
        Whether it is made to do wrong: a fixture for tests of procedures, never a stakeholder.
    facts
        Names of the facts it is shown; None for all. Enforced by whoever builds the view.
    concession
        How it concedes; settlement by bargaining reads it.
    """

    kind: ClassVar[str] = "rule"
    adversarial: ClassVar[bool] = False
    name: str
    about: str
    facts: tuple[str, ...] | None
    concession: Concession

    @property
    def generated_by(self) -> str:
        """Who writes its texts: ``template``, ``model NAME`` or ``person``."""
        return "template"

    @abstractmethod
    def act(self, view: View) -> Move:
        """Return the move that ``view.phase`` asks for; the same view always gives the same move of a rule agent.

        Raises
        ------
        InvalidMoveError
            If no valid move could be made.
        """

    def acted(self, view: View) -> Acted:
        """Return the move with how it came about; protocols ask this."""
        return Acted(self.act(view), self.generated_by)

    def to_json(self) -> dict[str, Any]:
        """Return what a transcript says of the agent; never a key or a password."""
        return {
            "name": self.name,
            "kind": self.kind,
            "about": self.about,
            "adversarial": self.adversarial,
            "facts": None if self.facts is None else list(self.facts),
            "concession": self.concession.name,
            "generated_by": self.generated_by,
        }


def create(name: str, parameters: Mapping[str, Any] | None = None, *, allow_adversarial: bool = False) -> Agent:
    """Build a registered agent.

    Raises
    ------
    UnknownNameError
        If the name is not registered.
    InputError
        If a parameter is wrong, or the agent is adversarial and that was not allowed.
    """
    agent = agents.create(name, parameters)
    check_allowed(agent, allow_adversarial=allow_adversarial)
    return agent


def check_allowed(agent: Agent, *, allow_adversarial: bool) -> None:
    """Refuse an adversarial agent unless somebody allowed it."""
    if agent.adversarial and not allow_adversarial:
        raise InputError(
            f"agent {agent.name!r} is adversarial: a fixture for testing procedures, not a stakeholder; "
            "allow_adversarial=True admits it"
        )
