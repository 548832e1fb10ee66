"""The transcript as the page shows it: rounds, turns, reasons, and what does not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from accordant.report.deliberated.reading import Json, OneReading, Taker, share
from accordant.report.scale import listed

SHORT, MANY = 6, 24  # reasons and sentences on what is void, and replies, that a turn shows unfolded
ROUNDS = {
    "propose": "Blind first proposals",
    "contest": "Contestation",
    "answer": "Accept or counter",
    "vote": "Ballots",
}


@dataclass(frozen=True)
class Grounds:
    """A reason with what is wrong with it.

    Attributes
    ----------
    content
        The reason in the JSON.
    protected
        Facts it names that no admissible reason may cite.
    invented
        Passages it cites that were never looked up for the agent.
    """

    content: Json
    protected: tuple[str, ...]
    invented: tuple[str, ...]

    @property
    def void(self) -> bool:
        """Whether it cites what it may not."""
        return bool(self.protected or self.invented)


@dataclass(frozen=True)
class Said:
    """One turn.

    Attributes
    ----------
    taker
        Whose.
    content
        The turn in the JSON.
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
    content: Json
    headline: str
    granted: str | None
    replies: tuple[tuple[Json, Grounds | None], ...]
    reasons: tuple[Grounds, ...]

    @property
    def kinds(self) -> str:
        """How many replies there are of each kind, in words."""
        counted = Counter(reply["kind"] for reply, _ in self.replies)
        return listed([f"{count} {kind}" for kind, count in sorted(counted.items())])

    @property
    def label(self) -> str:
        """What the proposal is: who accepts another's says what it would do otherwise."""
        return "Grants" if self.content.get("accepts") is None else "Otherwise it would grant"


@dataclass(frozen=True)
class Round:
    """Turns of one step."""

    step: int
    title: str
    turns: tuple[Said, ...]


def rounds(reading: OneReading) -> tuple[Round, ...]:
    """Return the transcript by steps."""
    found, known = [], _looked_up(reading.record["turns"])
    for step, turns in groupby(reading.record["turns"], key=lambda turn: turn["step"]):
        each = tuple(turns)
        word = "Offer" if reading.record["protocol"] == "alternating_offers" else "Round"
        kinds = {turn["move"] for turn in each}
        title = f"{word} {step}" + (f": {ROUNDS[kinds.pop()]}" if len(kinds) == 1 and word == "Round" else "")
        found.append(Round(step, title, tuple(_said(reading, turn, known) for turn in each)))
    return tuple(found)


def granted(reading: OneReading, allocation: Mapping[str, Mapping[str, float]]) -> str:
    """Return who gets what in words: ids alone where everybody gets one unit of the only resource."""
    resources = reading.record["scenario"]["resources"]
    if not allocation:
        return "nobody"
    if len(resources) == 1 and all(amounts == {resources[0]["name"]: 1.0} for amounts in allocation.values()):
        return ", ".join(allocation)
    return ", ".join(
        f"{patient} ({', '.join(f'{share(units)} {name}' for name, units in amounts.items())})"
        for patient, amounts in allocation.items()
    )


def _said(reading: OneReading, turn: Json, known: Mapping[str, frozenset[str]]) -> Said:
    proposal = _proposal(turn)
    protected, looked_up = reading.record["scenario"]["protected"], known[turn["agent"]]

    def grounds(reason: Json) -> Grounds:
        """Return a reason with what is wrong with it."""
        return Grounds(
            reason,
            tuple(fact for fact in reason["facts"] if fact in protected),
            tuple(passage for passage in reason["passages"] if passage not in looked_up),
        )

    return Said(
        taker=reading.named[turn["agent"]],
        content=turn,
        headline=_headline(turn),
        granted=None if proposal is None else granted(reading, proposal["allocation"]),
        replies=tuple(
            (reply, None if reply["reason"] is None else grounds(reply["reason"])) for reply in turn.get("replies", ())
        ),
        reasons=() if proposal is None else tuple(map(grounds, proposal["reasons"])),
    )


def _headline(turn: Json) -> str:
    move = turn["move"]
    if move == "propose":
        return "proposes"
    if move == "contest":
        return "replies, and revises its proposal"
    if move == "answer":
        accepted = turn["accepts"]
        return "counters" if accepted is None else f"accepts the proposal of {accepted}"
    return f"ranks the candidates {', '.join(str(place + 1) for place in turn['ranking'])}, best first"


def _proposal(turn: Json) -> Json | None:
    """Return the proposal that a turn holds, or None for a ballot."""
    if turn["move"] == "propose":
        return turn
    found: Json | None = turn.get("revised") or turn.get("counter")
    return found


def _looked_up(turns: Sequence[Json]) -> dict[str, frozenset[str]]:
    """Return the passages that were looked up for each agent in any of its turns."""
    found: dict[str, frozenset[str]] = {}
    for turn in turns:
        proposal = _proposal(turn)
        ids = () if proposal is None else proposal["retrieved"]
        found[turn["agent"]] = found.get(turn["agent"], frozenset()).union(ids)
    return found
