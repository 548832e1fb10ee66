"""Rankings that somebody recorded: their file, and the ranker that reads them out."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from accordant.agents.language.keys import readable
from accordant.agents.language.wire import TEXT_LENGTH
from accordant.agents.parameters import text
from accordant.errors import DataError, allowed_names, nearest
from accordant.slates.rankers.ranker import Ranker, RankingView, rankers
from accordant.tables.text import read_cell, read_text
from accordant.voting.ballots import Ranking

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
    rankings: dict[str | None, dict[str, Recorded]] = {}
    for (stakeholder, request), of_one in rows.items():
        rankings.setdefault(stakeholder, {})[request] = _recorded(path, of_one)
    return rankings


def _rows(path: Path) -> list[_Row]:
    """Return the rows that are not blank, with their lines, if the header is right."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    rows: list[_Row] = []
    header: list[str] | None = None
    try:
        for cells in reader:
            line = [read_cell(cell.strip()) for cell in cells]
            if not any(line):
                continue
            if header is None:
                header = _header(path, reader.line_num, line)
            elif len(line) != len(header):
                raise DataError(f"{path}, line {reader.line_num}: {len(line)} cells; allowed: {len(header)}")
            else:
                rows.append(_Row(reader.line_num, dict(zip(header, line, strict=True))))
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: the row cannot be read: {error}") from None
    return rows


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
    place = row.cells["place"]
    if not (place.isascii() and place.isdigit() and 1 <= len(place) <= 9 and int(place) > 0):
        raise DataError(f"{path}, line {row.line}: place is {place!r:.60}; allowed: a whole number of at least 1")
    return int(place)


def _scores(path: Path, ordered: Sequence[_Row]) -> tuple[float, ...]:
    """Return the scores, best first; none if no row has one."""
    given = [row.cells.get("score", "") for row in ordered]
    if not any(given):
        return ()
    scores: list[float] = []
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
        if scores and score > scores[-1]:
            raise DataError(f"{path}, line {row.line}: score {score:g} is above {scores[-1]:g} of the place before")
        scores.append(score)
    return tuple(scores)


@rankers.register("recorded_ranker")
class RecordedRanker(Ranker):
    """Says what a file says about each request; of a request that is not in the file it says nothing.

    Parameters
    ----------
    file
        CSV, see `accordant.slates.rankers.ranking_file.read_rankings`.
    stakeholder
        Whose lines are read; None for all of a file without the column ``stakeholder``.
    made_by
        Who ranked: ``person``, ``rule`` or ``model NAME``.

    Raises `DataError` if the file cannot be read, is of another form, or holds nothing of that stakeholder.
    """

    kind: ClassVar[str] = "recorded"
    reads_requests: ClassVar[bool] = True

    def __init__(
        self, file: str, stakeholder: str | None = None, made_by: str = "person", name: str = "recorded_ranker"
    ) -> None:
        self.name, self.made_by, self.file = text(name, "name"), text(made_by, "made_by"), text(file, "file")
        rankings = read_rankings(self.file)
        if stakeholder not in rankings:
            known = sorted(other for other in rankings if other is not None)
            said = allowed_names(known, stakeholder) if known else "the file has no column 'stakeholder'"
            raise DataError(f"{self.file} holds no rankings of {stakeholder!r}; {said}")
        self._rankings: Mapping[str, Recorded] = rankings[stakeholder]
        self.about = f"Recorded: rankings that a {made_by} made before, read from a file."

    def rank(self, view: RankingView) -> Ranking:
        """Return what the file says of the request, or an empty order."""
        recorded = self._rankings.get(view.request)
        if recorded is None:
            return Ranking(self.name, (), generated_by=self.made_by)
        return replace(recorded.ranking, voter=self.name, generated_by=self.made_by)

    def check(self, requests: Collection[str], items: Collection[str]) -> None:
        """Refuse requests and items that do not exist: `DataError`."""
        known_requests, known_items = set(requests), set(items)
        for name, recorded in self._rankings.items():
            first = min(recorded.lines)
            if name not in known_requests:
                raise DataError(f"{self.file}, line {first}: {_unknown('request', name, requests)}")
            for item, line in zip(recorded.ranking.order, recorded.lines, strict=True):
                if item not in known_items:
                    raise DataError(f"{self.file}, line {line}: {_unknown('item', item, items)}")

    def among(self, requests: Collection[str]) -> Self:
        """Return the ranker with the rankings of some requests alone: where only part of them is served."""
        kept = set(requests)
        ranker = object.__new__(type(self))
        vars(ranker).update(vars(self))
        ranker._rankings = {name: recorded for name, recorded in self._rankings.items() if name in kept}
        return ranker

    def to_json(self) -> dict[str, Any]:
        """Return what a record says of the ranker; where the file lies is not part of it."""
        return super().to_json() | {"made_by": self.made_by, "requests": len(self._rankings)}


def _unknown(kind: str, name: str, known: Collection[str]) -> str:
    """Return that there is no such name, with the nearest; there may be too many to list."""
    hint = nearest(name, tuple(known))
    return f"unknown {kind} {name!r}; {f'did you mean {hint!r}? ' if hint else ''}allowed: one of {len(known)} {kind}s"
