"""`Corpus`: passages that agents may cite, each under an id of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property

from accordant.agents.retrieval.passage import Passage
from accordant.errors import InputError, UnknownNameError


@dataclass(frozen=True)
class Corpus:
    """Passages, kept sorted by id, so that nothing depends on the order of files or lists.

    Parameters
    ----------
    passages
        May be empty: then nothing is found and nothing can be cited.

    Raises
    ------
    InputError
        If two passages have the same id, or one has no id, framework or claim.
    """

    passages: tuple[Passage, ...] = ()

    def __init__(self, passages: Iterable[Passage] = ()) -> None:
        object.__setattr__(self, "passages", tuple(sorted(passages, key=lambda passage: passage.id)))
        for passage in self.passages:
            for name in ("id", "framework", "claim"):
                if not getattr(passage, name).strip():
                    raise InputError(f"passage {passage.id!r} has no {name}; allowed: some text")
        for first, second in zip(self.passages, self.passages[1:], strict=False):
            if first.id == second.id:
                raise InputError(
                    f"two passages have the id {first.id!r}: {first.claim!r:.60} and {second.claim!r:.60}; "
                    "allowed: each id once"
                )

    def __len__(self) -> int:
        return len(self.passages)

    @cached_property
    def frameworks(self) -> tuple[str, ...]:
        """Names of the frameworks that have passages, sorted."""
        return tuple(sorted({passage.framework for passage in self.passages}))

    @cached_property
    def hash(self) -> str:
        """Content hash (sha256, hexadecimal) of all passages; does not depend on the order of files."""
        content = json.dumps([asdict(passage) for passage in self.passages], ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def of(self, framework: str) -> tuple[Passage, ...]:
        """Return the passages of one framework, sorted by id; empty if it has none."""
        return tuple(passage for passage in self.passages if passage.framework == framework)

    def passage(self, id: str) -> Passage:  # noqa: A002 - passages are known by their id
        """Return one passage.

        Raises
        ------
        UnknownNameError
            If no passage has that id.
        """
        for passage in self.passages:
            if passage.id == id:
                return passage
        raise UnknownNameError("passage", id, [passage.id for passage in self.passages])

    def extended(self, other: Corpus) -> Corpus:
        """Return a corpus with the passages of both.

        Raises
        ------
        InputError
            If an id occurs in both: a citation must name one passage.
        """
        return Corpus((*self.passages, *other.passages))
