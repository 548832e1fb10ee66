"""What `certify` and `explain` are asked about: a run, rows, and where the answer goes."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from accordant.runs.chain import add_section, check_addable
from accordant.runs.folder import Run
from accordant.runs.opened_run import open_run
from accordant.runs.sections.rows import RowsPart
from accordant.runs.untouched_rows import inputs_of
from accordant.sections import Section
from accordant.tables.output import is_run, is_standard_output
from accordant.terminal import check_out, say


@dataclass(frozen=True)
class RowQuery:
    """A run and the rows that are asked about.

    Attributes
    ----------
    run
        The run.
    source
        A file with rows, or a stream; None for the untouched rows.
    data
        Data file or folder of the run; None for the usual places.
    silent
        Whether standard output is for a result alone.
    """

    run: Run
    source: str | IO[str] | None
    data: str | None
    silent: bool

    def rows(self, origin: str, n: int) -> RowsPart:
        """Return which rows they are, for a section; `origin`: where they come from, in words."""
        return RowsPart.of(self.run, self.source, origin, n)

    def add(self, section: Section) -> None:
        """Add a section to the run, and say so."""
        say(add_section(self.run.manifest, section).receipt, err=self.silent)


def row_query(
    run: str, file: str | None, data: str | None, out: Path | None, *, add: bool, json: bool
) -> RowQuery:  # fmt: skip
    """Open a run, or make it of a case first; whatever can be refused is refused before that work.

    Parameters
    ----------
    run
        A run folder or a case.
    file, data, out, json
        As the command was given them.
    add
        Whether the answer is to be added to the run.

    Raises
    ------
    InputError
        If something cannot be used, or nothing can be added to the run.
    """
    check_out(out, (run, file, data), json=json)
    if add and is_run(run):
        check_addable(Path(run))
    opened = open_run(run, data=data)
    data = opened.data_for(file)
    check_out(out, inputs_of(opened.run, file, data), json=json)
    source = sys.stdin if file == "-" else file
    return RowQuery(opened.run, source, data, json or is_standard_output(out))
