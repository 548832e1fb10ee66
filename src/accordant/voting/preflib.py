"""Ballots in the format of PrefLib (Mattei and Walsh 2013, preflib.org/format): .soc, .soi, .toc, .toi and .cat.

A file holds lines ``# KEY: value`` and then one line ``count: order`` per distinct ballot. Alternatives are the numbers
of the lines ``# ALTERNATIVE NAME number: name``, best first; PrefLib counts them from 1, other programs from 0 or with
gaps. Braces enclose ties. In a .cat file what stands between commas are categories, in declared order.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from accordant import limits
from accordant.errors import DataError, nearest
from accordant.tables.text import read_text
from accordant.voting.ballots import UNRANKED, Profile

Order = list[list[int]]


@dataclass(frozen=True)
class DataType:
    """What a type of file promises about each ballot."""

    meaning: str
    complete: bool
    ties: bool


TYPES = {
    "soc": DataType("strict orders of all alternatives", complete=True, ties=False),
    "soi": DataType("strict orders of some alternatives", complete=False, ties=False),
    "toc": DataType("orders with ties of all alternatives", complete=True, ties=True),
    "toi": DataType("orders with ties of some alternatives", complete=False, ties=True),
    "cat": DataType("a category for each alternative", complete=False, ties=True),
}
HEADER = re.compile(r"#\s*([A-Z][A-Z ]*?)\s*([0-9]*)\s*:\s?(.*)")
NUMBER = re.compile(r"[0-9]{1,12}")
BALLOT = re.compile(rf"({NUMBER.pattern})\s*:\s*(.*)")
NAMED = re.compile(r"ALTERNATIVE NAME (?P<number>[0-9]{1,12})")
COUNTS = ("NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER CATEGORIES", "NUMBER UNIQUE ORDERS")
SHOWN_NUMBERS = 10  # that a message lists
TIER = re.compile(r"\s*(?:\{([^{}]*)\}|([^{},]+))\s*(,|$)")


def read_preflib(path: str | Path) -> Profile:
    """Return the ballots of a file; each distinct ballot is one voter whose weight is its count.

    Alternatives that a ballot leaves out are below all others and tied. The categories of a .cat file give a ranking
    with ties, grades at equal distances from 1 (first category) to 0 (last), and approvals of the first category.

    Raises
    ------
    DataError
        If the file is missing, empty, not UTF-8, of the format before 2022, or breaks a promise of its header: the
        message names file and line, what was found, and what is allowed.
    """
    file = Path(path)
    return _Reader(file, read_text(file)).profile()


class _Reader:
    """One file on its way to a profile; every error names file and line."""

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.header: dict[str, tuple[int, str]] = {}
        self.ballots: list[tuple[int, str]] = []
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            if line.startswith("#"):
                self._read_header(number, line)
            elif line.strip():
                self.ballots.append((number, line.strip()))
        if not self.header:
            self._refuse_headless()
        self.kind = self._kind()
        self.n_alternatives = self._count("NUMBER ALTERNATIVES")
        limits.ALTERNATIVES.check(self.n_alternatives, str(file))
        limits.BALLOT_CELLS.check(self.n_alternatives * len(self.ballots), str(file))
        limits.PAIRED_WORK.check(self.n_alternatives**2 * len(self.ballots), str(file))
        self.names = self._names()
        self.columns = {number: column for column, number in enumerate(self.names)}

    def profile(self) -> Profile:
        """Return the ballots, checked."""
        names = self._distinct_names()
        if not self.ballots:
            self._refuse(0, "there are no ballots; allowed: at least one line 'count: order'")
        n_categories = self._count("NUMBER CATEGORIES") if self.kind == "cat" else None
        counts = np.zeros(len(self.ballots), dtype=np.int64)
        ranks = np.full((len(self.ballots), self.n_alternatives), UNRANKED, dtype=np.int32)
        for row, (number, line) in enumerate(self.ballots):
            counts[row], order = self._ballot(number, line)
            self._check_promises(number, order, n_categories)
            ranks[row] = self._ranks(number, order)
        self._check_number_of_voters(int(counts.sum()))
        if n_categories is None:
            return Profile(ranks, counts, names)
        grades = np.where(ranks == UNRANKED, 0.0, 1.0 - ranks / max(1, n_categories - 1))
        return Profile(ranks, counts, names, grades=grades, approvals=ranks == 0)

    def _read_header(self, number: int, line: str) -> None:
        match = HEADER.fullmatch(line)
        if match is None:
            return  # a comment
        key = f"{match[1]} {match[2]}".strip()
        if key in self.header and key.startswith(("NUMBER", "ALTERNATIVE", "DATA TYPE")):
            self._refuse(number, f"{key} occurs twice, first in line {self.header[key][0]}; allowed: once")
        self.header[key] = number, match[3].strip()

    def _kind(self) -> str:
        number, declared = self.header.get("DATA TYPE", (0, ""))
        suffix = self.file.suffix.lower().removeprefix(".")
        kind = declared or suffix
        if kind not in TYPES:
            self._refuse(number, f"DATA TYPE is {kind!r}; allowed: {', '.join(TYPES)}")
        if suffix in TYPES and suffix != kind:
            self._refuse(number, f"DATA TYPE is {kind!r} in a file named .{suffix}; allowed: {suffix!r}")
        return kind

    def _count(self, key: str) -> int:
        if key not in self.header:
            hint = nearest(key, [other for other in self.header if other not in COUNTS and not NAMED.fullmatch(other)])
            held = f"; a .cat file says how many categories a ballot has, {self._parts()}" if key == COUNTS[2] else ""
            said = f"; did you mean it by {hint!r}?" if hint else held
            self._refuse(0, f"header key '# {key}: ' is missing" + said)
        number, value = self.header[key]
        if not (NUMBER.fullmatch(value) and int(value) > 0):
            self._refuse(number, f"{key} is {value!r}; allowed: a whole number above 0")
        return int(value)

    def _parts(self) -> str:
        """Return how many parts the first ballot has, in words."""
        number, line = self.ballots[0] if self.ballots else (0, "")
        match = BALLOT.fullmatch(line)
        return f"line {number} has {len(TIER.findall(match[2]))}" if match else "such as 3"

    def _names(self) -> dict[int, str]:
        """Return number to name of the alternatives, by rising number."""
        names: dict[int, str] = {}
        for key, (line, name) in self.header.items():
            match = NAMED.fullmatch(key)
            if match is None:
                continue
            number = int(match["number"])
            if not name:
                self._refuse(line, f"'# {key}: ' is missing or empty")
            if number in names:
                self._refuse(line, f"{key} names alternative {number} again; allowed: once")
            if len(names) == self.n_alternatives:
                self._refuse(line, f"{key}, but NUMBER ALTERNATIVES is {self.n_alternatives}")
            names[number] = name
        if len(names) < self.n_alternatives:
            usual = next(number for number in range(1, self.n_alternatives + 1) if number not in names)
            line = self.header["NUMBER ALTERNATIVES"][0]
            self._refuse(
                line,
                f"'# ALTERNATIVE NAME {usual}: ' is missing or empty: {len(names)} alternatives have a name; "
                f"allowed: {self.n_alternatives}, which is NUMBER ALTERNATIVES",
            )
        return dict(sorted(names.items()))

    def _distinct_names(self) -> list[str]:
        """Return the names; one that occurs twice gets its number, so that results can be told apart."""
        times = Counter(self.names.values())
        return [f"{name} ({number})" if times[name] > 1 else name for number, name in self.names.items()]

    def _ballot(self, number: int, line: str) -> tuple[int, Order]:
        match = BALLOT.fullmatch(line)
        if match is None or int(match[1]) < 1:
            self._refuse(number, f"found {line!r:.60}; allowed: 'count: order', such as '12: 3,{{1,2}}'")
        text = match[2].strip()
        if "{" not in text and "}" not in text:
            return int(match[1]), [[self._alternative(number, part)] for part in text.split(",")]
        order: Order = []
        at, more = 0, True
        while more:
            tier = TIER.match(text, at)
            if tier is None:
                self._refuse(number, f"order {text!r:.60} is malformed; allowed: numbers, commas, and {{}} around ties")
            inside = tier[2] if tier[1] is None else tier[1].strip()
            order.append([self._alternative(number, part) for part in inside.split(",")] if inside else [])
            at, more = tier.end(), tier[3] == ","
        return int(match[1]), order

    def _alternative(self, line: int, text: str) -> int:
        """Return the column of an alternative."""
        column = self.columns.get(int(text)) if NUMBER.fullmatch(text.strip()) else None
        if column is None:
            self._refuse(line, f"alternative {text.strip()!r:.60} is not declared; allowed: {self._numbers()}")
        return column

    def _numbers(self) -> str:
        """Return the numbers of the alternatives in words."""
        numbers = list(self.names)
        if numbers == list(range(numbers[0], numbers[-1] + 1)):
            return f"{numbers[0]} to {numbers[-1]}"
        return ", ".join(map(str, numbers[:SHOWN_NUMBERS])) + (", …" if len(numbers) > SHOWN_NUMBERS else "")

    def _ranks(self, line: int, order: Order) -> list[int]:
        """Return the rank of every alternative: how many tiers are above its own."""
        ranks = [UNRANKED] * self.n_alternatives
        for rank, tier in enumerate(order):
            for column in tier:
                if ranks[column] != UNRANKED:
                    self._refuse(line, f"alternative {list(self.names)[column]} occurs twice; allowed: once")
                ranks[column] = rank
        if TYPES[self.kind].complete and UNRANKED in ranks:
            missing = list(self.names)[ranks.index(UNRANKED)]
            self._refuse(line, f"alternative {missing} is missing; a {self.kind} file holds {self._promise()}")
        return ranks

    def _check_promises(self, number: int, order: Order, n_categories: int | None) -> None:
        if n_categories is not None:
            if len(order) != n_categories:
                self._refuse(number, f"{len(order)} categories; allowed: {n_categories}, {{}} for an empty one")
            return
        if not TYPES[self.kind].ties and any(len(tier) > 1 for tier in order):
            self._refuse(number, f"a tie; a {self.kind} file holds {self._promise()}")
        if not all(order):
            self._refuse(number, "empty braces; allowed: at least one alternative between them")

    def _check_number_of_voters(self, n_voters: int) -> None:
        declared = self._count("NUMBER VOTERS")
        if n_voters != declared:
            number = self.header["NUMBER VOTERS"][0]
            self._refuse(number, f"NUMBER VOTERS is {declared}, but the counts of the ballots sum to {n_voters}")

    def _promise(self) -> str:
        return TYPES[self.kind].meaning

    def _refuse_headless(self) -> NoReturn:
        if not self.ballots:
            self._refuse(0, "the file is empty; allowed: header lines '# KEY: value' and ballots 'count: order'")
        number, line = self.ballots[0]
        if line.isdecimal():
            self._refuse(
                number,
                f"found {line!r}: this is PrefLib's format before 2022; allowed: the present one, "
                "with header lines '# KEY: value' (download the file again from preflib.org)",
            )
        self._refuse(number, f"found {line!r:.60}; allowed: header lines '# KEY: value' first")

    def _refuse(self, number: int, message: str) -> NoReturn:
        raise DataError(f"{self.file}, line {number}: {message}" if number else f"{self.file}: {message}")
