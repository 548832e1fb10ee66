"""`Deliberation`: what a deliberation decided and how, as one object that everything else reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from accordant.agents import Agent, Proposal, Turn
from accordant.allocations import Allocation, Scenario, Utility
from accordant.allocations.allocation import Options
from accordant.json_values import field_values

DISCLAIMER = "A simulation for studying procedures; not clinical decision support."


@dataclass(frozen=True)
class Settled:
    """How the joint decision was fixed.

    Attributes
    ----------
    rule
        Name of the settlement rule; ``agreement`` if all proposals were the same or all accepted one.
    allocation
        The joint decision.
    agreed
        Whether the agents agreed; False if the disagreement allocation was taken.
    time
        When the rule found it, in [0, 1]; None if the rule knows no time.
    tied
        Whether another allocation was as good by the rule and a tie-break decided.
    gap
        By how much the best allocation could be better by the rule's own objective, in the rule's units; 0 if all
        feasible allocations were compared, None if no bound is known, or nothing was found and it is not certain that
        nothing exists.
    details
        What else the rule says, as JSON values.
    """

    rule: str
    allocation: Allocation
    agreed: bool
    time: float | None = None
    tied: bool = False
    gap: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    to_json = field_values


@dataclass(frozen=True, eq=False)
class Deliberation:
    """A finished deliberation.

    Attributes
    ----------
    protocol
        ``debate``, ``alternating_offers``, ``mediated`` or ``voting``.
    scenario
        With all facts.
    agents
        In their order.
    seed
        Of everything random.
    turns
        Every move in order.
    solo, revised
        Agent to what it wants alone, and to its last proposal.
    settled
        The joint decision and how it was fixed.
    utilities
        Agent to the utility that settlement used.
    commitments
        Agent to the hash of its blind first proposal, taken before any proposal was opened.
    disagreement
        What would have happened without an agreement; None if the protocol always decides.
    procedure
        What was declared beforehand, as JSON values: settlement rule, criteria, guard, disagreement, options.
    struck
        Agent to the proposal that it was asked for without the protected facts, after a reason of it had cited one.
    asides
        Moves that agents were asked for and that are no turn, because nobody is shown them: what they want alone in
        alternating offers, and proposals without the protected facts.
    repairs
        How often language models had to be told what was wrong with a move.
    options
        The allocations that were compared; not part of the JSON, where their number stands.
    """

    protocol: str
    scenario: Scenario
    agents: tuple[Agent, ...]
    seed: int
    turns: tuple[Turn, ...]
    solo: Mapping[str, Proposal]
    revised: Mapping[str, Proposal]
    settled: Settled
    utilities: Mapping[str, Utility]
    commitments: Mapping[str, str] = field(default_factory=dict)
    disagreement: Allocation | None = None
    procedure: Mapping[str, Any] = field(default_factory=dict)
    struck: Mapping[str, Proposal] = field(default_factory=dict)
    asides: tuple[Turn, ...] = ()
    repairs: int = 0
    options: Options | None = None

    @property
    def joint(self) -> Allocation:
        """The joint decision."""
        return self.settled.allocation

    @property
    def adversaries(self) -> tuple[str, ...]:
        """Names of the adversarial agents that took part."""
        return tuple(agent.name for agent in self.agents if agent.adversarial)

    @property
    def fallbacks(self) -> int:
        """How many moves a rule made in place of a language model that gave no valid one; of `asked`."""
        return sum(turn.fallback for turn in self.asked)

    @property
    def asked(self) -> tuple[Turn, ...]:
        """Every move that an agent was asked for: turns, then asides."""
        return (*self.turns, *self.asides)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "protocol": self.protocol,
            "disclaimer": DISCLAIMER,
            "seed": self.seed,
            "scenario": self.scenario.to_json(),
            "agents": [agent.to_json() for agent in self.agents],
            "adversarial": list(self.adversaries),
            "procedure": dict(self.procedure),
            "commitments": dict(self.commitments),
            "turns": [turn.to_json() for turn in self.turns],
            "solo": {name: proposal.allocation.to_json() for name, proposal in self.solo.items()},
            "revised": {name: proposal.allocation.to_json() for name, proposal in self.revised.items()},
            "struck": {name: proposal.to_json() for name, proposal in self.struck.items()},
            "asides": [turn.to_json() for turn in self.asides],
            "disagreement": None if self.disagreement is None else self.disagreement.to_json(),
            "settled": self.settled.to_json(),
            "fallbacks": self.fallbacks,
            "repairs": self.repairs,
        }

    @cached_property
    def hash(self) -> str:
        """Hash of the canonical JSON (sha256, hexadecimal): the same seed gives the same hash."""
        return hashlib.sha256(canonical(self.to_json()).encode()).hexdigest()


def canonical(value: Any) -> str:
    """Return canonical JSON: sorted keys, no blanks, no NaN."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
