"""The transcript as the page shows it: rounds, turns, reasons, and what does not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from accordant.agents.moves import Reason, Reply
from accordant.deliberation.page.reading import RecordReading, Taker, share
from accordant.deliberation.result import (
    AnswerTurn,
    AnyTurn,
    BallotTurn,
    ContestationTurn,
    FaultResult,
    ProposalTurn,
    RecordResult,
)
from accordant.naming import listed

SHORT, MANY = 6, 24  # reasons and sentences on what is void, and replies, that a turn shows unfolded
ROUNDS = {
    "propose": "Blind first proposals",
    "contest": "Contestation",
    "answer": "Accept or counter",
    "vote": "Ballots",
}


WRONG = {"protected_fact": "protected", "unseen_fact": "not shown to the agent", "not_looked_up": "never looked up"}
STRUCK = (
    "Struck claims",
    "A reason had cited a protected fact, so the agent was asked again without these facts. This stood instead.",
)
UNHEARD = ("First wishes", "Asked for the record alone: nobody was shown them, and nothing stood.")


@dataclass(frozen=True)
class Grounds:
    """A reason with what is wrong with it.

    Attributes
    ----------
    content
        The reason.
    faults
        Why it does not count.
    """

    content: Reason
    faults: tuple[FaultResult, ...]

    @property
    def void(self) -> bool:
        """Whether it does not count."""
        return bool(self.faults)

    @property
    def wrong(self) -> dict[str, str]:
        """Facts and passages that it may not cite, with the reason why not."""
        return {name: WRONG[fault.why] for fault in self.faults if fault.why in WRONG for name in fault.names}


@dataclass(frozen=True)
class Said:
    """One turn.

    Attributes
    ----------
    taker
        Whose.
    content
        The turn.
    headline
        The move in words.
    granted
        Patients with what they get in the proposal of the turn; None if it holds none.
    replies
        Reply with its reason, or None, for each disputed patient.
    reasons
        Of the proposal.
    """

    taker: Taker
    content: AnyTurn
    headline: str
    granted: str | None
    replies: tuple[tuple[Reply, Grounds | None], ...]
    reasons: tuple[Grounds, ...]

    @property
    def kinds(self) -> str:
        """How many replies there are of each kind, in words."""
        counted = Counter(reply.kind for reply, _ in self.replies)
        return listed([f"{count} {kind}" for kind, count in sorted(counted.items())])

    @property
    def label(self) -> str:
        """What the proposal is: who accepts another's says what it would do otherwise."""
        accepts = isinstance(self.content, AnswerTurn) and self.content.accepts is not None
        return "Otherwise it would grant" if accepts else "Grants"


@dataclass(frozen=True)
class Round:
    """Turns of one step.

    `title`, `turns`: heading, and turns in their order; `note`: what to know about it.
    """

    title: str
    turns: tuple[Said, ...]
    note: str = ""


def rounds(reading: RecordReading) -> tuple[Round, ...]:
    """Return the transcript by steps; what was asked for aside stands where it was asked for."""
    record = reading.record
    unheard, struck = _asides(record)
    shown = [_aside(reading, UNHEARD, unheard)] if unheard else []
    contested = max((turn.step for turn in record.turns if turn.move == "contest"), default=None)
    for step, group in groupby(record.turns, key=lambda turn: turn.step):
        turns = tuple(group)
        word = "Offer" if record.protocol == "alternating_offers" else "Round"
        kinds = {turn.move for turn in turns}
        title = f"{word} {step}" + (f": {ROUNDS[kinds.pop()]}" if len(kinds) == 1 and word == "Round" else "")
        shown.append(Round(title, tuple(_said(reading, turn) for turn in turns)))
        if struck and step == contested:
            shown.append(_aside(reading, STRUCK, struck))
    return tuple(shown)


def _asides(record: RecordResult) -> tuple[list[ProposalTurn], list[ProposalTurn]]:
    """Return turns that were asked for aside: first wishes that nobody heard, and proposals after a strike."""
    struck = [turn for turn in record.asides if turn.agent in record.struck and turn.step > 1]
    return [turn for turn in record.asides if turn not in struck], struck


def _aside(reading: RecordReading, words: tuple[str, str], turns: Sequence[ProposalTurn]) -> Round:
    return Round(words[0], tuple(_said(reading, turn) for turn in turns), words[1])


def granted(reading: RecordReading, allocation: Mapping[str, Mapping[str, float]]) -> str:
    """Return who gets what in words: ids alone where everybody gets one unit of the only resource."""
    resources = reading.record.scenario.resources
    if not allocation:
        return "nobody"
    if len(resources) == 1 and all(amounts == {resources[0].name: 1.0} for amounts in allocation.values()):
        return ", ".join(allocation)
    return ", ".join(
        f"{patient} ({', '.join(f'{share(units)} {name}' for name, units in amounts.items())})"
        for patient, amounts in allocation.items()
    )


def _said(reading: RecordReading, turn: AnyTurn) -> Said:
    def grounds(part: str, place: int, reason: Reason) -> Grounds:
        """Return a reason with what is wrong with it."""
        return Grounds(reason, tuple(fault for fault in turn.faults if (fault.part, fault.place) == (part, place)))

    proposal = None if isinstance(turn, BallotTurn) else turn.proposal
    return Said(
        taker=reading.named[turn.agent],
        content=turn,
        headline=_headline(turn),
        granted=None if proposal is None else granted(reading, proposal.allocation),
        replies=tuple(
            (reply, None if reply.reason is None else grounds("reply", place, reply.reason))
            for place, reply in enumerate(turn.replies if isinstance(turn, ContestationTurn) else ())
        ),
        reasons=tuple(
            grounds("reason", place, reason) for place, reason in enumerate(proposal.reasons if proposal else ())
        ),
    )


def _headline(turn: AnyTurn) -> str:
    if isinstance(turn, ProposalTurn):
        return "proposes"
    if isinstance(turn, ContestationTurn):
        return "replies, and revises its proposal"
    if isinstance(turn, AnswerTurn):
        return "counters" if turn.accepts is None else f"accepts the proposal of {turn.accepts}"
    return f"ranks the candidates {', '.join(str(place + 1) for place in turn.ranking)}, best first"
