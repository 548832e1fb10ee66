"""`Session`: the state of one deliberation, and the steps that protocols are made of.

Commitments are hashes of blind proposals, taken before any proposal is opened. They show that a transcript and what was
made of it belong together. The salt follows from the seed, which stands in the record: whoever rewrites the whole
record can write commitments that fit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from accordant.agents import Acted, Agent, Answer, Contestation, Fault, Move, Proposal, Turn, View
from accordant.allocations import Allocation, Scenario
from accordant.allocations.allocation import Options
from accordant.allocations.enumeration import enumerate_options
from accordant.allocations.measures.measure import Criterion
from accordant.deliberation.protocols.admissibility import Known, admit, admit_replies, cites_protected, counted
from accordant.deliberation.protocols.validity import checked_agents, checked_disagreement, valid, whole
from accordant.deliberation.protocols.views import Views, seed_of
from accordant.deliberation.record import Deliberation, Settled, canonical
from accordant.deliberation.settlement import Table
from accordant.deliberation.settlement.division import procedural_lottery
from accordant.deliberation.settlement.settlement import lay_table
from accordant.errors import InputError, InvalidMoveError, UnknownNameError
from accordant.randomness import keyed_seed

UNCOMMITTED = ("alternating_offers",)  # protocols in which nobody is shown blind proposals
DIGITS = 9  # of utilities that are committed to: beyond that, machines may round otherwise
Guard = Literal["log", "strike"]
ROUNDS = 3


def commitment(proposal: Proposal, seed: int, agent: str) -> str:
    """Return the hash that commits an agent to its blind proposal (sha256, hexadecimal).

    The utility is hashed by what it says of itself, and by how much it gives for meeting the demand of each claimant
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


Watch = Callable[[Turn], None]
Moved = TypeVar("Moved", bound=Move)


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
    options
        All feasible allocations in the order in which ties are decided; None for the canonical order.

    Attributes
    ----------
    turns
        Every move in order, as it was made.
    heard
        The same with the reasons that count: what views show.
    asides
        Moves that were asked for and are no turn: nobody is shown them.
    standing
        Agent to its last proposal, with the reasons that count.

    Raises InputError if there is no agent, two share a name, one is adversarial without leave, the seed is no whole
    number, or the disagreement allocation is for other claimants, demands or resources.
    """

    def __init__(
        self,
        scenario: Scenario,
        agents: Iterable[Agent],
        *,
        seed: int = 0,
        disagreement: Allocation | None = None,
        allow_adversarial: bool = False,
        watch: Watch | None = None,
        options: Options | None = None,
    ) -> None:
        self.agents = checked_agents(agents, allow_adversarial=allow_adversarial)
        self.scenario, self.seed, self.watch = scenario, whole(seed, "the seed"), watch
        self.options = enumerate_options(scenario) if options is None else options
        self.given = disagreement is not None
        self.disagreement = (
            procedural_lottery(scenario, keyed_seed(self.seed, "disagreement"))
            if disagreement is None
            else checked_disagreement(disagreement, scenario)
        )
        self.views = Views(scenario, self.agents, self.options, self.disagreement, self.seed)
        self.turns: list[Turn] = []
        self.heard: list[Turn] = []
        self.asides: list[Turn] = []
        self.standing: dict[str, Proposal] = {}
        self.solo: dict[str, Proposal] = {}
        self.commitments: dict[str, str] = {}
        self.struck: dict[str, Proposal] = {}
        self.flagged: set[str] = set()
        self.repairs = 0
        self._retrieved: dict[str, set[str]] = {agent.name: set() for agent in self.agents}

    @property
    def disputed(self) -> tuple[str, ...]:
        """Ids of the claimants whom standing proposals treat differently."""
        granted = np.array([proposal.allocation.granted for proposal in self.standing.values()])
        differs = (granted != granted[0]).any(axis=(0, 2))
        return tuple(self.scenario.ids[claimant] for claimant in np.flatnonzero(differs))

    def ask(self, agent: Agent, view: View, kind: type[Moved]) -> tuple[Moved, Acted]:
        """Return an agent's move, its proposals for the claimants with all facts, and how it came about.

        Raises InvalidMoveError if there is none, or it is not valid; names the agent. Whatever else its code raises
        goes on as it is, with a note that names the agent.
        """
        try:
            acted = agent.acted(view)
            move = valid(acted, kind, view, self.scenario)
        except InputError as error:
            raise invalid_move(error, agent, view) from error
        except Exception as error:
            error.add_note(f"raised by agent {agent.name!r}, {view.phase} at step {view.step}")
            raise
        self.repairs += acted.repairs
        return move, acted

    def propose(self) -> None:
        """Round 1: everybody proposes alone; all commit before any proposal is opened."""
        made: list[tuple[Agent, View, Proposal, Acted]] = []
        for agent in self.agents:
            view = self.views.of(agent, "propose", step=1)
            made.append((agent, view, *self.ask(agent, view, Proposal)))
        for agent, _, proposal, _ in made:
            self.commitments[agent.name] = commitment(proposal, self.seed, agent.name)
        for agent, view, proposal, acted in made:
            kept, faults = self._admit(agent, view, proposal)
            self.standing[agent.name] = self.solo[agent.name] = kept
            self.publish(1, agent, proposal, kept, acted, faults)

    def propose_unheard(self) -> None:
        """Ask everybody what it wants alone, for the record only: nobody is shown it and nothing stands."""
        for agent in self.agents:
            self.solo[agent.name] = self._aside(agent, self.views.of(agent, "propose", step=1))

    def contest(self) -> None:
        """Round 2: everybody answers on disputed claimants and proposes anew; nobody sees others' answers before."""
        disputed, proposals, history = self.disputed, dict(self.standing), tuple(self.heard)
        for agent in self.agents:
            view = self.views.of(
                agent, "contest", step=2, time=1 / ROUNDS, proposals=proposals, disputed=disputed, history=history
            )
            move, acted = self.ask(agent, view, Contestation)
            kept, faults = self._admit(agent, view, move.revised)
            replies = admit_replies(move.replies, disputed, self._known(agent, view))
            self._flag(agent, replies.faults)
            self.standing[agent.name] = kept
            counted = Contestation(replies.replies, kept)
            self.publish(2, agent, move, counted, acted, (*replies.faults, *faults))

    def strike(self) -> None:
        """Ask whoever cited a protected fact again, and from now on, without the protected facts.

        Nothing that was said up to now is in its views any more.
        """
        for agent in self.agents:
            if agent.name not in self.flagged:
                continue
            self.views.strike(agent.name, len(self.heard))
            kept = self._aside(agent, self.views.of(agent, "propose", step=2, time=1 / ROUNDS))
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

        Raises InvalidMoveError if it accepts what is not on the table; names the agent.
        """
        answer, acted = self.ask(agent, view, Answer)
        if answer.accepts is not None and answer.accepts not in acceptable:
            unknown = UnknownNameError("proposal to accept, of the agent", answer.accepts, acceptable)
            raise invalid_move(unknown, agent, view)
        kept, faults = self._admit(agent, view, answer.counter)
        self.standing[agent.name] = kept
        self.publish(view.step, agent, answer, Answer(answer.accepts, kept), acted, faults)
        return answer

    def publish(
        self, step: int, agent: Agent, move: Move, counted: Move, acted: Acted, faults: Sequence[Fault] = ()
    ) -> None:
        """Write a move down, and tell whoever watches."""
        turn = Turn(step, agent.name, move, acted.generated_by, tuple(faults), acted.fallback)
        self.turns.append(turn)
        self.heard.append(replace(turn, move=counted))
        if self.watch is not None:
            self.watch(turn)

    def table(self, criteria: Sequence[Criterion] = ()) -> Table:
        """Return what a settlement rule reads: the utilities last stated."""
        return lay_table(
            self.scenario, self.agents, self.standing, self.disagreement, options=self.options, criteria=criteria,
            seed=keyed_seed(self.seed, "settlement"),
        )  # fmt: skip

    def finished(self, protocol: str, settled: Settled, procedure: Mapping[str, Any]) -> Deliberation:
        """Return the record."""
        compared = None if self.options is None else len(self.options)
        lot = "given" if self.given else "procedural lottery"
        return Deliberation(
            protocol, self.scenario, self.agents, self.seed, tuple(self.turns), dict(self.solo), dict(self.standing),
            settled, utilities={name: proposal.utility for name, proposal in self.standing.items()},
            commitments=dict(self.commitments), disagreement=self.disagreement,
            procedure={**procedure, "disagreement": lot, "options": compared},
            struck=dict(self.struck), asides=tuple(self.asides), repairs=self.repairs, options=self.options,
        )  # fmt: skip

    def _aside(self, agent: Agent, view: View) -> Proposal:
        """Ask for a proposal that is no turn; return it with the reasons that count."""
        proposal, acted = self.ask(agent, view, Proposal)
        kept, faults = self._admit(agent, view, proposal)
        self.asides.append(Turn(view.step, agent.name, proposal, acted.generated_by, faults, acted.fallback))
        return kept

    def _admit(self, agent: Agent, view: View, proposal: Proposal) -> tuple[Proposal, tuple[Fault, ...]]:
        self._retrieved[agent.name].update(proposal.retrieved)
        admitted = admit(proposal, self._known(agent, view))
        self._flag(agent, admitted.faults)
        return admitted.proposal, admitted.faults

    def _known(self, agent: Agent, view: View) -> Known:
        scenario = self.scenario
        return Known(scenario.ids, view.scenario.facts, scenario.protected, self._retrieved[agent.name])

    def _flag(self, agent: Agent, faults: Sequence[Fault]) -> None:
        if cites_protected(faults):
            self.flagged.add(agent.name)


def check_guard(guard: str) -> None:
    """Refuse a guard that does not exist."""
    if guard not in get_args(Guard):
        raise UnknownNameError("guard", guard, get_args(Guard))


def invalid_move(error: object, agent: Agent, view: View) -> InvalidMoveError:
    """Return the error that says whose move, and which, was not valid."""
    return InvalidMoveError(f"agent {agent.name!r}, {view.phase} at step {view.step}: {error}")
