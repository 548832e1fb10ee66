"""`Agent`: one method from a view to a move, and the registry that knows agents by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from accordant.agents.concession.concession import Concession
from accordant.agents.moves import Move
from accordant.agents.view import View
from accordant.errors import InputError
from accordant.registry import Registry

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
