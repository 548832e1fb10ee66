"""Files of comparisons of cells: what people answered when asked which of two actions with their outcomes is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import DataError, UnknownNameError
from accordant.problem import DecisionProblem, value_label
from accordant.tables.text import Entry, file_hash, missing, read_json_lines, read_table

CELLS = ("chosen_action", "chosen_outcome", "rejected_action", "rejected_outcome")
USER, GROUP, WEIGHT = "user_id", "group_id", "weight"
JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
ANYBODY = "anybody"  # the one user of a file that names none


@dataclass(frozen=True, eq=False)
class Answers:
    """Comparisons of two cells in a shared context.

    Attributes
    ----------
    source, sha256
        Name of the file and hash of its bytes.
    actions
        Codes of the chosen and of the rejected action, shape (2, record).
    outcomes
        Codes of discrete outcomes, or numbers, likewise.
    contexts
        Shared numbers, shape (record, column); NaN where nobody said.
    users, user_names
        Position of each record's user, shape (record,), and the names.
    groups
        Group of each user; None if the file names none.
    weights
        At least 0, shape (record,); None for 1 each.
    unused
        Columns of the file that nothing reads.
    """

    source: str
    sha256: str
    actions: Codes
    outcomes: Codes | Values
    contexts: Values
    users: Codes
    user_names: tuple[str, ...]
    groups: tuple[str, ...] | None
    weights: Values | None
    unused: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.users)

    def taken(self, rows: Codes) -> Answers:
        """Return some records; users keep their codes."""
        return replace(
            self, actions=self.actions[:, rows], outcomes=self.outcomes[:, rows], contexts=self.contexts[rows],
            users=self.users[rows], weights=None if self.weights is None else self.weights[rows],
        )  # fmt: skip

    def of_weighing_users(self) -> tuple[Answers, tuple[str, ...]]:
        """Return the records of users with any weight above 0, and the names of the other users."""
        if self.weights is None:
            return self, ()
        weighing = np.bincount(self.users, self.weights, minlength=len(self.user_names)) > 0
        kept = np.flatnonzero(weighing)
        found = replace(
            self.taken(np.flatnonzero(weighing[self.users])),
            user_names=tuple(self.user_names[user] for user in kept),
            groups=None if self.groups is None else tuple(self.groups[user] for user in kept),
        )
        left_out = tuple(self.user_names[user] for user in np.flatnonzero(~weighing))
        return replace(found, users=np.searchsorted(kept, found.users).astype(np.intp)), left_out


def read_answers(
    path: str | Path,
    problem: DecisionProblem,
    *,
    context: Sequence[str] = (),
    only: Sequence[str] | None = None,
) -> Answers:
    """Read a CSV file, or a file of JSON lines (``.jsonl``, ``.ndjson``), plain or gzip.

    Columns: ``chosen_action``, ``chosen_outcome``, ``rejected_action``, ``rejected_outcome``; if known ``user_id``,
    ``group_id`` (of the user), ``weight``; and those in `context`. Other columns are not read.

    Parameters
    ----------
    path
        The file.
    problem
        Declares actions and outcomes.
    context
        Columns with numbers that both cells share; an empty cell counts as the mean.
    only
        Names of the users whose records count; None for all.

    Raises
    ------
    DataError
        If the file is unreadable or empty, a column is missing, or a value cannot be used; with file and line.
    """
    file = Path(path)
    entries, columns = _entries(file)
    for column in (*CELLS, *context, *([USER] if only is not None or GROUP in columns else [])):
        if column not in columns:
            raise DataError(f"{file.name}: {missing('column', column, columns)}")
    entries = _of_users(entries, file.name, only)
    actions, outcomes = _cells(entries, problem)
    names = [_name(entry, USER) for entry in entries] if USER in columns else [ANYBODY] * len(entries)
    user_names = tuple(dict.fromkeys(names))
    place = {name: code for code, name in enumerate(user_names)}
    return Answers(
        file.name,
        file_hash(file),
        actions,
        outcomes,
        np.array([[_shared(entry, column) for column in context] for entry in entries]).reshape(len(entries), -1),
        np.array([place[name] for name in names], dtype=np.intp),
        user_names,
        _groups(entries, names) if GROUP in columns else None,
        _weights(entries, file.name) if WEIGHT in columns else None,
        tuple(column for column in columns if column not in (*CELLS, USER, GROUP, WEIGHT, *context)),
    )


def _entries(file: Path) -> tuple[Sequence[Entry], tuple[str, ...]]:
    """Return one entry per record, text without spaces around it, and the names of the columns."""
    if file.name.lower().endswith(JSON_LINES):
        entries = read_json_lines(file)
        return entries, tuple(dict.fromkeys(key for entry in entries for key in entry.values))
    table = read_table(file)
    rows = (dict(zip(table.header, (cell.strip() for cell in row), strict=True)) for row in table.rows)
    return [Entry(f"{table.name} line {line}", row) for line, row in zip(table.lines, rows, strict=True)], table.header


def _of_users(entries: Sequence[Entry], source: str, only: Sequence[str] | None) -> Sequence[Entry]:
    """Return the records of some users, each of whom must have one."""
    if only is None:
        return entries
    names = [_name(entry, USER) for entry in entries]
    for name in only:
        if name not in names:
            raise DataError(f"{source}: {UnknownNameError(USER, name, dict.fromkeys(names))}")
    return [entry for entry, name in zip(entries, names, strict=True) if name in only]


def _cells(entries: Sequence[Entry], problem: DecisionProblem) -> tuple[Codes, Codes | Values]:
    """Return codes of actions and codes or numbers of outcomes, chosen ones first, shape (2, record)."""
    action_code = {name: code for code, name in enumerate(problem.actions)}
    outcome_code = {name: code for code, name in enumerate(problem.outcome_names)}
    actions = np.empty((2, len(entries)), dtype=np.intp)
    outcomes: NDArray[Any] = np.empty((2, len(entries)), dtype=np.float64 if problem.continuous else np.intp)
    for row, entry in enumerate(entries):
        for side, what in enumerate(("chosen", "rejected")):
            actions[side, row] = _code(entry, f"{what}_action", action_code)
            column = f"{what}_outcome"
            if problem.continuous:
                outcomes[side, row] = _bounded(entry, column, problem)
            else:
                outcomes[side, row] = _code(entry, column, outcome_code)
        if actions[0, row] == actions[1, row] and outcomes[0, row] == outcomes[1, row]:
            raise DataError(f"{entry.where}: chosen and rejected are the same action and outcome")
    return actions, outcomes


def _code(entry: Entry, column: str, codes: dict[str, int]) -> int:
    """Return the position of a declared name."""
    name = _name(entry, column)
    if name not in codes:
        raise DataError(f"{entry.where}: {UnknownNameError(column, name, codes)}")
    return codes[name]


def _name(entry: Entry, column: str) -> str:
    """Return a value that must be there, as text; 1, 1.0 and "1" are the same name."""
    value = entry.required(column)
    if _is_missing(value) or isinstance(value, list | dict):
        raise DataError(f"{entry.where}: {column} is {value!r:.40}; allowed: a name")
    return value_label(value).strip()


def _bounded(entry: Entry, column: str, problem: DecisionProblem) -> float:
    """Return a continuous outcome within the declared bounds."""
    number = _number(entry, column, math.isfinite, "a number")
    try:
        return float(problem.outcome_values([number])[0])
    except DataError as error:
        raise DataError(f"{entry.where}: {column} is {number:g}; {str(error).partition('; ')[2]}") from None


def _shared(entry: Entry, column: str) -> float:
    """Return a number that both cells share; NaN if it is missing."""
    if _is_missing(entry.values.get(column)):
        return math.nan
    return _number(entry, column, math.isfinite, "a number, or nothing")


def _weights(entries: Sequence[Entry], source: str) -> Values:
    found = np.array([_number(entry, WEIGHT, lambda each: 0 <= each < math.inf, "at least 0") for entry in entries])
    if not found.any():
        raise DataError(f"{source}: every weight is 0; at least one record must count")
    return found


def _groups(entries: Sequence[Entry], users: Sequence[str]) -> tuple[str, ...]:
    """Return the group of each user, in the order of first records; a user in two groups is an error."""
    found: dict[str, str] = {}
    for entry, user in zip(entries, users, strict=True):
        group = _name(entry, GROUP)
        if found.setdefault(user, group) != group:
            raise DataError(f"{entry.where}: user {user!r} is in group {group!r}, and in {found[user]!r} before")
    return tuple(found.values())


def _number(entry: Entry, column: str, allowed: Callable[[float], bool], words: str) -> float:
    """Return a value as a number that is allowed."""
    value = entry.required(column)
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not allowed(number):
        raise DataError(f"{entry.where}: {column} is {value!r:.40}; allowed: {words}")
    return number


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
