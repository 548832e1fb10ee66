"""The moves of agents. Only these typed fields change the state of a deliberation; texts are for reading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from accordant.allocations import Allocation, Utility
from accordant.json_values import field_values

CONSIDERATIONS = (
    "benefit", "severity", "worst_off", "equal_chance", "arrival", "dependency", "right_to_rescue", "threshold",
)  # fmt: skip
"""Codes of reasons that passages can support; ``group``, ``habit`` and ``stated`` are codes without passages."""

CODES = (*CONSIDERATIONS, "group", "habit", "stated")
"""Codes that reasons may have; a framework may bring its own."""

Answering = Literal["challenge", "justify", "concede", "revise", "maintain"]
WITH_REASON = ("challenge", "justify")  # answers that need one


@dataclass(frozen=True)
class Reason:
    """Why a claimant is put first.

    Parameters
    ----------
    claimant
        Id.
    code
        Which consideration: one of `CODES`, or a framework's own.
    facts
        Names of the facts that the consideration reads. A protected one makes the reason inadmissible, and so does
        one that the agent was not shown.
    passages
        Ids of the passages cited.
    text
        For reading: a template over numbers and ids, or what a model or a person wrote.
    """

    patient: str
    code: str
    facts: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    text: str = ""

    to_json = field_values


@dataclass(frozen=True)
class Proposal:
    """An allocation that an agent puts forward, and how much it says it likes any other.

    Parameters
    ----------
    allocation
        What is proposed.
    utility
        What settlement takes as the agent's utility.
    reasons
        At most one for each claimant.
    retrieved
        Ids of the passages that were looked up for the reasons, as the agent declares them; a citation outside them is
        void. Agents of this package fill it from what their retriever found.
    """

    allocation: Allocation
    utility: Utility
    reasons: tuple[Reason, ...] = ()
    retrieved: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {"move": "propose"} | field_values(self)


@dataclass(frozen=True)
class Reply:
    """What an agent says about one disputed claimant.

    Parameters
    ----------
    claimant
        Id.
    kind
        ``challenge`` another's claim, ``justify`` one's own, ``concede`` the claimant to the others, ``revise``
        one's own claim otherwise, or ``maintain`` it without a reason.
    reason
        Needed by ``challenge`` and ``justify``.
    """

    patient: str
    kind: Answering
    reason: Reason | None = None

    to_json = field_values


@dataclass(frozen=True)
class Contestation:
    """Replies on the disputed claimants, then a revised proposal."""

    replies: tuple[Reply, ...]
    revised: Proposal

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {"move": "contest"} | field_values(self)


@dataclass(frozen=True)
class Answer:
    """Accept another agent's standing proposal, or counter it.

    Parameters
    ----------
    accepts
        Name of the agent whose standing proposal is accepted; None to counter.
    counter
        One's own proposal; always given, so that a refusal says what would do instead.
    """

    accepts: str | None
    counter: Proposal

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {"move": "answer"} | field_values(self)


@dataclass(frozen=True)
class Ballot:
    """A ranking of the candidates on the table, best first; all of them, each once.

    Parameters
    ----------
    ranking
        Positions in ``view.candidates``.
    """

    ranking: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {"move": "vote"} | field_values(self)


Move = Proposal | Contestation | Answer | Ballot


def proposal_in(move: Move) -> Proposal | None:
    """Return the proposal that a move makes, or None for a ballot."""
    if isinstance(move, Proposal):
        return move
    if isinstance(move, Contestation):
        return move.revised
    return move.counter if isinstance(move, Answer) else None


Why = Literal[
    "protected_fact", "unseen_fact", "no_patient", "not_looked_up", "second", "other_patient", "not_disputed",
    "no_reason", "no_reply",
]  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a part of a move; a part with a fault does not count.

    Parameters
    ----------
    text
        For reading.
    why
        ``protected_fact`` or ``unseen_fact``: a reason cites it; ``no_patient``: a reason on nobody in the scenario;
        ``not_looked_up``: a reason cites such passages; ``second``: on the same claimant as an earlier part;
        ``other_patient``: the reason of a reply is on somebody else; ``not_disputed``: a reply on somebody who is not;
        ``no_reason``: the reply needs one; ``no_reply`` on a disputed claimant, which counts as ``maintain``.
    part
        ``reason`` of the proposal, or ``reply``; None where a part is missing.
    place
        Position among ``Proposal.reasons`` or ``Contestation.replies``, from 0; None where a part is missing.
    names
        The facts or passages that may not be cited.
    """

    text: str
    why: Why
    part: Literal["reason", "reply"] | None = None
    place: int | None = None
    names: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return everything but the text as JSON values; texts stand under ``void``."""
        return field_values(self, without=("text",))


@dataclass(frozen=True)
class Turn:
    """One move as it stands in a transcript.

    Parameters
    ----------
    step
        Round of a debate, or number of the offer, from 1.
    agent
        Name.
    move
        What was done.
    generated_by
        ``template``, ``model NAME`` or ``person``: who wrote the texts.
    faults
        What is wrong with parts of the move; judged once, when the move was made. In a view, others' turns have none.
    fallback
        Whether a rule stood in for a language model that gave no valid move.
    """

    step: int
    agent: str
    move: Move
    generated_by: str = "template"
    faults: tuple[Fault, ...] = ()
    fallback: bool = False

    @property
    def void(self) -> tuple[str, ...]:
        """Why parts of the move do not count, for reading."""
        return tuple(fault.text for fault in self.faults)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return field_values(self, without=("move",)) | {"void": list(self.void)} | self.move.to_json()
