"""Times in a column: seconds since 1970, or dates; never a guess which."""

from __future__ import annotations

import numpy as np
import pandas as pd

from accordant.arrays import Values
from accordant.tables.cells import Cells

EARLIEST, LATEST = 315_532_800.0, 4_102_444_800.0  # 1980-01-01 and 2100-01-01 in seconds since 1970
"""Outside are years, 20240531, days of a spreadsheet, minutes and milliseconds, which all look like seconds [ours]."""

MICROSECONDS = 1e6  # of a second
SECONDS = "seconds since 1970, from those of 1980 to those of 2099"
DATES = "a date such as 2024-05-31, or 2024-05-31T14:30:00, from 1980 to 2099"


def seconds_of(cells: Cells, use: str) -> Values:
    """Return seconds since 1970 in coordinated universal time, shape (row,).

    The first row decides whether the column holds numbers or dates. A date without a zone is in coordinated universal
    time.

    Parameters
    ----------
    cells
        The table.
    use
        What the column is for.

    Raises
    ------
    DataError
        If a cell is blank, of the other kind than the first, no time at all, or outside of 1980 to 2099.
    """
    texts = cells.texts(use)
    column = pd.Series(texts, dtype=object)
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    if np.isnan(numbers[0]):
        found, allowed = _of_dates(column), DATES
        found[~np.isnan(numbers)] = np.nan  # 2024 and 20240531 would pass as dates
    else:
        found, allowed = numbers, SECONDS
    wrong = ~((found >= EARLIEST) & (found < LATEST))
    if wrong.any():
        row = int(np.argmax(wrong))
        same = "" if row == 0 else f", as in row 0, which holds {texts[0]!r}"
        raise cells.error(use, row, texts[row], allowed + (f"; or {DATES}" if allowed == SECONDS and not row else same))
    return found


def _of_dates(column: pd.Series[str]) -> Values:
    """Return seconds, NaN for what is no date."""
    times = pd.to_datetime(column, format="ISO8601", utc=True, errors="coerce").dt.tz_localize(None).to_numpy()
    exact = times.astype("datetime64[us]")
    return np.where(np.isnat(exact), np.nan, exact.astype(np.int64) / MICROSECONDS)
