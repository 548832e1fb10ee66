"""A file of answers that an interview adds to, and what one line of it says.

Interviews write CSV with a header, one comparison per line: ``user_id`` (the stakeholder), ``chosen_action``,
``chosen_outcome``, ``rejected_action``, ``rejected_outcome``, and one column per context feature if the questions
supposed a context. A column ``weight`` that somebody added is kept: a record of weight 0 does not count, any other
counts as one answer, and new ones weigh 1.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from accordant.cases.spec import CaseSpec
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences.learned_rewards.answers import CELLS, USER, WEIGHT
from accordant.tables.output import append_lines, check_output, write_output
from accordant.tables.text import csv_text, finite_number, read_cell, read_text

COMPRESSED = (".gz", ".bz2", ".xz", ".zip", ".zst")
COLUMNS = (USER, *CELLS)


@dataclass(frozen=True, order=True)
class Cell:
    """An action followed by an outcome."""

    action: str
    outcome: str

    def __str__(self) -> str:
        return f"{self.action}, then {self.outcome}"


@dataclass(frozen=True)
class Preferred:
    """One cell preferred to another."""

    chosen: Cell
    rejected: Cell

    def row(self, stakeholder: str, context: Mapping[str, str]) -> dict[str, str]:
        """Return the record as a line of the file, by column."""
        cells = (self.chosen.action, self.chosen.outcome, self.rejected.action, self.rejected.outcome)
        return dict(zip(COLUMNS, (stakeholder, *cells), strict=True)) | dict(context)


class AnswerFile:
    """A file of answers that is added to line by line, so that an interview that breaks off loses nothing.

    Parameters
    ----------
    path
        The file; made with its header if it does not exist.
    context
        Names of the context features.

    Raises
    ------
    DataError
        If it exists and has other columns, or is no CSV file.
    InputError
        If it cannot be read or written, or is a compressed file by its name.
    """

    def __init__(self, path: Path, context: Sequence[str] = ()) -> None:
        self.path, self.columns = path, (*COLUMNS, *context)
        self._rows: list[dict[str, str]] = []
        if path.suffix.lower() in COMPRESSED:
            raise InputError(f"answers are added line by line to plain text; found {path.name}; allowed: a .csv file")
        check_output(path)
        try:
            text = read_text(path, empty=True) if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"answers cannot be added to {path}: {getattr(error, 'strerror', error)}") from None
        if text:
            self._read(text)
        else:
            write_output(path, csv_text(self.columns, ()))

    def earlier(self, stakeholder: str, context: Mapping[str, str], cells: Sequence[Cell]) -> list[Preferred]:
        """Return what the stakeholder preferred in the same context before.

        Raises
        ------
        DataError
            If a record names an unknown action or outcome, or compares a cell with itself.
        """
        records = []
        for number, row in enumerate(self._rows, start=1):
            asked = _weighs(row) and row[USER] == stakeholder
            if not asked or any(not _same(row[name], context[name]) for name in context):
                continue
            chosen = Cell(row["chosen_action"], row["chosen_outcome"])
            rejected = Cell(row["rejected_action"], row["rejected_outcome"])
            for cell in (chosen, rejected):
                if cell not in cells:
                    problem = UnknownNameError("action and outcome", str(cell), map(str, cells))
                    raise DataError(f"{self.path}, record {number}: {problem}")
            if chosen == rejected:
                raise DataError(f"{self.path}, record {number} compares {chosen} with itself")
            records.append(Preferred(chosen, rejected))
        return records

    def add(self, rows: Sequence[Mapping[str, str]]) -> None:
        """Write some records to the end of the file.

        Raises
        ------
        InputError
            If the file cannot be written any more.
        """
        append_lines(self.path, "".join(csv_text([row.get(name, "1") for name in self.columns], ()) for row in rows))

    def _read(self, text: str) -> None:
        if not text.endswith(("\n", "\r")):
            raise DataError(
                f"{self.path}, line {len(text.splitlines())} has no end and may be torn; end it, or take it away"
            )
        try:
            lines = [[read_cell(cell.strip()) for cell in line] for line in csv.reader(StringIO(text, newline=""))]
        except csv.Error as error:
            raise DataError(f"{self.path} cannot be read as CSV: {error}") from None
        header = tuple(lines[0]) if lines else ()
        if tuple(name for name in header if name != WEIGHT) != self.columns or header.count(WEIGHT) > 1:
            raise DataError(
                f"{self.path} has the columns {', '.join(header) or 'none'}; allowed: {', '.join(self.columns)}, in "
                f"this order, and {WEIGHT}"
            )
        self.columns = header
        for number, line in enumerate(filter(any, lines[1:]), start=1):
            if len(line) != len(header):
                raise DataError(f"{self.path}, record {number} has {len(line)} values; allowed: {len(header)}")
            row = dict(zip(header, line, strict=True))
            weight = finite_number(row.get(WEIGHT, "1"))
            if weight is None or weight < 0:
                raise DataError(f"{self.path}, record {number} has weight {row[WEIGHT]!r}; allowed: at least 0")
            self._rows.append(row)


def as_csv(rows: Sequence[Mapping[str, str]], context: Sequence[str] = ()) -> str:
    """Return records as the text of a file."""
    columns = (*COLUMNS, *context)
    return csv_text(columns, ([row[name] for name in columns] for row in rows))


def checked_context(case: CaseSpec, context: Mapping[str, str]) -> None:
    """Make sure that a context names features of the case with numbers, or sensitive attributes.

    Raises
    ------
    UnknownNameError
        If a name is neither.
    InputError
        If a feature is no finite number.
    """
    attributes = [attribute.name for attribute in case.problem.sensitive_attributes]
    allowed = dict.fromkeys([*case.data.features, *attributes])
    for name, value in context.items():
        if name not in allowed:
            raise UnknownNameError("context feature", name, allowed)
        if name in case.data.features and finite_number(value) is None:
            raise InputError(f"context feature {name!r} is {value!r}; allowed: a finite number")


def _weighs(row: Mapping[str, str]) -> bool:
    """Whether a record has a weight above 0."""
    return bool(finite_number(row.get(WEIGHT, "1")))


def _same(one: str, other: str) -> bool:
    """Whether two values are the same text or the same number."""
    first, second = finite_number(one), finite_number(other)
    return one == other or (first is not None and first == second)
