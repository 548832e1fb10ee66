"""The transcript as the page shows it: rounds, turns, reasons, and what does not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from accordant.deliberation.page.reading import Json, OneReading, Taker, share
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
        The reason in the JSON.
    faults
        Why it does not count, as the JSON says.
    """

    content: Json
    faults: tuple[Json, ...]

    @property
    def void(self) -> bool:
        """Whether it does not count."""
        return bool(self.faults)

    @property
    def wrong(self) -> dict[str, str]:
        """Facts and passages that it may not cite, with the reason why not."""
        return {name: WRONG[each["why"]] for each in self.faults if each["why"] in WRONG for name in each["names"]}


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
    """Turns of one step.

    `title`, `turns`: heading, and turns in their order; `note`: what to know about it.
    """

    title: str
    turns: tuple[Said, ...]
    note: str = ""


def rounds(reading: OneReading) -> tuple[Round, ...]:
    """Return the transcript by steps; what was asked for aside stands where it was asked for."""
    record, known = reading.record, _looked_up(reading.record)
    unheard, struck = _asides(record)
    found = [_aside(reading, UNHEARD, unheard, known)] if unheard else []
    contested = max((turn["step"] for turn in record["turns"] if turn["move"] == "contest"), default=None)
    for step, turns in groupby(record["turns"], key=lambda turn: turn["step"]):
        each = tuple(turns)
        word = "Offer" if record["protocol"] == "alternating_offers" else "Round"
        kinds = {turn["move"] for turn in each}
        title = f"{word} {step}" + (f": {ROUNDS[kinds.pop()]}" if len(kinds) == 1 and word == "Round" else "")
        found.append(Round(title, tuple(_said(reading, turn, known) for turn in each)))
        if struck and step == contested:
            found.append(_aside(reading, STRUCK, struck, known))
    return tuple(found)


def _asides(record: Json) -> tuple[list[Json], list[Json]]:
    """Return turns that were asked for aside: first wishes that nobody heard, and proposals after a strike."""
    asides = record.get("asides", [])
    struck = [turn for turn in asides if turn["agent"] in record["struck"] and turn["step"] > 1]
    told = {turn["agent"] for turn in struck}
    silent = {"move": "propose", "step": 2, "void": [], "generated_by": "", "fallback": False}
    struck += [{**each, **silent, "agent": name} for name, each in record["struck"].items() if name not in told]
    return [turn for turn in asides if turn not in struck], struck


def _aside(
    reading: OneReading, words: tuple[str, str], turns: Sequence[Json], known: Mapping[str, frozenset[str]]
) -> Round:
    return Round(words[0], tuple(_said(reading, turn, known) for turn in turns), words[1])


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
    faults = turn.get("faults")

    def grounds(part: str, place: int, reason: Json) -> Grounds:
        """Return a reason with what is wrong with it."""
        if faults is None:  # of a record without them
            return Grounds(reason, _judged(reading, reason, known[turn["agent"]]))
        return Grounds(reason, tuple(each for each in faults if (each["part"], each["place"]) == (part, place)))

    return Said(
        taker=reading.named[turn["agent"]],
        content=turn,
        headline=_headline(turn),
        granted=None if proposal is None else granted(reading, proposal["allocation"]),
        replies=tuple(
            (reply, None if reply["reason"] is None else grounds("reply", place, reply["reason"]))
            for place, reply in enumerate(turn.get("replies", ()))
        ),
        reasons=()
        if proposal is None
        else tuple(grounds("reason", place, reason) for place, reason in enumerate(proposal["reasons"])),
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


def _judged(reading: OneReading, reason: Json, looked_up: frozenset[str]) -> tuple[Json, ...]:
    """Return what is wrong with a reason by the facts that are protected and the passages that were looked up."""
    protected = reading.record["scenario"]["protected"]
    found = {
        "protected_fact": [fact for fact in reason["facts"] if fact in protected],
        "not_looked_up": [passage for passage in reason["passages"] if passage not in looked_up],
    }
    return tuple({"why": why, "names": names} for why, names in found.items() if names)


def _looked_up(record: Json) -> dict[str, frozenset[str]]:
    """Return the passages that were looked up for each agent in any of its turns."""
    found = {each["name"]: frozenset[str]() for each in record["agents"]}
    for turn in record["turns"]:
        proposal = _proposal(turn)
        if proposal is not None:
            found[turn["agent"]] = found[turn["agent"]].union(proposal["retrieved"])
    for name, proposal in record["struck"].items():
        found[name] = found[name].union(proposal["retrieved"])
    return found
