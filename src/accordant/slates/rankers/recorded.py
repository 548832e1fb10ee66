"""Files of rankings: one line for each item that somebody put in a place, for one request."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from accordant.agents.language.keys import readable
from accordant.agents.language.wire import TEXT_LENGTH
from accordant.errors import DataError, allowed_names
from accordant.tables.text import read_text
from accordant.voting.ranking import Ranking

NEEDED = ("request", "place", "item")
COLUMNS = ("stakeholder", *NEEDED, "score", "reason")


@dataclass(frozen=True)
class Recorded:
    """A ranking of one request, and the line of each of its items."""

    ranking: Ranking
    lines: tuple[int, ...]


@dataclass(frozen=True)
class _Row:
    line: int
    cells: Mapping[str, str]


def read_rankings(file: str | Path) -> dict[str | None, dict[str, Recorded]]:
    """Return the rankings of a CSV file by stakeholder and request.

    Parameters
    ----------
    file
        Columns ``request``, ``place`` (1 for the first, each place once, none left out) and ``item``; and where wanted
        ``stakeholder``, ``score`` (in [0, 1], not rising with the place; for all items of a request or for none) and
        ``reason``. Without ``stakeholder`` all rankings stand under None. The voter is left open.

    Raises
    ------
    DataError
        If the file cannot be read, or is of another form; the message names the line.
    """
    path = Path(file)
    rows: dict[tuple[str | None, str], list[_Row]] = {}
    for row in _rows(path):
        for name in ("stakeholder", *NEEDED):
            if name in row.cells and not row.cells[name]:
                raise DataError(f"{path}, line {row.line}: {name} is empty; allowed: a text")
        rows.setdefault((row.cells.get("stakeholder"), row.cells["request"]), []).append(row)
    if not rows:
        raise DataError(f"{path} holds no rankings; allowed: at least one line below the header")
    found: dict[str | None, dict[str, Recorded]] = {}
    for (stakeholder, request), of_one in rows.items():
        found.setdefault(stakeholder, {})[request] = _recorded(path, of_one)
    return found


def _rows(path: Path) -> list[_Row]:
    """Return the rows that are not blank, with their lines, if the header is right."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    found: list[_Row] = []
    header: list[str] | None = None
    try:
        for cells in reader:
            line = [cell.strip() for cell in cells]
            if not any(line):
                continue
            if header is None:
                header = _header(path, reader.line_num, line)
            elif len(line) != len(header):
                raise DataError(f"{path}, line {reader.line_num}: {len(line)} cells; allowed: {len(header)}")
            else:
                found.append(_Row(reader.line_num, dict(zip(header, line, strict=True))))
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: the row cannot be read: {error}") from None
    return found


def _header(path: Path, line: int, names: list[str]) -> list[str]:
    for name, count in Counter(names).items():
        if name not in COLUMNS:
            raise DataError(f"{path}, line {line}: unknown column {name!r}; {allowed_names(COLUMNS, name)}")
        if count > 1:
            raise DataError(f"{path}, line {line}: {count} columns are called {name!r}")
    for name in NEEDED:
        if name not in names:
            raise DataError(f"{path}, line {line}: there is no column {name!r}; allowed: {', '.join(COLUMNS)}")
    return names


def _recorded(path: Path, rows: list[_Row]) -> Recorded:
    """Return one ranking from its rows, which may stand in any order."""
    placed: dict[int, _Row] = {}
    lines: dict[str, int] = {}
    for row in rows:
        place = _place(path, row)
        if place in placed:
            raise DataError(f"{path}, line {row.line}: place {place} is taken in line {placed[place].line}")
        if row.cells["item"] in lines:
            item = row.cells["item"]
            raise DataError(f"{path}, line {row.line}: item {item!r} stands in line {lines[item]} already")
        placed[place], lines[row.cells["item"]] = row, row.line
    ordered = [placed[place] for place in sorted(placed)]
    for wanted, place in enumerate(sorted(placed), 1):
        if place != wanted:
            raise DataError(f"{path}, line {placed[place].line}: place {place}, but no item has place {wanted}")
    reasons = tuple(readable(row.cells.get("reason", ""), TEXT_LENGTH) for row in ordered)
    ranking = Ranking(
        "", tuple(row.cells["item"] for row in ordered), _scores(path, ordered), reasons if any(reasons) else ()
    )
    return Recorded(ranking, tuple(row.line for row in ordered))


def _place(path: Path, row: _Row) -> int:
    found = row.cells["place"]
    if not (found.isascii() and found.isdigit() and 1 <= len(found) <= 9 and int(found) > 0):
        raise DataError(f"{path}, line {row.line}: place is {found!r:.60}; allowed: a whole number of at least 1")
    return int(found)


def _scores(path: Path, ordered: Sequence[_Row]) -> tuple[float, ...]:
    """Return the scores, best first; none if no row has one."""
    given = [row.cells.get("score", "") for row in ordered]
    if not any(given):
        return ()
    found: list[float] = []
    for row, cell in zip(ordered, given, strict=True):
        try:
            score = float(cell)
        except ValueError:
            score = math.nan
        if not 0 <= score <= 1:
            raise DataError(
                f"{path}, line {row.line}: score is {cell!r:.60}; allowed: from 0 to 1, for all items of a request or "
                "for none"
            )
        if found and score > found[-1]:
            raise DataError(f"{path}, line {row.line}: score {score:g} is above {found[-1]:g} of the place before")
        found.append(score)
    return tuple(found)
