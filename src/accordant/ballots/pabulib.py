"""Votes on projects in the format of Pabulib (Faliszewski et al. 2023, pabulib.org/format): .pb.

A file holds three tables, META, PROJECTS and VOTES. Each begins with its name on a line, then the names of its columns;
cells stand between semicolons and may be quoted. The cell ``vote`` lists the projects of a voter with commas between,
``points`` as many numbers in the same order. How votes become scores:

    approval, choose-1     1 for each project on the ballot
    cumulative, scoring    the points; with scoring, META ``default_score`` for projects that are not on the ballot
    ordinal                places × from the top, as Borda counts: the first of the ballot gets L, the next L − 1, …,
                           with L = META ``max_length``, or the number of projects if it is not there
"""

from __future__ import annotations

import csv
import io
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, cast, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.ballots.election import Election, VoteType
from accordant.ballots.text import text_of
from accordant.errors import DataError, allowed_names

SECTIONS = {"META": ("key", "value"), "PROJECTS": ("project_id", "cost"), "VOTES": ("voter_id", "vote")}
NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")  # some files write the decimal comma
WITH_POINTS = ("cumulative", "scoring")
NOT_KNOWN = "none"  # how Pabulib writes an empty cell

log = logging.getLogger(__name__)


@dataclass
class Section:
    """One table of a file: where it stands, its columns, and its rows with their line numbers."""

    line: int
    columns: tuple[str, ...]
    rows: list[tuple[int, list[str]]] = field(default_factory=list)

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        at = self.columns.index(name)
        return [row[at] for _, row in self.rows]


def read_pabulib(path: str | Path) -> Election:
    """Return the projects and votes of a file, one voter per row with weight 1.

    Voters without a vote are kept: they have a share of the budget. A project may cost 0, or more than the budget.

    Raises
    ------
    DataError
        If the file is missing, is not UTF-8, or breaks its format: the message names file, line and field, what was
        found, and what is allowed.
    """
    file = Path(path)
    return _Reader(file, text_of(file)).election()


class _Reader:
    """One file on its way to an election; every error names file and line."""

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.sections = self._sections(text)
        self.meta = self._meta()
        self.vote_type = self._vote_type()
        self.projects = self._projects()

    def election(self) -> Election:
        """Return the votes, checked."""
        costs = [self._number(n, "cost", cell) for n, cell in self._cells("PROJECTS", "cost")]
        scores = self._scores()
        self._check_number("num_projects", len(self.projects))
        self._check_number("num_votes", len(scores))
        self._compare_votes(scores)
        if "budget" not in self.meta:
            self._refuse(self.sections["META"].line, "key 'budget' is missing; allowed: a number of at least 0")
        budget = self._number(self.meta["budget"][0], "budget", self.meta["budget"][1])
        return Election(
            tuple(self.projects), np.array(costs), budget, scores, np.ones(len(scores)), self.vote_type,
            {key: value for key, (_, value) in self.meta.items()},
            self._facts("VOTES", ("vote", "points")), self._facts("PROJECTS", ("project_id", "cost")),
        )  # fmt: skip

    def _sections(self, text: str) -> dict[str, Section]:
        found: dict[str, Section] = {}
        current: Section | None = None
        rows = self._rows(text)
        for number, row in rows:
            title = row[0].upper()
            if title in SECTIONS and not any(row[1:]) and title not in found:
                header = next(rows, None)
                columns = tuple(cell.casefold() for cell in header[1]) if header else ()
                self._check_columns(title, number, columns)
                current = found[title] = Section(number, columns)
            elif current is None:
                self._refuse(number, f"found {row[0]!r:.60}; allowed: META, PROJECTS or VOTES first")
            else:
                current.rows.append((number, self._fitted(number, row, current.columns)))
        missing = [title for title in SECTIONS if title not in found]
        if missing:
            self._refuse(0, f"section {missing[0]} is missing; allowed: {', '.join(SECTIONS)}")
        return found

    def _rows(self, text: str) -> Iterator[tuple[int, list[str]]]:
        """Yield line numbers and stripped cells of what is not blank."""
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=";")
        try:
            for row in reader:
                cells = [cell.strip() for cell in row]
                if any(cells):
                    yield reader.line_num, cells
        except csv.Error as error:
            self._refuse(reader.line_num, f"the row cannot be read: {error}")

    def _check_columns(self, title: str, number: int, columns: tuple[str, ...]) -> None:
        for name in SECTIONS[title]:
            if name not in columns:
                self._refuse(number + 1, f"section {title} has no column {name!r}; {allowed_names(columns, name)}")
        if len(set(filter(None, columns))) < len(list(filter(None, columns))):
            self._refuse(number + 1, f"section {title} names a column twice; allowed: different names")

    def _fitted(self, number: int, row: list[str], columns: tuple[str, ...]) -> list[str]:
        """Return as many cells as there are columns; a value of META may hold semicolons."""
        if columns == SECTIONS["META"]:
            return [row[0], ";".join(row[1:])]
        if any(row[len(columns) :]):
            self._refuse(number, f"{len(row)} cells; allowed: {len(columns)}, as many as columns")
        return (row + [""] * len(columns))[: len(columns)]

    def _meta(self) -> dict[str, tuple[int, str]]:
        found: dict[str, tuple[int, str]] = {}
        for number, (key, value) in self.sections["META"].rows:
            if key.casefold() in found:
                self._refuse(number, f"key {key!r} occurs twice in META; allowed: once")
            found[key.casefold()] = number, value
        return found

    def _vote_type(self) -> VoteType:
        number, found = self.meta.get("vote_type", (self.sections["META"].line, ""))
        if found.casefold() not in get_args(VoteType):
            self._refuse(number, f"vote_type is {found!r}; {allowed_names(get_args(VoteType), found)}")
        return cast("VoteType", found.casefold())

    def _projects(self) -> dict[str, int]:
        """Return the position of each project by its id."""
        found: dict[str, int] = {}
        for number, project in self._cells("PROJECTS", "project_id"):
            if not project or project in found:
                self._refuse(number, f"project_id {project!r} is empty or occurs twice; allowed: different ids")
            found[project] = len(found)
        if not found:
            self._refuse(self.sections["PROJECTS"].line, "there are no projects; allowed: at least one")
        return found

    def _scores(self) -> NDArray[np.float64]:
        section = self.sections["VOTES"]
        counted = self.vote_type in WITH_POINTS
        if counted and "points" not in section.columns:
            self._refuse(section.line + 1, f"votes are {self.vote_type}, but there is no column 'points'")
        scores = np.zeros((len(section.rows), len(self.projects)))
        if self.vote_type == "scoring" and "default_score" in self.meta:
            scores += self._number(self.meta["default_score"][0], "default_score", self.meta["default_score"][1])
        most = self._length()
        points = self._cells("VOTES", "points") if counted else self._cells("VOTES", "vote")
        for row, ((number, vote), (_, given)) in enumerate(zip(self._cells("VOTES", "vote"), points, strict=True)):
            chosen = self._ballot(number, vote)
            if counted:
                scores[row, chosen] = self._points(number, given, len(chosen))
            elif self.vote_type == "ordinal":
                if len(chosen) > most:
                    self._refuse(number, f"vote ranks {len(chosen)} projects; allowed: at most max_length, {most}")
                scores[row, chosen] = np.arange(most, most - len(chosen), -1)
            else:
                scores[row, chosen] = 1.0
        return scores

    def _length(self) -> int:
        """Return how many projects an ordinal ballot may rank."""
        number, given = self.meta.get("max_length", (0, ""))
        if self.vote_type != "ordinal" or not given:
            return len(self.projects)
        if not (given.isdecimal() and int(given) > 0):
            self._refuse(number, f"max_length is {given!r}; allowed: a whole number above 0")
        return int(given)

    def _ballot(self, number: int, vote: str) -> list[int]:
        """Return the positions of the projects on a ballot, in its order."""
        named = _listed(vote)
        for project in named:
            if project not in self.projects:
                self._refuse(number, f"vote names project {project!r}; {allowed_names(self.projects, project):.200}")
        if len(set(named)) < len(named):
            if self.vote_type != "approval":
                self._refuse(number, f"vote names a project twice: {vote!r:.60}; allowed: once")
            log.warning("%s, line %d: vote names a project twice, counted once", self.file, number)
        if self.vote_type == "choose-1" and len(named) > 1:
            self._refuse(number, f"vote names {len(named)} projects; allowed: at most 1 with vote_type choose-1")
        return [self.projects[project] for project in dict.fromkeys(named)]

    def _points(self, number: int, given: str, expected: int) -> list[float]:
        cells = _listed(given)
        if len(cells) != expected:
            self._refuse(number, f"points has {len(cells)} numbers and vote {expected} projects; allowed: as many")
        return [self._number(number, "points", cell, decimal_comma=False) for cell in cells]

    def _check_number(self, key: str, found: int) -> None:
        if key in self.meta:
            number, declared = self.meta[key]
            if declared != str(found):
                self._refuse(number, f"{key} is {declared!r}, but the file holds {found}")

    def _compare_votes(self, scores: NDArray[np.float64]) -> None:
        """Say where the organisers counted otherwise: some votes are taken out before a file is published."""
        if "votes" not in self.sections["PROJECTS"].columns:
            return
        counted = (scores > 0).sum(axis=0)
        for (number, declared), found in zip(self._cells("PROJECTS", "votes"), counted.tolist(), strict=True):
            if declared.isdecimal() and int(declared) != found:
                log.warning("%s, line %d: votes is %s, but %d ballots name it", self.file, number, declared, found)

    def _facts(self, title: str, read: Sequence[str]) -> dict[str, tuple[str, ...]]:
        section = self.sections[title]
        return {
            name: tuple("" if cell.casefold() == NOT_KNOWN else cell for cell in section.column(name))
            for name in section.columns
            if name and name not in read
        }

    def _cells(self, title: str, column: str) -> Iterator[tuple[int, str]]:
        section = self.sections[title]
        at = section.columns.index(column)
        return ((number, row[at]) for number, row in section.rows)

    def _number(self, number: int, name: str, text: str, *, decimal_comma: bool = True) -> float:
        """Return a number of at least 0; its shortest decimal form is what stands in the file."""
        if not NUMBER.fullmatch(text) or ("," in text and not decimal_comma):
            self._refuse(number, f"{name} is {text!r:.60}; allowed: a number of at least 0, such as 1200 or 1200.50")
        return float(text.replace(",", "."))

    def _refuse(self, number: int, message: str) -> NoReturn:
        raise DataError(f"{self.file}, line {number}: {message}" if number else f"{self.file}: {message}")


def _listed(cell: str) -> list[str]:
    """Return what stands between commas; an empty cell lists nothing."""
    if cell.casefold() in ("", NOT_KNOWN):
        return []
    return [each.strip() for each in cell.strip(",").split(",")]
