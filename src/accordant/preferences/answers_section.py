"""The section ``answers``: that somebody was asked about a finished run; how often and with what hash, and not what."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

from accordant import __version__
from accordant.naming import counted
from accordant.sections import Figure, Section, sections

if TYPE_CHECKING:
    from accordant.preferences.interview import Interview


@sections.register("answers")
class AnswersResult(Section):
    """That a stakeholder of a run was asked; the answers themselves stay where whoever asked keeps them.

    Attributes
    ----------
    accordant
        Version of the program.
    stakeholder
        As the case declares it; who answered for it is not held.
    supposed
        How many features the questions supposed.
    questions, cannot_say, equal
        How many were answered now, and how many of them so.
    earlier, records
        Comparisons from before, and those of this interview.
    sha256
        Hash of this interview's comparisons as CSV, as ``--out`` holds them in a new file.
    kind, basis
        What the interview decides, and where outcome frequencies come from.
    best, probability, regret
        What is best for the stakeholder by these answers, how probably, and what is expected to be lost if not.
    stopped
        Why it ended.
    """

    name: ClassVar[str] = "answers"
    version: ClassVar[int] = 1

    accordant: str
    stakeholder: str
    supposed: int
    questions: int
    cannot_say: int
    equal: int
    earlier: int
    records: int
    sha256: str
    kind: str
    basis: str
    best: str
    probability: Figure
    regret: Figure
    stopped: str

    @property
    def words(self) -> str:
        """How often somebody was asked, and what is best by the answers."""
        return (
            f"{self.stakeholder} answered {counted(self.questions, 'question')} "
            f"({counted(self.records, 'comparison')}, sha256 {self.sha256}): by these the best {self.kind} is "
            f"{self.best}, with probability {self.probability:.2f}."
        )


def answers_section(held: Interview) -> AnswersResult:
    """Return that an interview was held."""
    from accordant.preferences.learned_rewards.answer_file import as_csv

    content = held.to_json()
    decision = content["decision"]
    text = as_csv(content["records"], tuple(held.context))
    return AnswersResult(
        accordant=__version__, supposed=len(held.context), records=len(content["records"]),
        sha256=hashlib.sha256(text.encode()).hexdigest(), stopped=str(content["stopped"]),
        **{name: content[name] for name in ("stakeholder", "questions", "cannot_say", "equal", "earlier")},
        **{name: decision[name] for name in ("kind", "basis", "best", "probability", "regret")},
    )  # fmt: skip
