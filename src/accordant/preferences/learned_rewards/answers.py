"""Comparisons of cells: what people answered when asked which of two actions with their outcomes is better."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import DataError, MissingColumnError, UnknownNameError
from accordant.problem import DecisionProblem, value_label
from accordant.tables.text import Entry, file_hash, read_json_lines, read_table

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

    @property
    def records_sha256(self) -> str:
        """Hash of the records alone, which tells whether those of some people changed, whatever else the file holds.

        Names of people are not part of it, but which records are of the same person is.
        """
        weights = np.ones(len(self)) if self.weights is None else self.weights
        numbers = [*self.actions, *self.outcomes, *self.contexts.T, self.users, weights]
        return hashlib.sha256(np.array(numbers, dtype="<f8").tobytes()).hexdigest()

    def of_users(self, kept: Codes) -> Answers:
        """Return the records of some users, who get codes in the given, rising order; others are forgotten."""
        rows = np.flatnonzero(np.isin(self.users, kept))
        answers = replace(
            self.taken(rows),
            user_names=tuple(self.user_names[user] for user in kept),
            groups=None if self.groups is None else tuple(self.groups[user] for user in kept),
        )
        return replace(answers, users=np.searchsorted(kept, answers.users).astype(np.intp))

    def of_weighing_users(self) -> tuple[Answers, int]:
        """Return the records of users with any weight above 0, and how many other users there are."""
        if self.weights is None:
            return self, 0
        weighing = np.bincount(self.users, self.weights, minlength=len(self.user_names)) > 0
        return self.of_users(np.flatnonzero(weighing)), int((~weighing).sum())


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
            raise MissingColumnError(column, columns, file.name)
    entries = _of_users(entries, file.name, only)
    actions, outcomes = _cells(entries, problem)
    names = [_name(entry, USER) for entry in entries] if USER in columns else [ANYBODY] * len(entries)
    user_names = tuple(dict.fromkeys(names))
    place = {name: code for code, name in enumerate(user_names)}
    return Answers(
        file.name, file_hash(file), actions, outcomes,
        np.array([[_shared(entry, column) for column in context] for entry in entries]).reshape(len(entries), -1),
        np.array([place[name] for name in names], dtype=np.intp), user_names,
        _groups(entries, names) if GROUP in columns else None,
        _weights(entries, file.name) if WEIGHT in columns else None,
        tuple(column for column in columns if column not in (*CELLS, USER, GROUP, WEIGHT, *context)),
    )  # fmt: skip


def _entries(file: Path) -> tuple[Sequence[Entry], tuple[str, ...]]:
    """Return one entry per record, text without spaces around it, and the names of the columns."""
    if file.name.lower().endswith(JSON_LINES):
        entries = read_json_lines(file)
        return entries, tuple(dict.fromkeys(key for entry in entries for key in entry.values))
    table = read_table(file)
    stripped = ((entry.where, {key: cell.strip() for key, cell in entry.values.items()}) for entry in table.entries())
    return [Entry(*fields) for fields in stripped], table.header


def _of_users(entries: Sequence[Entry], source: str, only: Sequence[str] | None) -> Sequence[Entry]:
    """Return the records of some users, each of whom must have one."""
    if only is None:
        return entries
    names, counting = [_name(entry, USER) for entry in entries], set(only)
    there = dict.fromkeys(names)
    for name in only:
        if name not in there:
            raise DataError(f"{source}: {UnknownNameError(USER, name, there)}")
    return [entry for entry, name in zip(entries, names, strict=True) if name in counting]


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
    number = entry.number(column)
    try:
        return float(problem.outcome_values([number])[0])
    except DataError as error:
        raise DataError(f"{entry.where}: {column} is {number:g}; {str(error).partition('; ')[2]}") from None


def _shared(entry: Entry, column: str) -> float:
    """Return a number that both cells share; NaN if it is missing."""
    if _is_missing(entry.values.get(column)):
        return math.nan
    return entry.number(column, "a number, or nothing")


def _weights(entries: Sequence[Entry], source: str) -> Values:
    weights = np.array([entry.number(WEIGHT, "at least 0", lambda weight: 0 <= weight < math.inf) for entry in entries])
    if not weights.any():
        raise DataError(f"{source}: every weight is 0; at least one record must count")
    return weights


def _groups(entries: Sequence[Entry], users: Sequence[str]) -> tuple[str, ...]:
    """Return the group of each user, in the order of first records; a user in two groups is an error."""
    group_of: dict[str, str] = {}
    for entry, user in zip(entries, users, strict=True):
        group = _name(entry, GROUP)
        if group_of.setdefault(user, group) != group:
            raise DataError(f"{entry.where}: user {user!r} is in group {group!r}, and in {group_of[user]!r} before")
    return tuple(group_of.values())


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
