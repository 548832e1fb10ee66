"""The ledger: who moved on which claimant, towards whom, and with which reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.agents import Contestation, Proposal, Reply
from accordant.allocations import Allocation
from accordant.arrays import Values
from accordant.deliberation.record import Deliberation

EQUAL = 1e-9  # shares this close are the same: they are quotients of whole numbers


@dataclass(frozen=True)
class Movement:
    """What became of one agent's first wish for one claimant.

    A *concession* is a change of the agent's own proposal, from the first to the last, that brings the claimant's share
    nearer to the first wish of another agent. What the settlement rule does afterwards is no concession, nor what an
    agent proposes after its claims were struck (`last_own`): the agent did not do it. The agent *yielded* if the joint
    share is nearer to another's first wish than its own was, whoever did it.

    Attributes
    ----------
    agent, claimant
        Name and id.
    solo, revised, joint
        Share of the claimant's demand, in [0, 1], that the agent proposed first, that it proposed last, and that was
        decided.
    conceded_to
        Agents to whose first wish the last own proposal is nearer than the first was; empty without a concession.
    yielded_to
        Agents to whose first wish the joint share is nearer than the first proposal was.
    reply
        Kind of the reply that the agent gave on this claimant, the first of several, or None.
    code, passages
        Code of the reason in that reply, and ids of the passages cited; None and empty without a reason.
    void
        Why the reply or its reason does not count, as the protocol judged it; empty if it does, or if there is none.
    """

    agent: str
    patient: str
    solo: float
    revised: float
    joint: float
    conceded_to: tuple[str, ...] = ()
    yielded_to: tuple[str, ...] = ()
    reply: str | None = None
    code: str | None = None
    passages: tuple[str, ...] = ()
    void: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether the joint share differs from what the agent wanted first."""
        return abs(self.joint - self.solo) > EQUAL


def ledger(deliberation: Deliberation) -> tuple[Movement, ...]:
    """Return a line for each agent and claimant that was disputed, moved, or answered; agents, then claimants in order.

    Parameters
    ----------
    deliberation
        A finished deliberation; every agent has a first and a last proposal.
    """
    solo = shares_by_agent(deliberation.solo)
    revised = shares_by_agent(deliberation.revised)
    joint = deliberation.joint.shares
    disputed = disputed_claimants(deliberation)
    lines = []
    for name in solo:
        replies, own = replies_of(deliberation, name), last_own(deliberation, name).shares
        for place, claimant in enumerate(deliberation.scenario.ids):
            before, after, decided = solo[name][place], revised[name][place], joint[place]
            still = abs(after - before) <= EQUAL and abs(decided - before) <= EQUAL
            if still and not disputed[place] and claimant not in replies:
                continue
            others = {other: solo[other][place] for other in solo if other != name}
            lines.append(
                Movement(
                    name, claimant, float(before), float(after), float(decided),
                    nearer(before, own[place], others), nearer(before, decided, others),
                    **_said(replies.get(claimant)),
                )
            )  # fmt: skip
    return tuple(lines)


def last_own(deliberation: Deliberation, agent: str) -> Allocation:
    """Return what an agent proposed last while it decided by all that it sees.

    Its last proposal; but of an agent that was asked again without the protected facts (guard ``strike``), its last one
    before that. What it proposes afterwards is what the environment left it.
    """
    if agent not in deliberation.struck:
        return deliberation.revised[agent].allocation
    said = deliberation.solo[agent]
    for turn in deliberation.turns:
        if turn.agent == agent and isinstance(turn.move, Contestation):
            said = turn.move.revised
    return said.allocation


def shares_by_agent(proposals: Mapping[str, Proposal]) -> dict[str, Values]:
    """Return the shares that each agent proposes, shape (claimant,) each."""
    return {name: proposal.allocation.shares for name, proposal in proposals.items()}


def disputed_claimants(deliberation: Deliberation) -> NDArray[np.bool_]:
    """Return whom the first proposals treat differently, shape (claimant,)."""
    wished = np.array(list(shares_by_agent(deliberation.solo).values()))
    return np.asarray(wished.max(axis=0) - wished.min(axis=0) > EQUAL)


def nearer(before: float, after: float, wishes: Mapping[str, float]) -> tuple[str, ...]:
    """Return the names whose wish `after` is nearer to than `before` was."""
    return tuple(name for name, wish in wishes.items() if abs(after - wish) < abs(before - wish) - EQUAL)


@dataclass(frozen=True)
class Judged:
    """A reply, and why it does not count as the protocol judged it; no faults if it counts."""

    reply: Reply
    void: tuple[str, ...]


def replies_of(deliberation: Deliberation, agent: str) -> dict[str, Judged]:
    """Return the agent's first reply on each claimant it replied on; later ones in the same turn never count."""
    replies: dict[str, Judged] = {}
    for turn in deliberation.turns:
        if turn.agent != agent or not isinstance(turn.move, Contestation):
            continue
        given: dict[str, Judged] = {}
        for place, reply in enumerate(turn.move.replies):
            void = tuple(fault.text for fault in turn.faults if (fault.part, fault.place) == ("reply", place))
            given.setdefault(reply.patient, Judged(reply, void))
        replies |= given
    return replies


def _said(judged: Judged | None) -> dict[str, Any]:
    if judged is None:
        return {}
    reply = judged.reply
    grounds = {} if reply.reason is None else {"code": reply.reason.code, "passages": reply.reason.passages}
    return {"reply": reply.kind, "void": judged.void, **grounds}
