"""The three tables of a file of Pabulib: their columns and rows with line numbers, and the numbers in their cells."""

from __future__ import annotations

import csv
import io
import logging
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

from accordant.errors import DataError, allowed_names

SECTIONS = {"META": ("key", "value"), "PROJECTS": ("project_id", "cost"), "VOTES": ("voter_id", "vote")}
NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")  # some files write the decimal comma
THOUSANDS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")  # 1,000 may be a thousand, or one
COUNT = re.compile(r"[0-9]{1,18}")

log = logging.getLogger(__name__)


@dataclass
class Section:
    """One table of a file: where it stands, its columns, and its rows with their line numbers."""

    line: int
    columns: tuple[str, ...]
    rows: list[tuple[int, list[str]]] = field(default_factory=list)

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        return [cell for _, cell in self.cells(name)]

    def cells(self, name: str) -> Iterator[tuple[int, str]]:
        """Yield line numbers and cells of a column."""
        at = self.columns.index(name)
        return ((number, row[at]) for number, row in self.rows)


class Tables:
    """The sections of a file; every error names file and line.

    Parameters
    ----------
    file
        Named in errors.
    text
        What it holds.

    Raises
    ------
    DataError
        If a section is missing, occurs twice, or has a row that does not fit.
    """

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.sections: dict[str, Section] = {}
        current: Section | None = None
        rows = self._rows(text)
        for start, end, row in rows:
            title = row[0].upper()
            if title in SECTIONS and not any(row[1:]):
                current = self._opened(title, start, next(rows, None))
            elif current is None:
                self.refuse(start, f"found {row[0]!r:.60}; allowed: META, PROJECTS or VOTES first")
            else:
                self._check_breaks(current, start, end)
                current.rows.append((start, self._fitted(start, row, current)))
        missing = [title for title in SECTIONS if title not in self.sections]
        if missing:
            self.refuse(0, f"section {missing[0]} is missing; allowed: {', '.join(SECTIONS)}")

    def __getitem__(self, title: str) -> Section:
        return self.sections[title]

    def number(self, line: int, name: str, text: str, *, decimal_comma: bool = True) -> float:
        """Return a number of at least 0, whose shortest decimal form is the number in the file."""
        if not NUMBER.fullmatch(text) or ("," in text and not decimal_comma):
            self.refuse(line, f"{name} is {text!r:.60}; allowed: a number of at least 0, such as 1200 or 1200.50")
        if THOUSANDS.fullmatch(text):
            plain = text.replace(",", "")
            self.refuse(line, f"{name} is {text!r}, {plain} or {text.replace(',', '.')}; allowed: one of these")
        written = text.replace(",", ".")
        value = float(written)
        if not math.isfinite(value) or Decimal(written) != Decimal(repr(value)):
            self.refuse(line, f"{name} is {text!r:.60}, more digits than can be kept; allowed: up to 15")
        return value

    def refuse(self, line: int, message: str) -> NoReturn:
        """Stop with file and line; line 0 for the file as a whole."""
        raise DataError(f"{self.file}, line {line}: {message}" if line else f"{self.file}: {message}")

    def _rows(self, text: str) -> Iterator[tuple[int, int, list[str]]]:
        """Yield the first and last line and the stripped cells of what is not blank."""
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
        start = 1
        try:
            for row in reader:
                cells = [cell.strip() for cell in row]
                if any(cells):
                    yield start, reader.line_num, cells
                start = reader.line_num + 1
        except csv.Error as error:
            self.refuse(start, f"the row cannot be read: {error}; allowed: a quote that opens a cell also closes it")

    def _opened(self, title: str, line: int, header: tuple[int, int, list[str]] | None) -> Section:
        """Return a new section with its columns; META without empty ones at the end, as spreadsheets write them."""
        if title in self.sections:
            self.refuse(line, f"section {title} occurs twice, first in line {self.sections[title].line}; allowed: once")
        columns = [cell.casefold() for cell in header[2]] if header else []
        while title == "META" and columns and not columns[-1]:
            columns.pop()
        for name in SECTIONS[title]:
            if name not in columns:
                self.refuse(line + 1, f"section {title} has no column {name!r}; {allowed_names(columns, name)}")
        named = [column for column in columns if column]
        if len(set(named)) < len(named):
            self.refuse(line + 1, f"section {title} names a column twice; allowed: different names")
        self.sections[title] = Section(line, tuple(columns))
        return self.sections[title]

    def _check_breaks(self, section: Section, start: int, end: int) -> None:
        """Refuse votes over several lines: a stray quote would swallow voters without a trace."""
        if start == end:
            return
        if section is self.sections.get("VOTES"):
            self.refuse(start, f"a quoted cell of VOTES goes on to line {end}; allowed: one line for each voter")
        log.warning("%s, line %d: a quoted cell goes on to line %d", self.file, start, end)

    def _fitted(self, line: int, row: list[str], section: Section) -> list[str]:
        """Return as many cells as there are columns; a value of META may hold semicolons."""
        columns = section.columns
        if columns == SECTIONS["META"]:
            return [row[0], ";".join(row[1:]).rstrip(";")]
        if any(row[len(columns) :]):
            self.refuse(line, f"{len(row)} cells; allowed: {len(columns)}, as many as columns")
        return (row + [""] * len(columns))[: len(columns)]
