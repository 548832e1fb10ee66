"""What sections that commands of the spine add to a run have in common: which rows they are about."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from accordant.runs.folder import Run
from accordant.sections import Part
from accordant.tables.text import file_hash


class RowsPart(Part):
    """Which rows a section is about.

    Attributes
    ----------
    words
        Where they come from, such as ``the 48 untouched rows of the run``; a file by its name, without folders.
    file
        Name of the file; ``-`` for standard input, None for untouched rows of the run.
    sha256
        Hash of the file, or of the data of the run; None for standard input and for simulated data.
    n
        How many rows.
    """

    words: str
    file: str | None
    sha256: str | None
    n: int

    @classmethod
    def of(cls, run: Run, source: str | Path | IO[str] | None, origin: str, n: int) -> RowsPart:
        """Return it for the rows that `accordant.runs.untouched_rows.contexts_of` found, with its words."""
        if source is None:
            return cls(words=origin.replace(str(run.path), "the run"), file=None, sha256=run.record.data.sha256, n=n)
        if not isinstance(source, str | Path):
            return cls(words=origin, file="-", sha256=None, n=n)
        name = Path(source).name
        return cls(words=origin.replace(str(source), name), file=name, sha256=file_hash(source), n=n)
