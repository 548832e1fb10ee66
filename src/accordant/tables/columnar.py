"""Parquet and Arrow files as whole data frames, through pyarrow, refused before they fill the memory.

What such a file says of itself may be wrong, so rows and bytes are counted again while it is read, and every batch is
validated before anything follows its offsets.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from accordant import limits
from accordant.errors import DataError, InputError
from accordant.tables.frames import MISSING, ROWS_AT_ONCE, Lines
from accordant.tables.text import refuse_special

logger = logging.getLogger(__name__)

PARQUET = frozenset({".parquet", ".pq"})


def read_columnar(path: Path, *, missing: Iterable[str] = (), lines: Lines | None = None) -> pd.DataFrame:
    """Read a Parquet, Arrow or Feather file.

    Numbers are numbers, true and false are booleans, dates and times become ISO text, and texts that stand for a
    missing value are missing, as in CSV. Columns of lists, structures and bytes are left out, and a warning says so.

    Parameters
    ----------
    path
        The file.
    missing
        What stands for a missing value in columns of text, beside `accordant.tables.frames.MISSING`.
    lines
        Is told what the file is called; rows are counted from 1.

    Raises
    ------
    DataError
        If it is no such file, broken, empty, two columns have one name, or it goes beyond a limit.
    InputError
        If pyarrow is not installed.
    """
    pa, name = _pyarrow(path.name), path.name
    if lines is not None:
        lines.rows_of(name)
        lines.note(0, 1)
    refuse_special(path)
    if not path.is_file():
        raise DataError(f"{path} cannot be read: there is no such file")
    with _readable(pa, path):
        opened = _parquet(path) if path.suffix.lower() in PARQUET else _arrow(pa, path)
        schema = next(opened)
        kept, left_out = _kept(pa, schema, name)
        batches, rows, size = [], 0, 0
        for batch in opened:
            rows, size = rows + batch.num_rows, size + batch.nbytes
            limits.TABLE_CELLS.check(rows * len(schema), name)
            limits.TABLE_BYTES.check(size, name)
            batch.validate(full=True)
            batches.append(batch.select(kept))
        if not rows:
            raise DataError(f"{name} has columns but no rows")
        table = pa.Table.from_batches(batches)
        gone = [*MISSING, *missing]
        frame = pd.DataFrame({column: _values(pa, table.column(column), gone) for column in kept})
    if left_out:
        logger.warning("%s: left out, as models read numbers and texts: %s", name, ", ".join(left_out))
    return frame


def _pyarrow(name: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise InputError(f"{name} needs pyarrow, which is not installed: pip install 'accordant[arrow]'") from None
    return pa


@contextmanager
def _readable(pa: Any, path: Path) -> Iterator[None]:
    """Turn what a broken file raises into an error that names it."""
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        words = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{path.name} is not a readable {path.suffix.lower()} file: {words}") from None


def _parquet(path: Path) -> Iterator[Any]:
    """Yield the schema, then batches; refuse what the footer says is too much."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema, said = file.schema_arrow, file.metadata
        limits.TABLE_CELLS.check(said.num_rows * len(schema), path.name)
        size = sum(said.row_group(number).total_byte_size for number in range(said.num_row_groups))
        limits.TABLE_BYTES.check(size, path.name)
        yield schema
        yield from file.iter_batches(batch_size=ROWS_AT_ONCE, use_threads=False)


def _arrow(pa: Any, path: Path) -> Iterator[Any]:
    """Yield the schema, then batches, of a file or a stream in the format of Arrow."""
    with pa.memory_map(str(path)) as mapped:
        try:
            opened = pa.ipc.open_file(mapped)
        except pa.ArrowInvalid:
            mapped.seek(0)
            opened = pa.ipc.open_stream(mapped)
            yield opened.schema
            yield from opened
            return
        yield opened.schema
        for number in range(opened.num_record_batches):
            yield opened.get_batch(number)


def _kept(pa: Any, schema: Any, name: str) -> tuple[list[str], list[str]]:
    """Return the columns that are read, and words for those that are not."""
    limits.COLUMNS.check(len(schema), name)
    for column, count in Counter(schema.names).items():
        if count > 1:
            raise DataError(f"{name}: {count} columns are called {column!r}")
    kept = [field.name for field in schema if _readable_type(pa, field.type)]
    return kept, [f"{field.name} ({field.type})" for field in schema if field.name not in set(kept)]


def _readable_type(pa: Any, kind: Any) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        return _readable_type(pa, kind.value_type)
    tests = (
        types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null, types.is_date,
        types.is_timestamp, types.is_time, _is_text(pa),
    )  # fmt: skip
    return any(test(kind) for test in tests)


def _is_text(pa: Any) -> Any:
    types = pa.types
    return lambda kind: types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _values(pa: Any, column: Any, missing: list[str]) -> pd.Series[Any]:
    """Return a column as CSV would give it: numbers, booleans, or texts with NaN where missing."""
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_null(kind):
        return pd.Series(np.full(len(column), np.nan))
    if types.is_decimal(kind):
        column = column.cast(pa.float64())
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind):
        texts: list[Any] = [np.nan if value is None else value.isoformat() for value in column.to_pylist()]
        return pd.Series(texts, dtype=object)
    if not _is_text(pa)(kind):
        return pd.Series(column.to_pandas())
    gone = {None, *missing}
    return pd.Series([np.nan if value in gone else value for value in column.to_pylist()], dtype=object)
