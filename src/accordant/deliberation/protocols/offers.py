"""Alternating offers: agents take turns until everybody accepts one offer, or the deadline comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from accordant.agents import Agent
from accordant.agents.concession import Concession, Progress
from accordant.allocations import Allocation, Scenario
from accordant.allocations.allocation import Options
from accordant.deliberation.protocols.session import Session, Watch
from accordant.deliberation.protocols.validity import whole
from accordant.deliberation.record import Deliberation, Settled
from accordant.deliberation.settlement.alternating_offers import OFFERS, Stacked, time_of
from accordant.errors import InputError

STANDSTILL = 3  # rounds with the same offers after which the concessions are asked whether time alone moves them


def alternating_offers(
    scenario: Scenario,
    agents: Sequence[Agent],
    *,
    steps: int = OFFERS,
    seed: int = 0,
    first: int = 0,
    disagreement: Allocation | None = None,
    allow_adversarial: bool = False,
    watch: Watch | None = None,
    options: Options | None = None,
) -> Deliberation:
    """Let agents bargain offer by offer; the deadline brings the disagreement allocation.

    Every agent first says blind what it wants alone; nobody is shown that. Then one offer is on the table: whoever's
    turn it is accepts it or puts another in its place (`Stacked`). The time at step s of n is (s - 1) / (n - 1).
    Bargaining also ends without an agreement when it stands still: the same offers for three rounds, and no concession
    strategy would move by time alone.

    Parameters
    ----------
    scenario, agents, seed, disagreement, allow_adversarial, watch, options
        As in `debate`.
    steps
        Offers until the deadline, at least 1.
    first
        Position of the agent who begins; the others follow in their order.

    Raises
    ------
    InputError
        If there are no steps or no whole number of them, nobody is at `first`, or as in `debate`.
    InvalidMoveError
        If an agent makes no valid move.
    """
    steps, first = whole(steps, "the number of steps"), whole(first, "first")
    if steps < 1:
        raise InputError(f"steps are {steps}; allowed: at least 1")
    session = Session(
        scenario, agents, seed=seed, disagreement=disagreement, allow_adversarial=allow_adversarial, watch=watch,
        options=options,
    )  # fmt: skip
    if not 0 <= first < len(session.agents):
        raise InputError(f"first is {first}; allowed: 0 to {len(session.agents) - 1}")
    session.propose_unheard()
    settled = _bargained(session, steps, first)
    order = [agent.name for agent in session.agents[first:] + session.agents[:first]]
    session.standing = {**session.solo, **session.standing}
    return session.finished("alternating_offers", settled, {"steps": steps, "order": order})


def _bargained(session: Session, steps: int, first: int) -> Settled:
    gap = 0.0 if session.options is not None else None
    stack, standstill = Stacked(tuple(agent.name for agent in session.agents)), Standstill(len(session.agents))
    for step in range(1, steps + 1):
        agent = session.agents[(first + step - 1) % len(session.agents)]
        on_table = {} if stack.proposer is None else {stack.proposer: session.standing[stack.proposer]}
        own = {agent.name: session.standing[agent.name]} if agent.name in session.standing else {}
        view = session.views.of(
            agent, "offer", step=step, time=time_of(step, steps), proposals=on_table | own, history=session.heard
        )
        answer = session.take_answer(agent, view, on_table)
        if answer.accepts is None:
            stack.put(agent.name)
        else:
            stack.accept(agent.name)
        details = {"offers": step}
        if stack.agreed and stack.proposer is not None:
            agreed = session.standing[stack.proposer].allocation
            return Settled("alternating_offers", agreed, agreed=True, time=view.time, gap=gap, details=details)
        standstill.note(agent.name, session.standing[agent.name].allocation)
        left = [time_of(later, steps) for later in range(step, steps + 1)]
        if step < steps and standstill.reached and not time_moves(session, left):
            told = {**details, "stopped": "no progress"}
            return Settled("alternating_offers", session.disagreement, agreed=False, gap=gap, details=told)
    return Settled("alternating_offers", session.disagreement, agreed=False, gap=gap, details={"offers": steps})


@dataclass
class Standstill:
    """Counts the rounds in which nobody offered anything else than before.

    `n_agents`: how many offers make a round.
    """

    n_agents: int
    last: dict[str, Allocation] = field(default_factory=dict)
    repeated: int = 0

    def note(self, agent: str, offer: Allocation) -> None:
        """Take note of an offer."""
        self.repeated = self.repeated + 1 if self.last.get(agent) == offer else 0
        self.last[agent] = offer

    @property
    def reached(self) -> bool:
        """Whether a round has just ended, and as many as `STANDSTILL` have repeated the offers before."""
        return self.repeated >= STANDSTILL * self.n_agents and self.repeated % self.n_agents == 0


def time_moves(session: Session, times: Sequence[float]) -> bool:
    """Return whether some agent's target changes at one of the times if nobody offers anything new.

    Concession strategies are asked with the utilities last stated; a strategy that reads more than time and offers is
    beyond what this can know.
    """
    table = session.table()
    for row, own in enumerate(table.utilities):
        others = tuple(float(own[option]) for agent, option in enumerate(table.revised) if agent != row)
        made = (float(own[table.revised[row]]),) * 2
        opponents = tuple((utility, utility) for utility in others) if len(others) > 1 else ()
        reservation = float(own[table.disagreement])
        progress = Progress(times[0], made, others * 2, len(set(others)), reservation, opponents=opponents)
        if moved_by_time(table.concessions[row], progress, times):
            return True
    return False


def moved_by_time(concession: Concession, progress: Progress, times: Sequence[float]) -> bool:
    """Return whether a target differs between times, all else equal."""
    targets = {concession.target(replace(progress, time=time)) for time in times}
    return len(targets) > 1
