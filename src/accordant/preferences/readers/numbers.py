"""Comparisons of items that are described by numbers: one record per row, both items side by side.

Columns ``chosen_<name>`` and ``rejected_<name>`` hold the same features of the two items, ``user_id`` says whose
preference it is. ``group_id``, ``weight`` and ``margin`` may be there, and ``user_<name>`` for what is known of a user.
[ours]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from accordant.arrays import Values
from accordant.errors import DataError, MissingColumnError
from accordant.preferences.records import Comparisons
from accordant.tables.text import Entry, read_json_lines, read_table, refuse_unknown

CHOSEN, REJECTED, USER = "chosen_", "rejected_", "user_"
USER_ID, GROUP, WEIGHT, MARGIN = "user_id", "group_id", "weight", "margin"
PLAIN = (USER_ID, GROUP, WEIGHT, MARGIN)


@dataclass(frozen=True, eq=False)
class NumberedComparisons:
    """Comparisons with the names of their features.

    Attributes
    ----------
    comparisons
        Every distinct row of features is one item, so that the same two items compared twice are recognised. Users
        stand in the order in which they first occur.
    feature_names, user_feature_names
        Columns of ``features`` and ``user_features``, in the order of the file.
    """

    comparisons: Comparisons
    feature_names: tuple[str, ...]
    user_feature_names: tuple[str, ...]


def read_numbers(path: str | Path, *, ignore: Sequence[str] = ()) -> NumberedComparisons:
    """Return the records of a CSV file, or of JSON lines with the same keys.

    Parameters
    ----------
    path
        The file.
    ignore
        Columns that are left out, ``"*"`` for all whose meaning is unknown.

    Raises
    ------
    DataError
        If the file is unreadable, ``user_id`` or a feature of one of the two items is missing, a column is unknown, a
        cell is no number, two items are equal, or something known of a user changes; the message names the line.
    """
    entries, columns = read_entries(path)
    columns = tuple(column for column in columns if column not in ignore)
    name = Path(path).name
    features = _features(name, columns)
    about = tuple(column for column in columns if column.startswith(USER) and column != USER_ID)
    sides = [side + feature for side in (CHOSEN, REJECTED) for feature in features]
    refuse_unknown(name, "column", columns, (*PLAIN, *sides, *about), ignore)
    if USER_ID not in columns:
        raise MissingColumnError(USER_ID, columns, name)
    rows = np.stack([[_number(entry, side + f) for f in features] for side in (CHOSEN, REJECTED) for entry in entries])
    items, position = np.unique(rows, axis=0, return_inverse=True)
    chosen, rejected = position.reshape(2, len(entries)).astype(np.intp)
    for row in np.flatnonzero(chosen == rejected)[:1]:
        raise DataError(f"{entries[row].where}: chosen and rejected have the same features")
    users = [_name(entry, USER_ID) for entry in entries]
    first = {user: row for row, user in reversed(list(enumerate(users)))}
    names = tuple(dict.fromkeys(users))
    code = {user: position for position, user in enumerate(names)}
    known = np.array([[_number(entry, column) for column in about] for entry in entries]).reshape(
        len(entries), len(about)
    )
    groups = [_name(entry, GROUP) for entry in entries] if GROUP in columns else None
    for row, user in enumerate(users):
        _refuse_changes(entries[row], user, row, first[user], known, groups)
    of_user = [first[user] for user in names]
    comparisons = Comparisons(
        items, chosen, rejected, np.array([code[user] for user in users], dtype=np.intp), names,
        None if groups is None else tuple(groups[row] for row in of_user),
        np.array([_number(entry, WEIGHT) for entry in entries]) if WEIGHT in columns else None,
        np.array([_number(entry, MARGIN, gaps=True) for entry in entries]) if MARGIN in columns else None,
        known[of_user] if about else None,
    )  # fmt: skip
    return NumberedComparisons(comparisons, features, tuple(column.removeprefix(USER) for column in about))


def read_entries(path: str | Path) -> tuple[Sequence[Entry], tuple[str, ...]]:
    """Return rows, and the columns of the first one."""
    file = Path(path)
    suffix = (Path(file.stem) if file.suffix.lower() == ".gz" else file).suffix.lower()
    if suffix in (".jsonl", ".json", ".ndjson"):
        entries = read_json_lines(path)
        columns = tuple(entries[0].values)
        for entry in entries:
            refuse_unknown(entry.where, "key", entry.values, columns)
        return entries, columns
    table = read_table(path)
    return table.entries(), table.header


def _features(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the features, each of which both items must have."""
    both = [
        tuple(column.removeprefix(side) for column in columns if column.startswith(side) and column != side)
        for side in (CHOSEN, REJECTED)
    ]
    for side, here, there in ((REJECTED, both[1], both[0]), (CHOSEN, both[0], both[1])):
        for feature in there:
            if feature not in here:
                raise MissingColumnError(side + feature, columns, name)
    if not both[0]:
        raise DataError(f"{name} has no columns {CHOSEN}<name> and {REJECTED}<name>; found: {', '.join(columns)}")
    return both[0]


def _refuse_changes(entry: Entry, user: str, row: int, first: int, known: Values, groups: Sequence[str] | None) -> None:
    """Raise an error if what is said of a user differs from what was said first."""
    if (known[row] != known[first]).any():
        column = [name for name in entry.values if name.startswith(USER) and name != USER_ID][
            int(np.argmax(known[row] != known[first]))
        ]
        raise DataError(f"{entry.where}: {column} of user {user!r} changes; allowed: one value per user")
    if groups is not None and groups[row] != groups[first]:
        raise DataError(
            f"{entry.where}: user {user!r} stands in group {groups[first]!r} and in {groups[row]!r}; allowed: one"
        )


def _name(entry: Entry, column: str) -> str:
    """Return a name, which must be there."""
    value = entry.required(column)
    if value is None or isinstance(value, bool | list | dict) or not str(value).strip():
        raise DataError(f"{entry.where}: {column} is {value!r:.40}; allowed: a name or a number")
    return str(value).strip()


def _number(entry: Entry, column: str, *, gaps: bool = False) -> float:
    """Return a finite number, or NaN for an empty cell where gaps are allowed."""
    value = entry.required(column)
    return math.nan if gaps and (value is None or not str(value).strip()) else entry.number(column)
