"""CSV files as data frames, whole or in batches, in which every row is as long as the header."""

from __future__ import annotations

import bisect
import bz2
import csv
import gzip
import lzma
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any, cast

import pandas as pd

from accordant import limits
from accordant.errors import DataError
from accordant.naming import counted
from accordant.tables.text import read_line, refuse_special

ROWS_AT_ONCE = 65_536
EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)
"""What makes pandas read the nearest float of every number: newer ones do, older ones miss the last bit of a third."""
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", "#N/A")
"""What stands for a missing value in files; unlike pandas' list, not "None", which is a good name for an action."""

PACKED: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

BROKEN = (EOFError, lzma.LZMAError, zlib.error)  # what packed files raise that are none, or end too early

MARK = "\ufeff"  # of the order of bytes: some programs write it before the header


NUL = "\0"  # ends a text for some parsers, which then read half of a cell


class Lines:
    """On which line of a file each row ends, noted while the file is read.

    A row may hold several lines and a line may be blank, so only those rows are noted whose distance to their line
    differs from that of the row before.
    """

    def __init__(self) -> None:
        self.name, self._word = "", "line"
        self._rows, self._distances = [0], [2]  # the header is line 1

    def rows_of(self, name: str) -> None:
        """Speak of rows of a table that has no lines."""
        self.name, self._word = name, "row"

    def note(self, row: int, line: int) -> None:
        """Remember the line, from 1, on which a row, from 0, ends; rows come in order."""
        if line - row != self._distances[-1]:
            self._rows.append(row)
            self._distances.append(line - row)

    def place(self, row: int) -> str:
        """Return file and line of a row, for messages."""
        return f"{self.name}, {self._word} {row + self._distances[bisect.bisect_right(self._rows, row) - 1]}"


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
    noted
        Is told on which line each row ends.

    Raises
    ------
    DataError
        When it is read: if two columns have one name, a row has more or fewer fields than the header, or a line holds
        the character NUL.
    """

    def __init__(self, lines: Iterable[str], separator: str, name: str, noted: Lines | None = None) -> None:
        self._name, self._kept, self._length = name, list[str](), 0
        self._reader = csv.reader(self._keep(lines), delimiter=separator)
        self._width: int | None = None
        self._noted = Lines() if noted is None else noted
        self._noted.name = name
        self._rows = 0

    def __iter__(self) -> Iterator[str]:
        """Yield the text row by row."""
        while text := self.read(1):
            yield text

    def read(self, size: int = -1) -> str:
        """Return whole rows of at least some size; all of them if it is negative, nothing at the end."""
        for row in self._reader:
            if self._width is None:
                self._begin(row)
            elif len(row) == self._width or not _blank(row):
                if len(row) != self._width:
                    raise DataError(self._wrong_length(row))
                self._noted.note(self._rows, self._reader.line_num)
                self._rows += 1
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
            if NUL in text:
                raise DataError(f"{self._name}, line {place + 1} holds the character NUL; allowed: text without it")
            self._kept.append(text)
            self._length += len(text)
            yield text

    def _begin(self, row: list[str]) -> None:
        """Take a row for the header, unless it is blank."""
        if _blank(row):
            return
        for column, count in Counter(row).items():
            if column and count > 1:
                raise DataError(f"{self._name}, line {self._reader.line_num}: {count} columns are called {column!r}")
        limits.COLUMNS.check(len(row), self._name)
        self._width = len(row)

    def _wrong_length(self, row: list[str]) -> str:
        fields = counted(len(row), "field")
        message = f"{self._name}, line {self._reader.line_num}: {fields}; allowed: {self._width}, as in the header"
        if len(row) > (self._width or 0) and not row[-1]:
            return f"{message}; the row ends with a separator, the header does not"
        return message + ("; a quotation mark is not closed" if "\n" in row[-1] else "")


def _blank(row: list[str]) -> bool:
    """Whether a parser passes over a row."""
    return len(row) < 2 and not "".join(row).strip()


def read_chunks(
    source: str | Path | IO[str],
    at_once: int = ROWS_AT_ONCE,
    texts: Iterable[str] = (),
    separator: str = ",",
    encoding: str = "utf-8",
    *,
    missing: Iterable[str] = (),
    lines: Lines | None = None,
    name: str = "",
) -> Iterator[pd.DataFrame]:
    """Yield the rows of a CSV file or stream in batches; a file without rows is an error.

    Parameters
    ----------
    source
        A path, or an open text stream.
    at_once
        Rows per batch.
    texts
        Columns that are text whatever they hold.
    separator
        What stands between columns. A file whose header does not contain it is read with commas.
    encoding
        Of the file.
    missing
        What stands for a missing value beside `MISSING`.
    lines
        Is told on which line each row ends.
    name
        What messages call the source; by default its name.

    Raises
    ------
    DataError
        If the file is missing, empty, or no CSV file, two columns have one name, a row has more or fewer fields than
        the header, a line holds the character NUL, or there is no such encoding.
    """
    name = name or (Path(source).name if isinstance(source, str | Path) else "standard input")
    rows = 0
    whole = limits.TABLE_CHARACTERS if isinstance(source, str | Path) else limits.STREAM_CHARACTERS
    most = whole if at_once == sys.maxsize else None
    try:
        between = _separator(source, separator, encoding)
        with (
            _opened(source, encoding) as opened,
            pd.read_csv(
                cast(
                    "IO[str]", Rows(_lines(opened, name, most), between, name, lines)
                ),  # it can be read, and nothing else is asked of it
                sep=between,
                chunksize=at_once,
                low_memory=False,
                keep_default_na=False,
                na_values=[*MISSING, *missing],
                dtype=dict.fromkeys(texts, str),
                **EXACT,
            ) as chunks,
        ):
            for chunk in chunks:
                rows += len(chunk)
                yield chunk
    except pd.errors.EmptyDataError:
        raise DataError(f"{name} is empty") from None
    except (pd.errors.ParserError, csv.Error, UnicodeError, *BROKEN) as error:
        raise DataError(f"{name} is not a readable CSV file: {error}") from None
    except LookupError:
        raise DataError(f"{name} cannot be read: {encoding!r} is no encoding; try 'utf-8' or 'latin-1'") from None
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror or error}") from None
    if rows == 0:
        raise DataError(f"{name} has a header but no rows")


def _separator(source: str | Path | IO[str], declared: str, encoding: str) -> str:
    """Return the declared separator, or a comma for a file whose header does not contain the declared one."""
    if declared == "," or not isinstance(source, str | Path):
        return declared
    with _opened(source, encoding) as file:
        return declared if declared in file.readline(limits.LINE_CHARACTERS.most) else ","


def _lines(stream: IO[str], name: str, most: limits.Limit | None) -> Iterator[str]:
    """Yield the lines of a stream; refuse one without end, and more characters than allowed, if there is a limit."""
    total = 0
    while line := read_line(stream, name):
        total += len(line)
        if most is not None and total > most.most:
            raise most.refusal(name)
        yield line


def _opened(source: str | Path | IO[str], encoding: str) -> AbstractContextManager[IO[str]]:
    """Return a file as a stream of text, unpacked if its name says that it is packed; a stream as it is."""
    if not isinstance(source, str | Path):
        return nullcontext(source)
    refuse_special(source)
    opener = PACKED.get(Path(source).suffix, open)
    return cast("IO[str]", opener(source, "rt", encoding=encoding, newline=""))
