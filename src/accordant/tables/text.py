"""Text files of users, plain or compressed: CSV, JSON and JSON lines; errors name the file and the line."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import io
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from accordant import limits
from accordant.errors import DataError, MissingColumnError, allowed_names, missing
from accordant.json_values import read_json_value
from accordant.limits import Limit

EVERY_OTHER = "*"  # among columns to ignore: all that a reader does not know
FORMULA = re.compile(r"'*[=+\-@\t\r]")
OPEN_PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # what a shell opened, as in <(command)
GZIP = b"\x1f\x8b"  # the first two bytes of every gzip file (RFC 1952); names of files may lie


@dataclass(frozen=True)
class Entry:
    """One object of a file.

    Attributes
    ----------
    where
        File and line, for messages.
    values
        The object.
    """

    where: str
    values: Mapping[str, Any]

    def required(self, key: str) -> Any:
        """Return the value of a key that must be there."""
        if key not in self.values:
            raise DataError(f"{self.where}: {missing('key', key, self.values)}")
        return self.values[key]

    def text(self, key: str) -> str:
        """Return the value of a key that must hold text."""
        value = self.required(key)
        if not isinstance(value, str):
            raise DataError(f"{self.where}: {key!r} is {_kind(value)}; allowed: text")
        return value

    def number(self, key: str, words: str = "a number", allowed: Callable[[float], bool] = math.isfinite) -> float:
        """Return the value of a key that must hold an allowed number; `words` say in messages what is allowed."""
        value = self.required(key)
        number = math.nan
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = math.nan if isinstance(value, bool) or "_" in str(value) else float(value)
        if not allowed(number):
            raise DataError(f"{self.where}: {key} is {value!r:.40}; allowed: {words}")
        return number


@dataclass(frozen=True)
class Table:
    """A table of text cells.

    Attributes
    ----------
    name
        Of the file, for messages.
    header
        Names of the columns, distinct.
    rows
        Cells, one list per row.
    lines
        Line of the file on which each row ends.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def column(self, name: str) -> list[str]:
        """Return the cells of a column that must be there."""
        if name not in self.header:
            raise MissingColumnError(name, self.header, self.name)
        place = self.header.index(name)
        return [row[place] for row in self.rows]

    def entries(self) -> tuple[Entry, ...]:
        """Return one entry per row, by column."""
        rows = zip(self.lines, self.rows, strict=True)
        return tuple(Entry(f"{self.name} line {line}", dict(zip(self.header, row, strict=True))) for line, row in rows)


def refuse_unknown(
    where: str, kind: str, given: Iterable[str], allowed: Iterable[str], ignore: Sequence[str] = ()
) -> None:
    """Raise an error for the first name that is neither allowed nor to be ignored; ``"*"`` ignores every other one.

    Raises
    ------
    DataError
        With the nearest allowed name.
    """
    names = tuple(allowed)
    if EVERY_OTHER in ignore:
        return
    for name in given:
        if name not in names and name not in ignore:
            raise DataError(f"{where}: unknown {kind} {name!r}; {allowed_names(names, name)}")


def refuse_special(path: str | Path) -> None:
    """Raise an error for what is neither a regular file nor a pipe that is open already: reading it may never end.

    Raises
    ------
    DataError
        If it is a named pipe, a device, or a socket.
    """
    file = Path(path)
    if str(file).startswith(OPEN_PIPES) or not file.exists() or file.is_file() or file.is_dir():
        return
    raise DataError(f"{file} is no regular file; allowed: a file, whose end is known")


def read_text(path: str | Path, most: Limit = limits.TEXT_BYTES, *, empty: bool = False) -> str:
    """Return the text of a UTF-8 file without its byte order mark, unpacked if its first bytes say that it is packed.

    Parameters
    ----------
    path
        Of the file.
    most
        Bytes that are read, packed or unpacked.
    empty
        Whether the file may be empty.

    Raises
    ------
    DataError
        If the file is missing, empty, broken, not UTF-8, no regular file, or larger than allowed.
    """
    file = Path(path)
    refuse_special(file)
    try:
        with file.open("rb") as opened:
            content = opened.read(most.most + 1)
    except FileNotFoundError:
        raise DataError(f"{file}: there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise DataError(f"{file} cannot be read: {getattr(error, 'strerror', error)}") from None
    if content.startswith(GZIP) and len(content) <= most.most:
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
                content = packed.read(most.most + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{file} is a broken gzip file: {error}") from None
    if len(content) > most.most:
        raise most.refusal(str(file))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{file}, line {line}: byte {content[error.start]:#04x} is not UTF-8; allowed: UTF-8") from None
    if not empty and not text.strip():
        raise DataError(f"{file} is empty")
    return text


def read_line(stream: IO[str], where: str) -> str:
    """Return the next line of a stream with its end, empty if there is none.

    Raises
    ------
    DataError
        If it has no end within the limit.
    """
    line = stream.readline(limits.LINE_CHARACTERS.most + 1)
    limits.LINE_CHARACTERS.check(len(line), where)
    return line


def file_hash(path: str | Path) -> str:
    """Return the SHA-256 of the bytes of a file, in hexadecimal digits."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def csv_text(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV with a header, lines ended by a line feed; no cell starts a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(written_cell, header))
    writer.writerows(map(written_cell, row) for row in rows)
    return stream.getvalue()


def written_cell(value: object) -> object:
    """Return a cell as it goes into a table: text with which a formula would start gets an apostrophe before it.

    Spreadsheets carry out what begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return (OWASP, CSV
    injection), and names come from users. Numbers, as text too, stay as they are. `read_cell` takes it off again.
    """
    if not isinstance(value, str) or not FORMULA.match(value):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def read_cell(text: str) -> str:
    """Return the text that `written_cell` wrote."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def finite_number(text: str) -> float | None:
    """Return the number that a text is, None where it is none or not finite."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file."""
    return _parsed(Path(path).name, read_text(path), first=1)


def read_json_lines(path: str | Path) -> tuple[Entry, ...]:
    """Return the objects of a file with one JSON object per line; blank lines are left out."""
    name, entries = Path(path).name, []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        entries.append(as_entry(f"{name} line {number}", _parsed(name, line, first=number)))
    return tuple(entries)


def stream_json_lines(path: str | Path) -> Iterator[Entry]:
    """Yield the objects of a file with one JSON object per line as they are read, however long it is.

    Raises
    ------
    DataError
        If the file is missing, not UTF-8, or no regular file, or a line is no JSON object or has no end.
    """
    file = Path(path)
    refuse_special(file)
    try:
        with file.open(encoding="utf-8-sig") as stream:
            number = 0
            while line := read_line(stream, file.name):
                number += 1
                if line.strip():
                    yield as_entry(f"{file.name} line {number}", _parsed(file.name, line, first=number))
    except FileNotFoundError:
        raise DataError(f"{file}: there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a name with a NUL
        raise DataError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def as_entry(where: str, values: Any) -> Entry:
    """Return a JSON value as an entry; anything but an object is an error."""
    if not isinstance(values, dict):
        raise DataError(f"{where} is {_kind(values)}; allowed: a JSON object")
    return Entry(where, values)


def read_table(path: str | Path) -> Table:
    """Return a CSV file with a header and at least one row.

    Raises
    ------
    DataError
        If the file is unreadable, a column repeats, or a row has more or fewer cells than the header.
    """
    name = Path(path).name
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    try:
        header = tuple(cell.strip() for cell in next(reader))
        limits.COLUMNS.check(len(header), name)
        for row in reader:
            if not row:
                continue  # a blank line
            if len(row) != len(header):
                raise DataError(f"{name} line {reader.line_num} has {len(row)} cells; allowed: {len(header)}")
            rows.append(tuple(row))
            lines.append(reader.line_num)
    except csv.Error as error:
        raise DataError(f"{name} line {reader.line_num} is not CSV: {error}") from None
    if len(set(header)) < len(header):
        twice = next(column for column, times in Counter(header).items() if times > 1)
        raise DataError(f"{name}: column {twice!r} occurs twice; allowed: once")
    if not rows:
        raise DataError(f"{name} has a header but no rows")
    return Table(name, header, tuple(rows), tuple(lines))


def _parsed(name: str, text: str, *, first: int) -> Any:
    """Return the value of a JSON text that begins in line `first` of a file."""
    try:
        return read_json_value(text)
    except json.JSONDecodeError as error:
        line = first + error.lineno - 1
        raise DataError(f"{name} line {line} is not JSON: {error.msg} (column {error.colno})") from None
    except DataError as error:
        raise DataError(f"{name}, from line {first}: {error}") from None


def _kind(value: Any) -> str:
    """Return what a JSON value is, in words."""
    kinds = ((bool, "true or false"), (dict, "an object"), (list, "a list"), (str, "text"), (int | float, "a number"))
    return next((words for kind, words in kinds if isinstance(value, kind)), "null")
