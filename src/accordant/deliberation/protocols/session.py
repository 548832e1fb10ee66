"""`Session`: the state of one deliberation, and the steps that protocols are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from accordant.agents import Acted, Agent, Answer, Contestation, Move, Proposal, Turn, View, check_allowed
from accordant.allocations import Allocation, Scenario
from accordant.allocations.enumeration import enumerate_options
from accordant.deliberation.protocols.admissibility import Fault, admitted, admitted_replies
from accordant.deliberation.protocols.commitments import commitment
from accordant.deliberation.protocols.views import Views, bound
from accordant.deliberation.record import Deliberation, Settled
from accordant.deliberation.settlement.serving import procedural_lottery
from accordant.errors import InputError, InvalidMoveError, UnknownNameError
from accordant.randomness import keyed_seed

Guard = Literal["log", "strike"]
Watch = Callable[[Turn], None]
Moved = TypeVar("Moved", bound=Move)

ROUNDS = 3


class Session:
    """One deliberation while it lasts.

    Parameters
    ----------
    scenario
        With all facts.
    agents
        At least one; names are unique.
    seed
        Of everything random.
    disagreement
        What happens without an agreement; None for a procedural lottery.
    allow_adversarial
        Whether adversarial agents may take part.
    watch
        Called with each turn as it becomes public.

    Attributes
    ----------
    turns
        Every move in order, as it was made.
    heard
        The same with the reasons that count: what views show.
    standing
        Agent to its last proposal, with the reasons that count.

    Raises
    ------
    InputError
        If there is no agent, two share a name, one is adversarial without leave, or the disagreement allocation is for
        other patients.
    """

    def __init__(
        self,
        scenario: Scenario,
        agents: Sequence[Agent],
        *,
        seed: int = 0,
        disagreement: Allocation | None = None,
        allow_adversarial: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self.agents = checked_agents(agents, allow_adversarial=allow_adversarial)
        self.scenario, self.seed, self.watch = scenario, seed, watch
        self.options = enumerate_options(scenario)
        self.given = disagreement is not None
        self.disagreement = (
            procedural_lottery(scenario, keyed_seed(seed, "disagreement"))
            if disagreement is None
            else checked_disagreement(disagreement, scenario)
        )
        self.views = Views(scenario, self.agents, self.options, self.disagreement, seed)
        self.turns: list[Turn] = []
        self.heard: list[Turn] = []
        self.standing: dict[str, Proposal] = {}
        self.solo: dict[str, Proposal] = {}
        self.commitments: dict[str, str] = {}
        self.struck: dict[str, Proposal] = {}
        self.flagged: set[str] = set()
        self.repairs = 0
        self._retrieved: dict[str, set[str]] = {agent.name: set() for agent in self.agents}

    @property
    def disputed(self) -> tuple[str, ...]:
        """Ids of the patients whom standing proposals treat differently."""
        granted = np.array([each.allocation.granted for each in self.standing.values()])
        differs = (granted != granted[0]).any(axis=(0, 2))
        return tuple(self.scenario.ids[patient] for patient in np.flatnonzero(differs))

    def ask(self, agent: Agent, view: View, kind: type[Moved]) -> tuple[Moved, Acted]:
        """Return an agent's move, and how it came about.

        Raises
        ------
        InvalidMoveError
            If there is none, or it is of another kind; names the agent.
        """
        try:
            acted = agent.acted(view)
        except InvalidMoveError as error:
            raise named(error, agent, view) from error
        self.repairs += acted.repairs
        if not isinstance(acted.move, kind):
            found = type(acted.move).__name__
            raise named(f"the move is a {found}; allowed: a {kind.__name__}", agent, view)
        return acted.move, acted

    def propose(self) -> None:
        """Round 1: everybody proposes alone; all commit before any proposal is opened."""
        made: list[tuple[Agent, Proposal, Acted]] = []
        for agent in self.agents:
            view = self.views.of(agent, "propose", step=1)
            proposal, acted = self.ask(agent, view, Proposal)
            made.append((agent, self._bound(agent, view, proposal), acted))
        for agent, proposal, _ in made:
            self.commitments[agent.name] = commitment(proposal, self.seed, agent.name)
        for agent, proposal, acted in made:
            kept, faults = self._admit(agent, proposal)
            self.standing[agent.name] = self.solo[agent.name] = kept
            self.publish(1, agent, proposal, kept, acted, faults)

    def propose_unheard(self) -> None:
        """Ask everybody what it wants alone, for the record only: nobody is shown it and nothing stands."""
        for agent in self.agents:
            view = self.views.of(agent, "propose", step=1)
            proposal, _ = self.ask(agent, view, Proposal)
            self.solo[agent.name], _ = self._admit(agent, self._bound(agent, view, proposal))

    def contest(self) -> None:
        """Round 2: everybody answers on the disputed patients and proposes anew; nobody sees others' answers before."""
        disputed, proposals, history = self.disputed, dict(self.standing), tuple(self.heard)
        for agent in self.agents:
            view = self.views.of(
                agent, "contest", step=2, time=1 / ROUNDS, proposals=proposals, disputed=disputed, history=history
            )
            move, acted = self.ask(agent, view, Contestation)
            revised = self._bound(agent, view, move.revised)
            kept, faults = self._admit(agent, revised)
            move = Contestation(move.replies, revised)
            try:
                replies = admitted_replies(move, self.scenario, disputed, self._retrieved[agent.name])
            except InvalidMoveError as error:
                raise named(error, agent, view) from error
            self._flag(agent, replies.faults)
            self.standing[agent.name] = kept
            counted = Contestation(replies.replies, kept)
            self.publish(2, agent, move, counted, acted, (*replies.faults, *faults))

    def strike(self) -> None:
        """Ask whoever cited a protected fact again, and from now on, without the protected facts."""
        for agent in self.agents:
            if agent.name not in self.flagged:
                continue
            self.views.strike(agent.name)
            view = self.views.of(agent, "propose", step=2, time=1 / ROUNDS)
            proposal, _ = self.ask(agent, view, Proposal)
            kept, _ = self._admit(agent, self._bound(agent, view, proposal))
            self.standing[agent.name] = self.struck[agent.name] = kept

    def answer(self) -> dict[str, Allocation]:
        """Round 3: accept or counter, all at once; return what each agent stands by afterwards."""
        disputed, proposals, history = self.disputed, dict(self.standing), tuple(self.heard)
        stands: dict[str, Allocation] = {}
        for agent in self.agents:
            view = self.views.of(
                agent, "answer", step=3, time=2 / ROUNDS, proposals=proposals, disputed=disputed, history=history
            )
            answer = self.take_answer(agent, view, proposals)
            own = self.standing[agent.name].allocation
            stands[agent.name] = own if answer.accepts is None else proposals[answer.accepts].allocation
        return stands

    def take_answer(self, agent: Agent, view: View, acceptable: Mapping[str, Proposal]) -> Answer:
        """Ask for an answer, publish it, and let its counter stand as the agent's proposal.

        Raises
        ------
        InvalidMoveError
            If it accepts what is not on the table; names the agent.
        """
        answer, acted = self.ask(agent, view, Answer)
        if answer.accepts is not None and answer.accepts not in acceptable:
            unknown = UnknownNameError("proposal to accept, of the agent", answer.accepts, acceptable)
            raise named(unknown, agent, view)
        counter = self._bound(agent, view, answer.counter)
        kept, faults = self._admit(agent, counter)
        self.standing[agent.name] = kept
        self.publish(view.step, agent, Answer(answer.accepts, counter), Answer(answer.accepts, kept), acted, faults)
        return answer

    def publish(
        self, step: int, agent: Agent, move: Move, counted: Move, acted: Acted, faults: Sequence[Fault] = ()
    ) -> None:
        """Write a move down, and tell whoever watches."""
        void = tuple(fault.text for fault in faults)
        turn = Turn(step, agent.name, move, acted.generated_by, void, acted.fallback)
        self.turns.append(turn)
        self.heard.append(Turn(step, agent.name, counted, acted.generated_by, void, acted.fallback))
        if self.watch is not None:
            self.watch(turn)

    def finished(self, protocol: str, settled: Settled, procedure: Mapping[str, Any]) -> Deliberation:
        """Return the record."""
        return Deliberation(
            protocol=protocol,
            scenario=self.scenario,
            agents=self.agents,
            seed=self.seed,
            turns=tuple(self.turns),
            solo=dict(self.solo),
            revised=dict(self.standing),
            settled=settled,
            utilities={name: each.utility for name, each in self.standing.items()},
            commitments=dict(self.commitments),
            disagreement=self.disagreement,
            procedure={
                **procedure,
                "disagreement": "given" if self.given else "procedural lottery",
                "options": None if self.options is None else len(self.options),
            },
            struck=dict(self.struck),
            repairs=self.repairs,
            options=self.options,
        )

    def _bound(self, agent: Agent, view: View, proposal: Proposal) -> Proposal:
        try:
            return bound(proposal, self.scenario)
        except InvalidMoveError as error:
            raise named(error, agent, view) from error

    def _admit(self, agent: Agent, proposal: Proposal) -> tuple[Proposal, tuple[Fault, ...]]:
        known = self._retrieved[agent.name]
        known.update(proposal.retrieved)
        found = admitted(proposal, self.scenario, known)
        self._flag(agent, found.faults)
        return found.proposal, found.faults

    def _flag(self, agent: Agent, faults: Sequence[Fault]) -> None:
        if any(fault.protected for fault in faults):
            self.flagged.add(agent.name)


def checked_agents(agents: Sequence[Agent], *, allow_adversarial: bool) -> tuple[Agent, ...]:
    """Return the agents as a tuple.

    Raises
    ------
    InputError
        If there is none, two share a name, or one is adversarial without leave.
    """
    names = [agent.name for agent in agents]
    if not names:
        raise InputError("a deliberation needs at least one agent")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two agents are called {name!r}; allowed: a name of its own for each")
    for agent in agents:
        check_allowed(agent, allow_adversarial=allow_adversarial)
    return tuple(agents)


def checked_disagreement(given: Allocation, scenario: Scenario) -> Allocation:
    """Return the same grants to the patients with all facts.

    Raises
    ------
    InputError
        If it is for other patients, or infeasible here.
    """
    if given.scenario.ids != scenario.ids:
        raise InputError(
            f"the disagreement allocation is for the patients {', '.join(given.scenario.ids)}; "
            f"allowed: those of the scenario, {', '.join(scenario.ids)}"
        )
    return Allocation(scenario, given.granted)


def check_guard(guard: str) -> None:
    """Refuse a guard that does not exist."""
    if guard not in get_args(Guard):
        raise UnknownNameError("guard", guard, get_args(Guard))


def named(error: object, agent: Agent, view: View) -> InvalidMoveError:
    """Return the error that says whose move, and which, was not valid."""
    return InvalidMoveError(f"agent {agent.name!r}, {view.phase} at step {view.step}: {error}")
