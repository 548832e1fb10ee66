"""Types of columns, declared or inferred strictly, so that one cell never turns a column of numbers into categories."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args

import numpy as np
import pandas as pd
from pydantic import BeforeValidator

from accordant.arrays import AnyArray, Mask, Values
from accordant.contexts import Contexts
from accordant.errors import DataError, UnknownNameError
from accordant.problem import row_place, value_label
from accordant.tables.frames import MISSING

ColumnType = Literal["number", "category"]


def _known_types(given: Any) -> Any:
    """Name the type that does not exist; what is no mapping is read as a list."""
    for name, declared in given.items() if isinstance(given, Mapping) else ():
        if declared not in get_args(ColumnType):
            raise UnknownNameError(f"type of {name}:", declared, get_args(ColumnType))
    return given


ColumnTypes = Annotated[dict[str, ColumnType], BeforeValidator(_known_types)]
Columns = Annotated[tuple[str, ...] | dict[str, ColumnType], BeforeValidator(_known_types)]
"""Names of columns, or column to its type."""
Place = Callable[[int], str]
"""From the number of a row to words for where it stands."""

MOSTLY = 0.5  # share of numbers, among cells or among different texts, from which a column was meant to hold numbers
ORNAMENTS = re.compile(r"[\s,'\u2019%$\u20ac\u00a3\u00a5]")  # of numbers as people write them: 1,234 and 2,5 and 50%
BROKEN = re.compile(r"#(DIV/0!|REF!|VALUE!|NAME\?|NUM!|NULL!)")  # what spreadsheets write where a formula fails
TRUTHS = frozenset({"true", "false"})  # columns of these alone are read as 1 and 0


def typed_contexts(
    contexts: Contexts,
    types: Mapping[str, ColumnType | None],
    place: Place = row_place,
    *,
    quoted: bool = True,
) -> Contexts:
    """Return contexts in which some columns have their types.

    Parameters
    ----------
    contexts
        Columns as they were read.
    types
        Column to its type; None for one that nobody declared, see `typed_column`.
    place, quoted
        See `typed_column`.

    Raises
    ------
    DataError
        If a column is missing, or a cell does not fit its type.
    """
    typed = {
        name: typed_column(name, contexts[name], declared, place, quoted=quoted) for name, declared in types.items()
    }
    if all(column is contexts[name] for name, column in typed.items()):
        return contexts
    return Contexts({**contexts, **typed}, contexts.schema)


def typed_column(
    name: str, values: AnyArray, declared: ColumnType | None, place: Place = row_place, *, quoted: bool = True
) -> AnyArray:
    """Return a column of `Contexts` as float64 or text.

    A type that was not declared is inferred: what was read as numbers holds numbers. A column of texts is refused if at
    least half of its cells, or of its different texts, are numbers or were meant to be (``1,234``, ``2,5``, ``50%``,
    ``1e999``, ``True``), missing ones left out.

    Parameters
    ----------
    name
        Of the column, for messages.
    values
        float64 or text, shape (row,).
    declared
        Its type, or None.
    place
        Where each row stands, for messages.
    quoted
        Whether texts that are numbers without exception are names of categories: so they are where somebody gave them
        as texts, not where a file was read.

    Raises
    ------
    DataError
        If a cell of a column of numbers is no finite number and not missing, or any cell is an error of a spreadsheet;
        place and cell are named.
    """
    if values.dtype == np.float64:
        if declared == "category":
            return _labels(values)
        infinite = np.isinf(values)
        if infinite.any():
            row = int(infinite.argmax())
            raise _refused(name, place(row), str(values[row]), "a finite number, or nothing")
        return values
    for row in np.flatnonzero(np.strings.startswith(values, "#")):
        if BROKEN.fullmatch(values[row]):
            raise _refused(name, place(int(row)), str(values[row]), "a value; a spreadsheet writes this for an error")
    if declared == "category":
        return values
    texts, rows, counts = np.unique(values, return_inverse=True, return_counts=True)
    numbers, missing = _numbers(texts)
    wrong = ~missing & ~np.isfinite(numbers)
    if declared is None:
        meant = ~missing & np.array([_meant(text, number) for text, number in zip(texts, numbers, strict=True)], bool)
        shares = (meant[~missing].mean(), counts[meant].sum() / counts[~missing].sum()) if (~missing).any() else (0, 0)
        if max(shares) < MOSTLY or (quoted and not wrong.any()):
            return values
    if wrong.any():
        row = int(np.argmax(wrong[rows]))
        if declared is None:
            share = f"{int(np.isfinite(numbers[~missing]).sum())} of the {int((~missing).sum())} different values"
            allowed = f"a number, or nothing: {share} of the column are numbers. Mend the cell, or declare the type:"
            raise _refused(name, place(row), str(values[row]), f"{allowed} {name}: category")
        raise _refused(name, place(row), str(values[row]), "a number, or nothing: the column holds numbers")
    return np.asarray(numbers[rows])


def _refused(name: str, place: str, cell: str, allowed: str) -> DataError:
    return DataError(f"{place}: column {name!r}: found {cell!r}; allowed: {allowed}")


def _labels(values: Values) -> AnyArray:
    """Return numbers as the names of categories, empty where missing."""
    numbers, rows = np.unique(values, return_inverse=True)
    return np.array(["" if np.isnan(value) else value_label(value) for value in numbers.tolist()], dtype=str)[rows]


def _numbers(texts: AnyArray) -> tuple[Values, Mask]:
    """Return the number that each text is, NaN for none, and which texts stand for a missing value."""
    missing = np.isin(np.strings.strip(texts), MISSING)
    numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(np.float64)
    return np.where(missing, np.nan, numbers), missing


def _meant(text: str, number: float) -> bool:
    """Whether a text is a number, or was meant to be one."""
    if not np.isnan(number) or text.strip().lower() in TRUTHS:
        return True
    return not np.isnan(pd.to_numeric(ORNAMENTS.sub("", text), errors="coerce"))
