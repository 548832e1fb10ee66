"""The two tables: who took what when, and what is known of the items."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from accordant.arrays import Codes, Values
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.tables.cells import Cells, Limits

EARLIEST, LATEST = 315_532_800.0, 4_102_444_800.0  # 1980-01-01 and 2100-01-01 in seconds since 1970
"""Outside are years, 20240531, days of a spreadsheet, minutes and milliseconds, which all look like seconds [ours]."""

MICROSECONDS = 1e6  # of a second
SECONDS = "seconds since 1970, from those of 1980 to those of 2099"
DATES = "a date such as 2024-05-31, or 2024-05-31T14:30:00, from 1980 to 2099"
OF_EVENTS = ("user", "item", "time", "weight", "session")
OF_ITEMS = ("id", "name", "category", "provider", "price", "capacity", "latitude", "longitude", "safety")
NEEDED = ("user", "item", "time", "id")
COLUMNS: Mapping[str, str] = {use: use for use in (*OF_EVENTS, *OF_ITEMS)} | {"id": "item"}
"""What a column is for, and the name that is looked for. ``id`` is the item in the table of items."""
AT_LEAST_0 = Limits(0.0, sys.float_info.max, "a number of at least 0")
WEIGHT = Limits(1e-12, 1e12, "a number above 0, from 1e-12 to 1e12")  # sums of them stay finite and exact enough [ours]
ROOM = Limits(0.0, np.inf, "a number of at least 0, inf or blank where there is no limit")
LATITUDE = Limits(-90.0, 90.0, "degrees from -90 to 90")
LONGITUDE = Limits(-180.0, 180.0, "degrees from -180 to 180")
SHARE = Limits(0.0, 1.0, "a number from 0 to 1")
MOST_UNKNOWN = 0.1  # a larger share of rows about undeclared items means that the two files do not belong together


def seconds_of(cells: Cells, use: str) -> Values:
    """Return seconds since 1970 in coordinated universal time, shape (row,).

    The first row decides whether the column holds numbers or dates. A date without a zone is in coordinated universal
    time.

    Raises `DataError` if a cell is blank, of the other kind than the first, no time at all, or outside of 1980 to 2099.
    """
    texts = cells.texts(use)
    column = pd.Series(texts, dtype=object)
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    if np.isnan(numbers[0]):
        seconds, allowed = _of_dates(column), DATES
        seconds[~np.isnan(numbers)] = np.nan  # 2024 and 20240531 would pass as dates
    else:
        seconds, allowed = numbers, SECONDS
    wrong = ~((seconds >= EARLIEST) & (seconds < LATEST))
    if wrong.any():
        row = int(np.argmax(wrong))
        same = "" if row == 0 else f", as in row 0, which holds {texts[0]!r}"
        raise cells.error(use, row, texts[row], allowed + (f"; or {DATES}" if allowed == SECONDS and not row else same))
    return seconds


def _of_dates(column: pd.Series[str]) -> Values:
    """Return seconds, NaN for what is no date."""
    times = pd.to_datetime(column, format="ISO8601", utc=True, errors="coerce").dt.tz_localize(None).to_numpy()
    exact = times.astype("datetime64[us]")
    return np.where(np.isnat(exact), np.nan, exact.astype(np.int64) / MICROSECONDS)


@dataclass(frozen=True, eq=False)
class Items:
    """What is known of items, by column, shape (item,); see `accordant.slates.catalogue.Catalogue`.

    `ids` are as the table of interactions names them, `names` as people do, or the ids. Unknown is None or NaN, but inf
    for a capacity.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    category: tuple[str | None, ...]
    provider: tuple[str | None, ...]
    price: Values
    capacity: Values
    latitude: Values
    longitude: Values
    safety: Values

    @classmethod
    def named(cls, ids: Sequence[str]) -> Items:
        """Return items of which nothing but the ids is known."""
        n_items = len(ids)
        nothing = np.full(n_items, np.nan)
        return cls(
            tuple(ids), tuple(ids), (None,) * n_items, (None,) * n_items, nothing, np.full(n_items, np.inf), nothing,
            nothing, nothing,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Events:
    """Who took what when, in the order of time; ties by item, user and session as texts, never by the order of rows.

    Rows, shape (row,), hold positions in the sorted names, seconds since 1970, and weights above 0: how often or how
    strongly. `sessions` say what the user took together; None if no such column is there. `weighted` says whether there
    is a column of weights, and `repeated` how many rows were left out because another row says exactly the same.
    """

    user_names: tuple[str, ...]
    item_names: tuple[str, ...]
    users: Codes
    items: Codes
    times: Values
    weights: Values
    sessions: tuple[str, ...] | None
    weighted: bool
    repeated: int

    def __len__(self) -> int:
        return len(self.users)


def column_names(given: Mapping[str, str | None] | None) -> dict[str, str | None]:
    """Return the names of all columns, some of which a case renames; None for one that is not to be read."""
    return renamed_columns(given, COLUMNS, NEEDED, "item")


def renamed_columns(
    given: Mapping[str, str | None] | None, columns: Mapping[str, str], needed: Sequence[str], item: str
) -> dict[str, str | None]:
    """Return the names of columns, some of which a case renames; ``id`` is renamed with `item`, unless named itself.

    Raises `UnknownNameError` if there is no column for such a use; `InputError` if a column that is needed is declared
    missing.
    """
    changed = dict(given or {})
    for use, name in changed.items():
        if use not in columns:
            raise UnknownNameError("use in columns:", use, columns)
        if name is None and use in needed:
            raise InputError(f"columns: {use} is declared missing; allowed: the name of a column")
    return dict(columns) | {"id": changed.get(item, columns["id"])} | changed


def read_items(path: Path, columns: Mapping[str, str | None], separator: str = ",") -> Items:
    """Read the table of items.

    Raises `DataError` if the file or a column is missing, an id is blank, an id or a name repeats, or a number is out
    of range.
    """
    if not path.is_file():
        raise DataError(f"{path.name}, the file of items, is not in {path.parent}; it stands beside the interactions")
    cells = _read(path, columns, OF_ITEMS, separator)
    ids = different(cells, "id", cells.required("id"))
    if cells.columns["name"] is None:
        names = ids
    else:
        given = [name or item for name, item in zip(cells.texts("name"), ids, strict=True)]
        names = different(cells, "name", given)
    return Items(
        tuple(ids), tuple(names), tuple(cells.texts("category")), tuple(cells.texts("provider")),
        cells.numbers("price", AT_LEAST_0), cells.numbers("capacity", ROOM, blank=np.inf),
        cells.numbers("latitude", LATITUDE), cells.numbers("longitude", LONGITUDE), cells.numbers("safety", SHARE),
    )  # fmt: skip


def read_events(path: Path, columns: Mapping[str, str | None], separator: str = ",") -> Events:
    """Read the table of interactions; of rows that say exactly the same one is kept.

    Raises
    ------
    DataError
        If a column is missing, or a cell is blank or cannot be used; names file, column and row.
    """
    cells = _read(path, columns, OF_EVENTS, separator)
    weighted, in_sessions = cells.columns["weight"] is not None, cells.columns["session"] is not None
    table = pd.DataFrame(
        {
            "time": seconds_of(cells, "time"),
            "item": cells.required("item"),
            "user": cells.required("user"),
            "session": cells.required("session") if in_sessions else "",
            "weight": cells.numbers("weight", WEIGHT, blank=None) if weighted else 1.0,
        }
    )
    kept = table.drop_duplicates().sort_values(["time", "item", "user", "session", "weight"], kind="stable")
    users, user_names = pd.factorize(kept["user"], sort=True)
    items, item_names = pd.factorize(kept["item"], sort=True)
    return Events(
        tuple(user_names), tuple(item_names), users.astype(np.intp), items.astype(np.intp),
        kept["time"].to_numpy(np.float64), kept["weight"].to_numpy(np.float64),
        tuple(kept["session"]) if in_sessions else None, weighted, len(table) - len(kept),
    )  # fmt: skip


def _read(path: Path, columns: Mapping[str, str | None], uses: tuple[str, ...], separator: str) -> Cells:
    """Read a table; optional columns may be missing unless a case names them."""
    optional = [use for use in uses if use not in NEEDED and columns[use] == COLUMNS[use]]
    return Cells.read(path, {use: columns[use] for use in uses}, optional, separator)


def different(cells: Cells, use: str, texts: list[str]) -> list[str]:
    """Return texts none of which repeats."""
    seen: dict[str, int] = {}
    for row, text in enumerate(texts):
        if text in seen:
            raise cells.error(use, row, text, f"names that differ; row {seen[text]} has this one")
        seen[text] = row
    return texts
