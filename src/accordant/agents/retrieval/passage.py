"""`Passage`, what looks passages up, and whether what an agent cites was ever looked up."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from accordant.errors import InputError


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


def grounding(cited: Collection[str], retrieved: Collection[str]) -> float | None:
    """Return |cited ∩ retrieved| / |cited|, in [0, 1]; None if nothing is cited.

    It says that passages exist and were looked up, not that they support what is said.

    Parameters
    ----------
    cited, retrieved
        Ids of passages; repetitions count once.

    Raises
    ------
    InputError
        If one id is given in place of several.
    """
    distinct = _ids(cited, "cited")
    return len(distinct & _ids(retrieved, "retrieved")) / len(distinct) if distinct else None


def fabricated(cited: Collection[str], retrieved: Collection[str]) -> tuple[str, ...]:
    """Return the ids that are cited and were never looked up, sorted; a move that cites one is void.

    Raises
    ------
    InputError
        If one id is given in place of several.
    """
    return tuple(sorted(_ids(cited, "cited") - _ids(retrieved, "retrieved")))


def _ids(given: Collection[str], name: str) -> frozenset[str]:
    """Return ids as a set; a single text would fall apart into letters."""
    if isinstance(given, str):
        raise InputError(f"{name} is the text {given!r:.60}; allowed: a collection of ids")
    return frozenset(given)
