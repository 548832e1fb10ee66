"""Columns that say more of each record than learners read: whether responses agree with a false stance, and when."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import DataError, MissingColumnError
from accordant.preferences.comparison.sources import Kind
from accordant.preferences.readers.numbers import read_entries
from accordant.tables.text import Entry

AGREES = ("chosen_agrees", "rejected_agrees")
TRUTHS = {"1": True, "1.0": True, "true": True, "yes": True, "0": False, "0.0": False, "false": False, "no": False}
SECONDS_OF_DAY = 86_400
WITH_COLUMNS: tuple[Kind, ...] = ("trl", "features")


@dataclass(frozen=True, eq=False)
class RecordTimes:
    """When records were made.

    Attributes
    ----------
    values
        Shape (record,); days since 1970 if the cells are dates.
    dates
        Whether they are.
    """

    values: Values
    dates: bool

    def label(self, time: float) -> str:
        """Return a time as the file writes it, dates without the hour."""
        if not self.dates:
            return f"{time:g}"
        start = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        return (start + dt.timedelta(days=time)).date().isoformat()


def read_agreement(path: Path, kind: Kind) -> Mask:
    """Return whether the chosen and whether the rejected response agrees with a false stance, shape (2, record).

    Raises
    ------
    InputError
        If the file has no such columns, or a cell says neither yes nor no; the message names the line.
    """
    entries = _entries_with(path, kind, AGREES, "--agreement")
    return np.array([[_truth(entry, column) for entry in entries] for column in AGREES])


def read_times(path: Path, kind: Kind, column: str) -> RecordTimes:
    """Return when each record was made.

    Raises
    ------
    InputError
        If the file has no such column, or a cell is neither a number nor a date as in the first row; the message names
        the line.
    """
    entries = _entries_with(path, kind, (column,), "--over-time")
    dates = _number(entries[0].required(column)) is None
    return RecordTimes(np.array([_time(entry, column, dates=dates) for entry in entries]), dates)


def _entries_with(path: Path, kind: Kind, columns: tuple[str, ...], flag: str) -> list[Entry]:
    """Return the rows of a file that has some columns."""
    if kind not in WITH_COLUMNS:
        raise DataError(
            f"{flag}: {path.name} is read as {kind}, which has no columns {' and '.join(columns)}; allowed: "
            f"{', '.join(WITH_COLUMNS)} with them"
        )
    entries, header = read_entries(path)
    for column in columns:
        if column not in header:
            hint = "; --time NAME names another column" if flag == "--over-time" else ""
            raise MissingColumnError(column, header, f"{flag} needs a column that {path.name} lacks{hint}")
    return list(entries)


def _truth(entry: Entry, column: str) -> bool:
    value = entry.required(column)
    truth = TRUTHS.get(str(value).strip().lower())
    if truth is None:
        raise DataError(f"{entry.where}: {column} is {value!r:.40}; allowed: 0 or 1, false or true, no or yes")
    return truth


def _time(entry: Entry, column: str, *, dates: bool) -> float:
    value = entry.required(column)
    time = _days(value) if dates else _number(value)
    if time is None:
        wanted = "a date such as 2024-03-01, as in the first row" if dates else "a number, as in the first row"
        raise DataError(f"{entry.where}: {column} is {value!r:.40}; allowed: {wanted}")
    return time


def _number(value: object) -> float | None:
    """Return a finite number, or None."""
    try:
        number = math.nan if isinstance(value, bool) else float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _days(value: object) -> float | None:
    """Return a date, with or without an hour, as days since 1970; without a zone it is read as UTC."""
    try:
        moment = dt.datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp() / SECONDS_OF_DAY
