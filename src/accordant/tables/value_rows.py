"""Rows of values, from a sheet or a database, as the data frame that the same rows in a CSV file would give."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator

import pandas as pd

from accordant import limits
from accordant.errors import DataError
from accordant.tables.frames import Lines, read_chunks


def frame_of_rows(
    rows: Iterator[tuple[int, list[str]]],
    name: str,
    *,
    texts: Iterable[str] = (),
    missing: Iterable[str] = (),
    lines: Lines | None = None,
) -> pd.DataFrame:
    """Return rows as a data frame, with the types that CSV has.

    Parameters
    ----------
    rows
        Number of each row and its cells as text, all of one length; the first holds the names of columns.
    name
        What messages call the table.
    texts, missing
        See `accordant.tables.frames.read_chunks`.
    lines
        Is told which number each row has.

    Raises
    ------
    DataError
        If there are no rows, two columns have one name, or there is more than `accordant.limits` allow.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    numbers: list[int] = []
    for number, cells in rows:
        writer.writerow(cells)
        numbers.append(number)
        limits.TABLE_CELLS.check(len(numbers) * len(cells), name)
        limits.TABLE_CHARACTERS.check(stream.tell(), name)
    if not numbers:
        raise DataError(f"{name} is empty")
    stream.seek(0)
    (frame,) = read_chunks(stream, sys.maxsize, texts, missing=missing, name=name)
    if lines is not None:
        lines.rows_of(name)
        for row, number in enumerate(numbers[1:]):
            lines.note(row, number)
    return frame
