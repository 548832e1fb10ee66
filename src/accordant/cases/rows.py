"""The rows of a CSV file as text, each of them no longer than the header."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator

from accordant.errors import DataError

MARK = "\ufeff"  # of the order of bytes: some programs write it before the header


class Rows:
    """A text stream that a CSV parser reads; every row is counted on its way.

    A parser may take the first fields of rows that are too long for row labels, and move all others to the left.

    Parameters
    ----------
    lines
        Of the file, with their ends.
    separator
        What stands between columns.
    name
        Of the file, for messages.

    Raises
    ------
    DataError
        When it is read: if two columns have one name, or a row has more fields than the header.
    """

    def __init__(self, lines: Iterable[str], separator: str, name: str) -> None:
        self._name, self._kept, self._length = name, list[str](), 0
        self._reader = csv.reader(self._keep(lines), delimiter=separator)
        self._width: int | None = None

    def __iter__(self) -> Iterator[str]:
        """Yield the text row by row."""
        while text := self.read(1):
            yield text

    def read(self, size: int = -1) -> str:
        """Return whole rows of at least some size; all of them if it is negative, nothing at the end."""
        for row in self._reader:
            if self._width is None:
                self._begin(row)
            elif len(row) > self._width:
                raise DataError(self._too_long(row))
            if 0 <= size <= self._length:
                break
        text = "".join(self._kept)
        self._kept.clear()
        self._length = 0
        return text

    def _keep(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines and remember them: a quoted field may hold several."""
        for place, line in enumerate(lines):
            text = line if place else line.removeprefix(MARK)
            self._kept.append(text)
            self._length += len(text)
            yield text

    def _begin(self, row: list[str]) -> None:
        """Take a row for the header, unless it is blank."""
        if len(row) < 2 and not "".join(row).strip():
            return
        for column, count in Counter(row).items():
            if column and count > 1:
                raise DataError(f"{self._name}, line {self._reader.line_num}: {count} columns are called {column!r}")
        self._width = len(row)

    def _too_long(self, row: list[str]) -> str:
        found = (
            f"{self._name}, line {self._reader.line_num}: {len(row)} fields; allowed: {self._width}, as in the header"
        )
        return found + ("; the row ends with a separator, the header does not" if not row[-1] else "")
