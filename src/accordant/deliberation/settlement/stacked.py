"""`Stacked`: whose offer is on the table, and who stands by it."""

from __future__ import annotations

from dataclasses import dataclass, field


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
