"""`Passage`, and what looks passages up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Passage:
    """A short text that agents may cite.

    Parameters
    ----------
    id
        Unique in a corpus, such as ``rawlsian-3``.
    framework
        Name of the framework it belongs to.
    claim, implication
        What it says, and what follows for a decision.
    source
        Where the thought comes from: author, work, year.
    codes
        Codes of the reasons that it supports, see `accordant.agents.moves.Reason`; empty for any.
    """

    id: str
    framework: str
    claim: str
    implication: str
    source: str = ""
    codes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is searched."""
        return f"{self.claim} {self.implication}"


@dataclass(frozen=True)
class Hit:
    """A passage that was looked up, with its score; higher is nearer, scores of one query can be compared."""

    passage: Passage
    score: float


class Retriever(Protocol):
    """Anything that looks passages up."""

    def search(self, query: str, *, framework: str | None = None, k: int = 3) -> tuple[Hit, ...]:
        """Return at most `k` passages, best first; of one framework only if that is named; ties by id."""
        ...
