"""Columns of a table as texts and numbers; every error names the file, the column and the row."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from accordant.arrays import Values
from accordant.errors import DataError, missing
from accordant.problem import value_label
from accordant.tables.frames import read_chunks


@dataclass(frozen=True)
class Limits:
    """What a number may be, limits included."""

    lowest: float
    highest: float
    words: str


@dataclass(frozen=True, eq=False)
class Cells:
    """A table as text, and the names that its columns have.

    Attributes
    ----------
    file
        Name, for messages.
    frame
        Every column as text.
    columns
        What a column is for, to its name in this table; None if there is no such column.
    """

    file: str
    frame: pd.DataFrame
    columns: Mapping[str, str | None]

    @classmethod
    def read(cls, path: Path, names: Mapping[str, str | None], optional: Sequence[str], separator: str) -> Cells:
        """Read a table of which some columns may be missing.

        Raises
        ------
        DataError
            If the file cannot be read, or a column that is not optional is not there; the nearest one is named.
        """
        wanted = [name for name in names.values() if name is not None]
        (frame,) = read_chunks(path, sys.maxsize, wanted, separator)
        columns: dict[str, str | None] = {}
        for use, name in names.items():
            there = name in frame.columns
            if name is not None and not there and use not in optional:
                known = [str(column) for column in frame.columns]
                raise DataError(f"{path.name}: {missing(f'column of {use}', name, known)}")
            columns[use] = name if there else None
        return cls(path.name, frame, columns)

    def __len__(self) -> int:
        return len(self.frame)

    def texts(self, use: str) -> list[str | None]:
        """Return the cells of a column without outer blanks, None where blank or where there is no such column."""
        name = self.columns[use]
        if name is None:
            return [None] * len(self)
        cells = self.frame[name].tolist()
        return [cell.strip() or None if isinstance(cell, str) else None for cell in cells]

    def required(self, use: str) -> list[str]:
        """Return the cells of a column in which none is blank."""
        texts = self.texts(use)
        for row, text in enumerate(texts):
            if text is None:
                raise self.error(use, row, None, "a name")
        return [str(text) for text in texts]

    def numbers(self, use: str, limits: Limits, blank: float | None = np.nan) -> Values:
        """Return the numbers of a column, shape (row,).

        Parameters
        ----------
        use
            What the column is for.
        limits
            What is allowed.
        blank
            What stands for a blank cell; None if there may be none.
        """
        texts = self.texts(use)
        numbers = np.empty(len(texts))
        for row, text in enumerate(texts):
            if text is None and blank is not None:
                numbers[row] = blank
                continue
            numbers[row] = _number(text)
            if not limits.lowest <= numbers[row] <= limits.highest:
                raise self.error(use, row, text, limits.words)
        return numbers

    def error(self, use: str, row: int, text: str | None, allowed: str) -> DataError:
        """Return the error that a cell cannot be used."""
        return DataError(f"{self.file}: {cell_error(str(self.columns[use]), row, text, allowed)}")


def _number(text: str | None) -> float:
    """Return the number that a text is, NaN if it is none: 1_0 is none, and 1e999 is none that can be held."""
    try:
        number = float(text or "nan")
    except ValueError:
        return np.nan
    overflown = np.isinf(number) and "inf" not in str(text).lower()
    return np.nan if overflown or "_" in str(text) else number


def cell_text(value: Any) -> str | None:
    """Return the text of a cell without outer blanks and quotation marks, or None if nothing is left."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    return value_label(value).strip().strip('"').strip() or None


def cell_error(column: str, row: int, text: str | None, allowed: str) -> DataError:
    """Return the error that a cell cannot be used."""
    content = "nothing" if text is None else repr(text)
    return DataError(f"column {column!r}, row {row}: found {content}; allowed: {allowed}")
