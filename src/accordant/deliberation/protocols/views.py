"""Views: what each agent is shown. Others' utilities, void reasons, and facts not meant for it are not in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from accordant.agents import Agent, Answer, Contestation, Move, Phase, Proposal, Turn, View
from accordant.allocations import Allocation, Scenario
from accordant.allocations.options import Options
from accordant.errors import InputError, InvalidMoveError
from accordant.randomness import keyed_seed


class Undisclosed:
    """Stands where another agent's utility would: nobody is shown how much others like an allocation."""

    def of(self, shares: Any) -> Any:
        """Refuse.

        Raises
        ------
        InputError
            Always.
        """
        del shares
        raise InputError("utilities of other agents are not shown; an agent may read the allocation and the reasons")

    def to_json(self) -> None:
        """Return nothing to show."""


UNDISCLOSED = Undisclosed()


@dataclass(frozen=True, eq=False)
class Sight:
    """What an agent can see of patients: the scenario with its facts, and the options of that scenario."""

    scenario: Scenario
    options: Options | None

    def allocation(self, allocation: Allocation) -> Allocation:
        """Return the same grants to the patients as seen here."""
        return Allocation(self.scenario, allocation.granted)


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
    """

    scenario: Scenario
    agents: Sequence[Agent]
    options: Options | None
    disagreement: Allocation | None
    seed: int
    struck: set[str] = field(default_factory=set)
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
            agent.name,
            phase,
            sight.scenario,
            sight.options,
            time=time,
            step=step,
            proposals=shown,
            disputed=disputed,
            candidates=tuple(map(sight.allocation, candidates)),
            disagreement=None if self.disagreement is None else sight.allocation(self.disagreement),
            history=self._seen_history(agent.name, sight, history),
            seed=seed_of(self.seed, agent.name),
        )

    def strike(self, agent: str) -> None:
        """Show an agent no protected facts from now on."""
        self.struck.add(agent)

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
        before, turns = self._histories.get(agent, (sight, []))
        if before is not sight or len(turns) > len(history):
            turns = []
        turns = turns + [replace(turn, move=public(turn.move, sight)) for turn in history[len(turns) :]]
        self._histories[agent] = sight, turns
        return tuple(turns)


def seed_of(seed: int, agent: str) -> int:
    """Return the seed of an agent: it depends on the seed of the deliberation and its own name alone."""
    return keyed_seed(seed, f"agent {agent}")


def public(move: Move, sight: Sight) -> Move:
    """Return a move as others see it: without utilities, allocations in terms of what the viewer can see."""
    if isinstance(move, Proposal):
        return public_proposal(move, sight)
    if isinstance(move, Contestation):
        return replace(move, revised=public_proposal(move.revised, sight))
    if isinstance(move, Answer):
        return replace(move, counter=public_proposal(move.counter, sight))
    return move


def public_proposal(proposal: Proposal, sight: Sight) -> Proposal:
    """Return a proposal as others see it."""
    return replace(proposal, allocation=sight.allocation(proposal.allocation), utility=UNDISCLOSED)


def bound(proposal: Proposal, scenario: Scenario) -> Proposal:
    """Return a proposal for the patients with all facts, from one for the patients as its agent saw them.

    Raises
    ------
    InvalidMoveError
        If it is for other patients, infeasible, or without a utility of its own.
    """
    allocation, utility = proposal.allocation, proposal.utility
    if not isinstance(allocation, Allocation) or allocation.scenario.ids != scenario.ids:
        raise InvalidMoveError(
            f"the proposal is {allocation!r:.80}; allowed: an allocation to the patients in the view"
        )
    if isinstance(utility, Undisclosed) or not callable(getattr(utility, "of", None)):
        raise InvalidMoveError(f"the proposal has the utility {utility!r:.80}; allowed: the agent's own")
    try:
        return replace(proposal, allocation=Allocation(scenario, allocation.granted))
    except InputError as error:
        raise InvalidMoveError(f"the proposal is infeasible: {error}") from None
