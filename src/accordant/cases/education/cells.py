"""What stands in the cells of a table: text without outer blanks, or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from accordant.errors import DataError
from accordant.problem import value_label


def cell_text(value: Any) -> str | None:
    """Return the text of a cell without outer blanks and quotation marks, or None if nothing is left."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    return value_label(value).strip().strip('"').strip() or None


def row_error(column: str, row: int, text: str | None, allowed: str) -> DataError:
    """Return the error that a cell cannot be used."""
    found = "nothing" if text is None else repr(text)
    return DataError(f"column {column!r}, row {row}: found {found}; allowed: {allowed}")
