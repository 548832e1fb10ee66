"""`AlternatingOffers`: the agents' concession strategies bargain on, offer by offer, over utilities on the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.agents.concession import Concession, Progress
from accordant.agents.rules.outlook import DIGITS
from accordant.deliberation.record import Settled
from accordant.deliberation.settlement.bargaining import checked_steps
from accordant.deliberation.settlement.settlement import Settlement, Table, register
from accordant.randomness import keyed_uniform

OFFERS = 60  # how many offers there may be until the deadline


@dataclass
class Stacked:
    """The stacked alternating offers protocol (Aydoğan, Festen, Hindriks and Jonker 2017), for any number of agents.

    One offer is on the table. Whoever's turn it is accepts it, or puts another in its place, for which everybody has to
    be asked anew. Everybody's acceptance ends it; the one who made the offer stands by it.

    Parameters
    ----------
    names
        Of the agents.
    proposer
        Who made the offer on the table; None before the first.
    supporters
        Who stands by it.
    """

    names: tuple[str, ...]
    proposer: str | None = None
    supporters: set[str] = field(default_factory=set)

    def put(self, agent: str) -> None:
        """Put an agent's offer on the table."""
        self.proposer, self.supporters = agent, {agent}

    def accept(self, agent: str) -> None:
        """Let an agent stand by the offer on the table."""
        self.supporters.add(agent)

    @property
    def agreed(self) -> bool:
        """Whether everybody stands by the offer on the table."""
        return self.proposer is not None and len(self.supporters) == len(self.names)


@register("alternating_offers")
@dataclass(frozen=True)
class AlternatingOffers(Settlement):
    """Agents take turns: accept the offer on the table, or put another in its place; any concession strategy will do.

    See `Stacked` for several agents. A seeded toss over the names says who begins. At step s of n the time is
    (s − 1) / (n − 1), and an agent's target u(t) is that of its concession strategy, with its utility of the
    disagreement as reservation. It accepts what is at least as good as its own next offer (ACNext of Baarslag, Hindriks
    and Jonker 2014). It offers the option with the lowest own utility that reaches the target; ties go to the option
    closest to the last offer received, in the sum of absolute differences of shares, then to the lowest index. At the
    deadline the disagreement allocation is taken.

    Parameters
    ----------
    steps
        Offers until the deadline, at least 1.
    """

    steps: int = OFFERS

    def __post_init__(self) -> None:
        checked_steps(self.steps)

    def settle(self, table: Table) -> Settled:
        """Return the joint decision; the gap is not known where a search listed the options."""
        gap = 0.0 if table.options.complete else None
        bidders = [Bidder(table, agent) for agent in range(len(table.names))]
        order = np.argsort(keyed_uniform(table.seed, table.names), kind="stable").tolist()
        stack, current = Stacked(table.names), None
        for step in range(1, self.steps + 1):
            time = time_of(step, self.steps)
            agent = order[(step - 1) % len(order)]
            offer = bidders[agent].answer(time, current)
            if offer is None:
                stack.accept(table.names[agent])
            else:
                stack.put(table.names[agent])
                current = offer
                for bidder in bidders:
                    bidder.hear(agent, offer)
            if stack.agreed and current is not None:
                return self.agreed(table, current, time=time, gap=gap, details={"offers": step})
        return self.not_agreed(table, gap=gap, details={"offers": self.steps})


def time_of(step: int, steps: int) -> float:
    """Return the time of a step: 0 at the first, 1 at the last of several."""
    return (step - 1) / max(1, steps - 1)


@dataclass(eq=False)
class Bidder:
    """One agent at the table: what it made and heard, and what it does next.

    `table`: what the rule reads; `agent`: its position.
    """

    table: Table
    agent: int
    made: list[int] = field(default_factory=list)
    heard: dict[int, list[int]] = field(default_factory=dict)
    received: list[int] = field(default_factory=list)

    @cached_property
    def utilities(self) -> NDArray[np.float64]:
        """Its own, scaled and rounded as rule agents round them, so that equals tie, shape (option,)."""
        return np.asarray(np.round(np.clip(self.table.utilities[self.agent], 0.0, 1.0), DIGITS))

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """The different utilities, falling, shape (level,)."""
        return np.unique(self.utilities)[::-1]

    def hear(self, agent: int, offer: int) -> None:
        """Take note of an offer, one's own included."""
        if agent == self.agent:
            self.made.append(offer)
        else:
            self.heard.setdefault(agent, []).append(offer)
            self.received.append(offer)

    def progress(self, time: float) -> Progress:
        """Return what the concession strategy reads."""
        own = self.utilities
        several = len(self.table.names) > 2
        opponents = tuple(tuple(own[offers].tolist()) for offers in self.heard.values()) if several else ()
        return Progress(
            time, tuple(own[self.made].tolist()), tuple(own[self.received].tolist()), len(set(self.received)),
            float(own[self.table.disagreement]), self.levels, opponents,
        )  # fmt: skip

    def answer(self, time: float, current: int | None) -> int | None:
        """Return the option it offers, or None if it accepts the current offer."""
        concession: Concession = self.table.concessions[self.agent]
        own = self.lowest_above(round(concession.target(self.progress(time)), DIGITS))
        if current is not None and self.utilities[current] >= self.utilities[own]:
            return None
        return own

    def lowest_above(self, target: float) -> int:
        """Return the option with the lowest utility that reaches the target, near what was heard last."""
        reached = self.utilities[self.utilities >= min(target, self.utilities.max())]
        tied = np.flatnonzero(self.utilities == reached.min())
        if not self.received:
            return int(tied[0])
        shares = self.table.options.shares
        moved = np.abs(shares[tied] - shares[self.received[-1]]).sum(axis=1)
        return int(tied[np.round(moved, DIGITS).argmin()])
