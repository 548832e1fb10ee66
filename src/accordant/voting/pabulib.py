"""Votes on projects in the format of Pabulib (Faliszewski et al. 2023, pabulib.org/format): .pb.

A file holds three tables, META, PROJECTS and VOTES. Each begins with its name on a line, then the names of its columns;
cells stand between semicolons and may be quoted. Some files leave the names ``key;value`` of META out. The cell
``vote`` lists the projects of a voter with commas between, ``points`` as many numbers in the same order. How votes
become scores:

    approval, choose-1     1 for each project on the ballot
    cumulative, scoring    the points; with scoring, META ``default_score`` for projects that are not on the ballot
    ordinal                places × from the top, as Borda counts: the first of the ballot gets L, the next L − 1, …,
                           with L = META ``max_length``, or the number of projects if it is not there

META ``scoring_fn`` is not applied: ordinal votes are counted as Borda does, and a warning says so if the file names
another function.
"""

from __future__ import annotations

import csv
import io
import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import NoReturn, cast, get_args

import numpy as np

from accordant import limits
from accordant.arrays import Values
from accordant.errors import DataError, allowed_names
from accordant.tables.text import read_text
from accordant.voting.ballots import Election, VoteType

log = logging.getLogger(__name__)

SECTIONS = {"META": ("key", "value"), "PROJECTS": ("project_id", "cost"), "VOTES": ("voter_id", "vote")}
META_KEYS = (  # with which META may begin where the names of its columns are left out
    "description", "country", "unit", "subunit", "district", "subdistrict", "instance", "edition", "language",
    "currency", "date_begin", "date_end", "num_projects", "num_votes", "budget", "vote_type", "rule", "comment",
)  # fmt: skip
NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")  # some files write the decimal comma
THOUSANDS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")  # 1,000 may be a thousand, or one
COUNT = re.compile(r"[0-9]{1,18}")
WITH_POINTS = ("cumulative", "scoring")
LIMITS = ("max_length", "max_points", "max_sum_points")
ROUNDING = 1e-9  # of a sum of points
BORDA = "borda"
NOT_KNOWN = "none"  # how Pabulib writes an empty cell


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
                limits.BALLOT_CELLS.check(len(current.rows) * len(current.columns), f"{file}, line {start}")
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
        if title == "META" and header and columns[0] in META_KEYS:
            self.sections[title] = Section(line, SECTIONS[title])
            self.sections[title].rows.append((header[0], self._fitted(header[0], header[2], self.sections[title])))
            return self.sections[title]
        limits.COLUMNS.check(len(columns), f"{self.file}, line {line + 1}")
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


def read_pabulib(path: str | Path) -> Election:
    """Return the projects and votes of a file, one voter per row with weight 1.

    Voters without a vote are kept: they have a share of the budget. A project may cost 0, or more than the budget.
    What a file may hold although it should not is kept and logged as a warning: a voter's id that occurs twice, an
    approved project that is named twice, and ballots beyond META ``max_length`` (an error for ordinal votes),
    ``max_points`` or ``max_sum_points``.

    Raises
    ------
    DataError
        If the file is missing, is not UTF-8, or breaks its format: the message names file, line and field, what was
        found, and what is allowed.
    """
    file = Path(path)
    return _Reader(file, read_text(file)).election()


class _Reader:
    """One file on its way to an election; every error names file and line."""

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.tables = Tables(file, text)
        self.meta = self._meta()
        self.vote_type = self._vote_type()
        self.projects = self._projects()

    def election(self) -> Election:
        """Return the votes, checked."""
        number = self.tables.number
        costs = [number(line, "cost", cell) for line, cell in self.tables["PROJECTS"].cells("cost")]
        scores = self._scores()
        self._check_number("num_projects", len(self.projects))
        self._check_number("num_votes", len(scores))
        self._compare_votes(scores)
        self._compare_voters()
        if "budget" not in self.meta:
            self.tables.refuse(self.tables["META"].line, "key 'budget' is missing; allowed: a number of at least 0")
        return Election(
            tuple(self.projects), np.array(costs), number(*self._given("budget")), scores, np.ones(len(scores)),
            self.vote_type, {key: value for key, (_, value) in self.meta.items()},
            self._facts("VOTES", ("vote", "points")), self._facts("PROJECTS", ("project_id", "cost")),
        )  # fmt: skip

    def _meta(self) -> dict[str, tuple[int, str]]:
        meta: dict[str, tuple[int, str]] = {}
        section = self.tables["META"]
        for (line, key), (_, value) in zip(section.cells("key"), section.cells("value"), strict=True):
            if key.casefold() in meta:
                self.tables.refuse(line, f"key {key!r} occurs twice in META; allowed: once")
            meta[key.casefold()] = line, value
        return meta

    def _given(self, key: str) -> tuple[int, str, str]:
        """Return line, key and value of a line of META."""
        line, value = self.meta[key]
        return line, key, value

    def _vote_type(self) -> VoteType:
        number, vote_type = self.meta.get("vote_type", (self.tables["META"].line, ""))
        if vote_type.casefold() not in get_args(VoteType):
            self.tables.refuse(number, f"vote_type is {vote_type!r}; {allowed_names(get_args(VoteType), vote_type)}")
        return cast("VoteType", vote_type.casefold())

    def _projects(self) -> dict[str, int]:
        """Return the position of each project by its id."""
        positions: dict[str, int] = {}
        for number, project in self.tables["PROJECTS"].cells("project_id"):
            if project.casefold() in ("", NOT_KNOWN) or project in positions:
                self.tables.refuse(number, f"project_id {project!r} is empty or occurs twice; allowed: different ids")
            positions[project] = len(positions)
        if not positions:
            self.tables.refuse(self.tables["PROJECTS"].line, "there are no projects; allowed: at least one")
        return positions

    def _scores(self) -> Values:
        voters = self.tables["VOTES"]
        counted = self.vote_type in WITH_POINTS
        if counted and "points" not in voters.columns:
            self.tables.refuse(voters.line + 1, f"votes are {self.vote_type}, but there is no column 'points'")
        limits.BALLOT_CELLS.check(len(voters.rows) * len(self.projects), str(self.file))
        scores = np.zeros((len(voters.rows), len(self.projects)))
        if self.vote_type == "scoring" and "default_score" in self.meta:
            scores += self.tables.number(*self._given("default_score"))
        most = self._length()
        beyond = _Beyond(self.file, {key: limit for key in LIMITS if (limit := self._limit(key)) is not None})
        points = voters.cells("points") if counted else voters.cells("vote")
        for row, ((line, vote), (_, given)) in enumerate(zip(voters.cells("vote"), points, strict=True)):
            chosen = self._ballot(line, vote)
            if counted:
                scores[row, chosen] = gives = self._points(line, given, len(chosen))
                beyond.note(line, max_length=len(chosen), max_points=max(gives, default=0), max_sum_points=sum(gives))
            elif self.vote_type == "ordinal":
                if len(chosen) > most:
                    self.tables.refuse(line, f"vote ranks {len(chosen)} projects; allowed: at most max_length, {most}")
                scores[row, chosen] = np.arange(most, most - len(chosen), -1)
            else:
                scores[row, chosen] = 1.0
                beyond.note(line, max_length=len(chosen))
        beyond.tell()
        return scores

    def _length(self) -> int:
        """Return how many projects an ordinal ballot may rank."""
        if self.vote_type != "ordinal":
            return len(self.projects)
        line, function = self.meta.get("scoring_fn", (0, ""))
        if function.casefold() not in ("", NOT_KNOWN, BORDA):
            log.warning("%s, line %d: scoring_fn is %r, but places are scored as by Borda", self.file, line, function)
        line, given = self.meta.get("max_length", (0, ""))
        if not given:
            return len(self.projects)
        if not (COUNT.fullmatch(given) and int(given) > 0):
            self.tables.refuse(line, f"max_length is {given!r:.60}; allowed: a whole number above 0")
        return int(given)

    def _limit(self, key: str) -> float | None:
        """Return the number of a line of META that limits ballots; None if there is none."""
        if self.meta.get(key, (0, ""))[1].casefold() in ("", NOT_KNOWN):
            return None
        return self.tables.number(*self._given(key))

    def _ballot(self, number: int, vote: str) -> list[int]:
        """Return the positions of the projects on a ballot, in its order."""
        named = _listed(vote)
        for project in named:
            if project not in self.projects:
                self.tables.refuse(
                    number, f"vote names project {project!r}; {allowed_names(self.projects, project):.200}"
                )
        if len(set(named)) < len(named):
            if self.vote_type != "approval":
                self.tables.refuse(number, f"vote names a project twice: {vote!r:.60}; allowed: once")
            log.warning("%s, line %d: vote names a project twice, counted once", self.file, number)
        if self.vote_type == "choose-1" and len(named) > 1:
            self.tables.refuse(number, f"vote names {len(named)} projects; allowed: at most 1 with vote_type choose-1")
        return [self.projects[project] for project in dict.fromkeys(named)]

    def _points(self, number: int, given: str, expected: int) -> list[float]:
        cells = _listed(given)
        if len(cells) != expected:
            self.tables.refuse(
                number, f"points has {len(cells)} numbers and vote {expected} projects; allowed: as many"
            )
        return [self.tables.number(number, "points", cell, decimal_comma=False) for cell in cells]

    def _check_number(self, key: str, count: int) -> None:
        if key in self.meta:
            number, declared = self.meta[key]
            if declared != str(count):
                self.tables.refuse(number, f"{key} is {declared!r:.60}, but the file holds {count}")

    def _compare_votes(self, scores: Values) -> None:
        """Say where the organisers counted otherwise: some votes are taken out before a file is published."""
        if "votes" not in self.tables["PROJECTS"].columns:
            return
        counted = (scores > 0).sum(axis=0)
        for (number, declared), count in zip(self.tables["PROJECTS"].cells("votes"), counted.tolist(), strict=True):
            if COUNT.fullmatch(declared) and int(declared) != count:
                log.warning("%s, line %d: votes is %s, but %d ballots name it", self.file, number, declared, count)

    def _compare_voters(self) -> None:
        """Say which voters occur twice; some files number the voters of each place anew."""
        first: dict[str, int] = {}
        again = [
            (line, first[voter])
            for line, voter in self.tables["VOTES"].cells("voter_id")
            if first.setdefault(voter, line) != line and voter
        ]
        if again:
            log.warning(
                "%s, line %d: the first of %d voter ids that occur again, before in line %d; all are counted",
                self.file, again[0][0], len(again), again[0][1],
            )  # fmt: skip

    def _facts(self, title: str, read: Sequence[str]) -> dict[str, tuple[str, ...]]:
        section = self.tables[title]
        return {
            name: tuple("" if cell.casefold() == NOT_KNOWN else cell for cell in section.column(name))
            for name in section.columns
            if name and name not in read
        }


class _Beyond:
    """Ballots that hold more than META allows: counted, and told in one warning for each limit."""

    def __init__(self, file: Path, limits: Mapping[str, float]) -> None:
        self.file, self.limits = file, limits
        self.lines: dict[str, list[int]] = {key: [] for key in limits}

    def note(self, line: int, **held: float) -> None:
        """Compare what a ballot holds with each limit of that name."""
        for key, amount in held.items():
            if key in self.limits and amount > self.limits[key] * (1 + ROUNDING):
                self.lines[key].append(line)

    def tell(self) -> None:
        """Log how many ballots are beyond each limit, and the first of them."""
        for key, lines in self.lines.items():
            if lines:
                log.warning(
                    "%s, line %d: the first of %d ballots beyond %s, %g; kept as they are",
                    self.file, lines[0], len(lines), key, self.limits[key],
                )  # fmt: skip


def _listed(cell: str) -> list[str]:
    """Return what stands between commas; an empty cell lists nothing."""
    if cell.casefold() in ("", NOT_KNOWN):
        return []
    return [part.strip() for part in cell.strip(",").split(",")]
