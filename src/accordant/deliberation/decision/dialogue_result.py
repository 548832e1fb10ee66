"""What came of dialogues on a run's decision, typed: the section that is added to the run."""

from __future__ import annotations

from typing import ClassVar, Literal

from accordant.deliberation.decision.result import DebatedRow, TalkOnDecision
from accordant.naming import listed
from accordant.sections import Part, sections

DIALOGUE_DISCLAIMER = (
    "A dialogue on expected rewards that models predict: who speaks follows a rule, unless it is a person. "
    "That a rule accepts a decision does not say that anybody affected would."
)


class Said(Part):
    """One move.

    Attributes
    ----------
    time
        Its number, from 1.
    speaker
        The stakeholder that asks, or the strategy that answers.
    locution
        ``query``, ``support``, ``refute``, ``concede``, ``agree_to_disagree`` or ``understand``.
    words
        What is said, in words.
    because
        For arguments: their premises in words.
    gives_up
        What the speaker no longer holds after this move, in words.
    formula
        What is said in the calculus, with its premises.
    target
        Number of the move that it replies to.
    """

    time: int
    speaker: str
    locution: Literal["query", "support", "refute", "concede", "agree_to_disagree", "understand"]
    words: str
    because: tuple[str, ...]
    gives_up: tuple[str, ...]
    formula: str
    target: int | None


class HeldDialogue(Part):
    """The dialogue with one stakeholder.

    Attributes
    ----------
    who, policy
        The stakeholder that asks, and how it speaks.
    other
        The action that it asks about: its favourite, or what came closest if the decision is that.
    moves
        What was said.
    understood
        Whether it ends with understanding; if not, the question is open.
    ending, outcomes
        How the dialogue ended, and all outcomes, as `accordant.deliberation.dialogue` names them.
    known_before, known_after, reasons
        How many of the reasons who asks knew before, knows after, and how many there are.
    unknown
        Reasons that are not known or not accepted after the dialogue, in words.
    would_change
        What would have changed the decision, as far as it concerns who asks, in sentences.
    words
        Formula to what it means.
    hash
        Of the dialogue with all bases (sha256, hexadecimal).
    """

    who: str
    policy: str
    other: str
    moves: tuple[Said, ...]
    understood: bool
    ending: Literal["understood", "agree_to_disagree", "exhausted", "truncated"]
    outcomes: tuple[str, ...]
    known_before: int
    known_after: int
    reasons: int
    unknown: tuple[str, ...]
    would_change: tuple[str, ...]
    words: dict[str, str]
    hash: str

    @property
    def outcome(self) -> str:
        """How it ended, in a few words."""
        return "understood" if self.understood else "open"


@sections.register("decision_dialogue")
class DecisionDialogue(TalkOnDecision):
    """Dialogues on why a run decides as it does for one row.

    Attributes
    ----------
    row
        What the run says of the row; `settled` is the action that is explained.
    dialogues
        One with each stakeholder that asks.
    would_change
        What else would have changed the decision, in sentences: what concerns everybody, and the nearest contexts.
    warnings
        Sentences that a reader must see.
    """

    name: ClassVar[str] = "decision_dialogue"
    version: ClassVar[int] = 1

    row: DebatedRow
    dialogues: tuple[HeldDialogue, ...]
    would_change: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def subject(self) -> str:
        """What was asked about, such as ``Row 3 of the untouched rows of the run``."""
        return f"Row {self.row.row} of {self.source}"

    @property
    def outcome(self) -> str:
        """Who understands, and for whom the question is open."""
        ends = {
            word: [dialogue.who for dialogue in self.dialogues if dialogue.outcome == word]
            for word in ("understood", "open")
        }
        said = {"understood": "understood by", "open": "open for"}
        return "; ".join(f"{said[word]} {listed(names)}" for word, names in ends.items() if names)

    @property
    def words(self) -> str:
        """What was asked and what came of it, in one sentence."""
        return f"{self.subject}: why {self.row.settled} ({self.run.selected})? {self.outcome}."
