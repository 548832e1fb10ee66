"""Views: what each agent is shown. Others' utilities, void reasons, and facts not meant for it are not in them.

What is shown cannot be written by mistake: arrays are sealed, facts and records read-only. That keeps one agent's slip
from reaching another. It is no wall against code that sets out to break Python itself, which runs in one process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from accordant.agents import Agent, Answer, Contestation, Move, Phase, Proposal, Reason, Reply, Turn, View
from accordant.allocations import Allocation, Scenario
from accordant.allocations.allocation import Options
from accordant.errors import InputError
from accordant.randomness import keyed_seed


class Undisclosed:
    """Stands where another agent's utility would: nobody is shown how much others like an allocation."""

    def of(self, shares: Any) -> Any:
        """Refuse.

        Raises InputError always.
        """
        del shares
        raise InputError("utilities of other agents are not shown; an agent may read the allocation and the reasons")

    def to_json(self) -> None:
        """Return nothing to show."""


UNDISCLOSED = Undisclosed()


@dataclass(frozen=True, eq=False)
class Sight:
    """What an agent can see of claimants: the scenario with its facts, and the options of that scenario."""

    scenario: Scenario
    options: Options | None
    _seen: dict[Allocation, Allocation] = field(default_factory=dict)

    @cached_property
    def facts(self) -> frozenset[str]:
        """Names of the facts that are shown."""
        return frozenset(self.scenario.facts)

    def allocation(self, allocation: Allocation) -> Allocation:
        """Return the same grants to the claimants as seen here; the same object for the same grants."""
        if allocation not in self._seen:
            self._seen[allocation] = Allocation(self.scenario, allocation.granted)
        return self._seen[allocation]


@dataclass(eq=False)
class Views:
    """Builds the views of one deliberation.

    Parameters
    ----------
    scenario
        With all facts.
    agents
        Who takes part.
    options
        All feasible allocations, or None where they are too many.
    disagreement
        What happens without an agreement.
    seed
        Of the deliberation; each agent gets a seed that depends on this one and its own name alone.
    struck
        Agent that is shown no protected facts any more to the number of turns that were over by then.
    """

    scenario: Scenario
    agents: Sequence[Agent]
    options: Options | None
    disagreement: Allocation | None
    seed: int
    struck: dict[str, int] = field(default_factory=dict)
    _sights: dict[frozenset[str] | None, Sight] = field(default_factory=dict)
    _histories: dict[str, tuple[Sight, list[Turn]]] = field(default_factory=dict)

    def of(
        self,
        agent: Agent,
        phase: Phase,
        *,
        step: int,
        time: float = 0.0,
        proposals: Mapping[str, Proposal] | None = None,
        disputed: tuple[str, ...] = (),
        candidates: Iterable[Allocation] = (),
        history: Sequence[Turn] = (),
    ) -> View:
        """Return the view of one agent; `proposals` and `history` hold the reasons that count, see `View`."""
        sight = self.sight(agent)
        shown = {name: public_proposal(proposal, sight) for name, proposal in (proposals or {}).items()}
        if agent.name in shown and proposals is not None:
            shown[agent.name] = replace(shown[agent.name], utility=proposals[agent.name].utility)
        return View(
            agent.name, phase, sight.scenario, sight.options, time=time, step=step, proposals=shown, disputed=disputed,
            candidates=tuple(map(sight.allocation, candidates)),
            disagreement=None if self.disagreement is None else sight.allocation(self.disagreement),
            history=self._seen_history(agent.name, sight, history), seed=seed_of(self.seed, agent.name),
        )  # fmt: skip

    def strike(self, agent: str, over: int) -> None:
        """Show an agent no protected facts from now on, and nothing of the turns that are over.

        Its own moves and what others replied to them tell whom the protected facts made it favour.
        """
        self.struck[agent] = over

    def sight(self, agent: Agent) -> Sight:
        """Return what an agent can see; shared by agents with the same facts."""
        facts = None if agent.facts is None else frozenset(agent.facts)
        if agent.name in self.struck:
            facts = (frozenset(self.scenario.facts) if facts is None else facts) - frozenset(self.scenario.protected)
        if facts not in self._sights:
            scenario = self.scenario if facts is None else self.scenario.seen(facts)
            known = self.options
            options = None if known is None else Options(scenario, known.granted, known.complete)
            self._sights[facts] = Sight(scenario, options)
        return self._sights[facts]

    def _seen_history(self, agent: str, sight: Sight, history: Sequence[Turn]) -> tuple[Turn, ...]:
        history = history[self.struck.get(agent, 0) :]
        before, turns = self._histories.get(agent, (sight, []))
        if before is not sight or len(turns) > len(history):
            turns = []
        turns = turns + [_seen_turn(turn, agent, sight) for turn in history[len(turns) :]]
        self._histories[agent] = sight, turns
        return tuple(turns)


def seed_of(seed: int, agent: str) -> int:
    """Return the seed of an agent: it depends on the seed of the deliberation and its own name alone."""
    return keyed_seed(seed, f"agent {agent}")


def public(move: Move, sight: Sight) -> Move:
    """Return a move as others see it: without utilities, allocations in terms of what the viewer can see.

    Reasons have neither texts nor names of facts where they cite a fact that the viewer is not shown.
    """
    if isinstance(move, Proposal):
        return public_proposal(move, sight)
    if isinstance(move, Contestation):
        replies = tuple(_public_reply(reply, sight) for reply in move.replies)
        return Contestation(replies, public_proposal(move.revised, sight))
    if isinstance(move, Answer):
        return replace(move, counter=public_proposal(move.counter, sight))
    return move


def public_proposal(proposal: Proposal, sight: Sight) -> Proposal:
    """Return a proposal as others see it."""
    reasons = tuple(public_reason(reason, sight) for reason in proposal.reasons)
    return Proposal(sight.allocation(proposal.allocation), UNDISCLOSED, reasons, proposal.retrieved)


def public_reason(reason: Reason, sight: Sight) -> Reason:
    """Return a reason as others see it: code and passages alone where it cites a fact that the viewer is not shown."""
    return reason if sight.facts.issuperset(reason.facts) else replace(reason, facts=(), text="")


def _public_reply(reply: Reply, sight: Sight) -> Reply:
    return reply if reply.reason is None else replace(reply, reason=public_reason(reply.reason, sight))


def _seen_turn(turn: Turn, viewer: str, sight: Sight) -> Turn:
    """Return a turn as an agent sees it; what is wrong with it is told to whoever made it alone."""
    return replace(turn, move=public(turn.move, sight), faults=turn.faults if turn.agent == viewer else ())
