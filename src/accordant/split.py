"""Which rows are learned from and which are kept for the test: at random, by persons, by time, or by both.

Rows of one person resemble each other. Where some are learned from and others are kept for the test, whoever learns by
heart looks good; and where the future is predicted, whoever saw it does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes
from accordant.contexts import Contexts
from accordant.errors import DataError, InputError
from accordant.problem import row_place
from accordant.statistics import cluster_codes

ROUNDING = 1e-9  # a share that is a whole number of rows but for rounding is one
TIMES = "a number, or a date such as 2024-05-31 or 2024-05-31T14:30:00"


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of rows, in the order in which they are used.

    Attributes
    ----------
    train, test
        What is learned from, and what is kept for the test: shuffled, or in the order of time.
    left_out
        Rows in neither part: earlier ones of groups that are in the test part. Empty unless groups and times are given.
    """

    train: Codes
    test: Codes
    left_out: Codes


def split_rows(n: int, test_size: float = 0.2, seed: int = 42, *, groups: Any = None, times: Any = None) -> Split:
    """Divide rows into a training part and a test part.

    Without groups and times rows are drawn by scikit-learn's ``train_test_split``.

    Parameters
    ----------
    n
        Number of rows.
    test_size
        Share of the test part, in (0, 1): of rows; of groups where there are groups and no times.
    seed
        Of the draw. Where there are times nothing is drawn.
    groups
        Whose each row is, shape (row,): rows of one group are all in one part. Groups are drawn by scikit-learn's
        ``GroupShuffleSplit``.
    times
        Numbers, or dates as ISO 8601 writes them, shape (row,): the test part holds the latest rows. Rows of one time
        stay together, so it may be larger. Where there are groups too, earlier rows of groups that are in the test part
        are left out.

    Raises
    ------
    InputError
        If `test_size` is out of range.
    DataError
        If a group or a time is missing or cannot be read (its row is named), or a part would be empty.
    """
    if not 0 < test_size < 1:
        raise InputError(f"test_size is {test_size}; allowed: above 0 and below 1")
    codes = None if groups is None else group_codes(groups, "groups")
    keys = None if times is None else time_keys(times, "times")
    for name, column in (("groups", codes), ("times", keys)):
        if column is not None and len(column) != n:
            raise DataError(f"{name} have {len(column)} rows; allowed: {n}")
    if keys is not None:
        return _by_time(keys, codes, test_size)
    return _at_random(n, test_size, seed) if codes is None else _by_group(codes, test_size, seed)


def group_codes(values: Any, name: str, place: Callable[[int], str] = row_place) -> Codes:
    """Return the number of each row's group, in order of first appearance, shape (row,).

    Parameters
    ----------
    values
        Whose each row is: numbers or texts, shape (row,).
    name
        Of the column, for messages.
    place
        Where each row stands, for messages.

    Raises
    ------
    DataError
        If one is missing.
    """
    column = Contexts({name: values})
    missing = column.missing(name)
    if missing.any():
        raise _cell_error(place(int(np.argmax(missing))), name, "nothing", "a name or a number")
    return cluster_codes(column[name])


def time_keys(
    values: Any, name: str, place: Callable[[int], str] = row_place
) -> NDArray[np.float64] | NDArray[np.int64]:
    """Return numbers in the order of time: the numbers given, or nanoseconds since 1970, shape (row,).

    A date without a zone is in coordinated universal time.

    Parameters
    ----------
    values
        Numbers, or texts with dates as ISO 8601 writes them, shape (row,).
    name, place
        As for `group_codes`.

    Raises
    ------
    DataError
        If one is missing or no time.
    """
    column = Contexts({name: values})[name]
    if column.dtype == np.float64:
        wrong, keys = ~np.isfinite(column), column
    else:
        import pandas as pd

        read = pd.to_datetime(pd.Series(column, dtype=object), format="ISO8601", utc=True, errors="coerce")
        times = read.dt.tz_localize(None).to_numpy().astype("datetime64[ns]")
        wrong, keys = np.isnat(times), times.astype(np.int64)
    if wrong.any():
        row = int(np.argmax(wrong))
        cell = str(column[row])
        raise _cell_error(place(row), name, "nothing" if cell in ("", "nan") else repr(cell), TIMES)
    return keys


def _cell_error(place: str, name: str, content: str, allowed: str) -> DataError:
    return DataError(f"{place}: column {name!r}: found {content}; allowed: {allowed}")


def _at_random(n: int, test_size: float, seed: int) -> Split:
    from sklearn.model_selection import train_test_split

    try:
        train, test = train_test_split(np.arange(n), test_size=test_size, random_state=seed)
    except ValueError as error:
        raise DataError(f"{n} rows cannot be split: {error}") from None
    return Split(train, test, np.zeros(0, dtype=np.intp))


def _by_group(codes: Codes, test_size: float, seed: int) -> Split:
    from sklearn.model_selection import GroupShuffleSplit

    splitter = GroupShuffleSplit(1, test_size=test_size, random_state=seed)
    try:
        _, test = next(splitter.split(codes, groups=codes))
    except ValueError as error:
        raise DataError(f"{len(np.unique(codes))} groups cannot be split: {error}") from None
    # files are often sorted, and whoever takes the first rows of a part expects any rows
    order = np.random.default_rng(seed).permutation(len(codes))
    tested = np.isin(order, test)
    return Split(order[~tested], order[tested], np.zeros(0, dtype=np.intp))


def _by_time(keys: NDArray[Any], codes: Codes | None, test_size: float) -> Split:
    order = np.argsort(keys, kind="stable")
    n_test = max(1, math.ceil(test_size * len(keys) - ROUNDING))
    tested = keys >= keys[order[len(keys) - n_test]]
    out = np.zeros(len(keys), dtype=bool) if codes is None else ~tested & np.isin(codes, codes[tested])
    learned = ~tested & ~out
    if not learned.any():
        before = "no row is earlier" if tested.all() else "whoever has an earlier row is in the test part too"
        raise DataError(
            f"nothing to learn from: the latest {test_size:.0%} of {len(keys)} rows are for the test, rows of one time "
            f"together, and {before}; allowed: a smaller test_size, or rows at more times"
        )
    return Split(order[learned[order]], order[tested[order]], order[out[order]])
