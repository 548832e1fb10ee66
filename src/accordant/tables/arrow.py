"""Parquet and Arrow files: read in batches of some of their columns, and written batch by batch.

A column comes in as it would from a CSV file: numbers and truth values as float64, everything else as text, and what
stands for a missing value in files (`MISSING`, and what a case declares beside it) is missing here too.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from accordant import limits
from accordant.arrays import AnyArray
from accordant.errors import DataError, InputError
from accordant.tables.frames import MISSING, ROWS_AT_ONCE
from accordant.tables.output import Input, Place, output_file
from accordant.tables.text import finite_number, refuse_special

if TYPE_CHECKING:
    import pandas as pd

FORMATS: Mapping[str, str] = {
    ".parquet": "Parquet", ".pq": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"
}  # fmt: skip
"""Suffix of a file to what it holds."""
INSTALL = "pip install 'accordant[arrow]'"


def arrow_format(place: Any) -> str | None:
    """Return ``Parquet`` or ``Arrow`` for a path that ends so, None for any other and for a stream."""
    return FORMATS.get(Path(place).suffix.lower()) if isinstance(place, str | Path) else None


def arrow_columns(
    path: str | Path,
    at_once: int = ROWS_AT_ONCE,
    columns: Collection[str] | None = None,
    *,
    texts: Collection[str] = (),
    missing: Iterable[str] = (),
    groups: Sequence[int] | None = None,
) -> Iterator[dict[str, AnyArray]]:
    """Yield the rows of a file in batches, column to its values: float64, NaN where missing, or text, then empty.

    Parameters
    ----------
    path
        A file whose suffix is in `FORMATS`.
    at_once
        Rows per batch; `sys.maxsize` for all in one.
    columns
        The only ones that are read, as far as they are there; None for all.
    texts
        Columns that are text: whole numbers in them become the digits that a CSV file would hold.
    missing
        What stands for a missing value beside `MISSING`.
    groups
        The only row groups of a Parquet file that are read; None for all.

    Raises
    ------
    InputError
        If pyarrow is not installed.
    DataError
        If the file is missing, no such file or empty, two columns have one name, or one holds neither numbers nor
        texts.
    """
    for batch in _tables(path, at_once, columns, texts, (*MISSING, *missing), groups):
        yield {name: _values(batch.column(name)) for name in batch.column_names}


def arrow_frames(
    path: str | Path,
    at_once: int = ROWS_AT_ONCE,
    columns: Collection[str] | None = None,
    *,
    groups: Sequence[int] | None = None,
    texts: Collection[str] = (),
    missing: Iterable[str] = (),
) -> Iterator[pd.DataFrame]:
    """Yield the same as `arrow_columns` as data frames, for what reads those; rows are numbered through all batches."""
    start = 0
    for batch in _tables(path, at_once, columns, texts, (*MISSING, *missing), groups):
        frame = batch.to_pandas()
        frame.index = frame.index + start
        start += len(frame)
        yield frame


def arrow_names(path: Any) -> list[str]:
    """Return the names of the columns of a file that can be read."""
    if arrow_format(path) == "Parquet":
        import pyarrow.parquet as pq

        return list(pq.read_schema(path, memory_map=True).names)
    pa = _pyarrow()
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        return list(file.schema.names)


class Rows(Protocol):
    """Takes the rows of a table, batch by batch."""

    def __call__(self, columns: Mapping[str, AnyArray]) -> None:
        """Write a batch; all have the same columns."""


@contextmanager
def arrow_output(target: Place, inputs: Iterable[Input] = ()) -> Iterator[Rows]:
    """Open a Parquet or Arrow file for writing in batches, whole or not at all; see `accordant.tables.output_file`.

    Texts become strings, empty ones too; numbers that are NaN become null.

    Parameters
    ----------
    target
        A path whose suffix is in `FORMATS`.
    inputs
        See `accordant.tables.output.check_output`.
    """
    pa = _pyarrow()
    made: list[Any] = []

    with output_file(target, inputs) as file:
        stream = file.buffer  # type: ignore[attr-defined]  # of the text file that it opened

        def write(columns: Mapping[str, AnyArray]) -> None:
            """Write one batch as a group of rows."""
            arrays = {name: _array(values) for name, values in columns.items()}
            table = pa.table(arrays)
            if not made:
                made.append(_writer(stream, table.schema, arrow_format(target)))
            made[0].write_table(table)

        try:
            yield write
        finally:
            for writer in made:
                writer.close()


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(f"Parquet and Arrow files need pyarrow: {INSTALL}; allowed without it: CSV") from None
    return pa


def parquet_groups(path: str | Path) -> list[tuple[int, tuple[int, int]]]:
    """Return the number of rows of each row group of a Parquet file, and where its bytes begin and end.

    Raises
    ------
    InputError
        If pyarrow is not installed.
    DataError
        If there is no such file.
    """
    with _readable(path, "Parquet"):
        import pyarrow.parquet as pq

        stored = pq.read_metadata(path, memory_map=True)
    groups = []
    for group in map(stored.row_group, range(stored.num_row_groups)):
        columns = [group.column(k) for k in range(group.num_columns)]
        begins = [min(filter(None, (column.dictionary_page_offset, column.data_page_offset))) for column in columns]
        ends = [begin + column.total_compressed_size for begin, column in zip(begins, columns, strict=True)]
        groups.append((group.num_rows, (min(begins, default=0), max(ends, default=0))))
    return groups


def footer_bytes(end: bytes) -> int:
    """Return how many bytes at the end of a Parquet file say what it holds, from its last 8 (the format's footer)."""
    return int.from_bytes(end[-8:-4], "little") + 8


def parquet_columns(path: str | Path) -> list[tuple[str, str]]:
    """Return name and type of each column of a Parquet file, as they are read; see `parquet_groups`."""
    with _readable(path, "Parquet"):
        import pyarrow.parquet as pq

        return [(field.name, str(field.type)) for field in pq.read_schema(path, memory_map=True)]


@contextmanager
def _readable(path: str | Path, kind: str | None) -> Iterator[None]:
    """Say what is wrong with a file that cannot be read."""
    pa, name = _pyarrow(), Path(path).name
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except pa.ArrowException as error:
        raise DataError(f"{name} is not a readable {kind} file: {error}") from None
    except OSError as error:
        raise DataError(f"{name} is not a readable {kind} file: {error.strerror or error}") from None


def _tables(
    path: str | Path, at_once: int, columns: Collection[str] | None, texts: Collection[str], missing: tuple[str, ...],
    groups: Sequence[int] | None,
) -> Iterator[Any]:  # fmt: skip
    """Yield batches as Arrow tables of float64 and strings."""
    pa = _pyarrow()
    name, kind, n_rows = Path(path).name, arrow_format(path), 0
    refuse_special(path)
    with _readable(path, kind):
        for table in _stored(path, kind, name, at_once, columns, groups):
            if table.num_rows:
                n_rows += table.num_rows
                yield pa.table({
                    column: _plain(table.column(column), f"{name}: column {column!r}", column in texts, missing)
                    for column in table.column_names
                })  # fmt: skip
    if n_rows == 0:
        raise DataError(f"{name} has columns but no rows")


def _stored(
    path: str | Path, kind: str | None, name: str, at_once: int, wanted: Collection[str] | None,
    groups: Sequence[int] | None,
) -> Iterator[Any]:  # fmt: skip
    """Yield batches as they are stored, of the wanted columns."""
    pa = _pyarrow()
    if kind == "Parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path, memory_map=True) as file:
            kept = _kept(file.schema_arrow.names, wanted, name)
            groups = range(file.num_row_groups) if groups is None else groups
            if at_once == sys.maxsize:
                yield file.read_row_groups(list(groups), kept, use_threads=False)
                return
            for batch in file.iter_batches(at_once, row_groups=list(groups), columns=kept, use_threads=False):
                yield pa.Table.from_batches([batch])
        return
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        kept = _kept(file.schema.names, wanted, name)
        batches = (file.get_batch(k).select(kept) for k in range(file.num_record_batches))
        if at_once == sys.maxsize:
            yield pa.Table.from_batches(batches, pa.schema([file.schema.field(column) for column in kept]))
            return
        for batch in batches:
            for start in range(0, batch.num_rows, at_once):
                yield pa.Table.from_batches([batch.slice(start, at_once)])


def _kept(names: list[str], wanted: Collection[str] | None, file: str) -> list[str]:
    """Return the columns to read; refuse names that occur twice."""
    limits.COLUMNS.check(len(names), file)
    for column, count in Counter(names).items():
        if count > 1:
            raise DataError(f"{file}: {count} columns are called {column!r}")
    return [column for column in names if wanted is None or column in wanted]


def _plain(column: Any, where: str, text: bool, missing: tuple[str, ...]) -> Any:
    """Return an Arrow column as float64 or, with its texts encoded, as strings."""
    pa = _pyarrow()
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_boolean(kind):
        if not text:
            return column.cast(pa.float64())
        column = pc.if_else(column, "True", "False")
    elif pa.types.is_integer(kind) and text:
        column = column.cast(pa.string())
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = column.cast(pa.float64(), safe=False)  # a whole number beyond 2^53 is the nearest float, as in a CSV
        marks = [number for number in map(finite_number, missing) if number is not None]
        return pc.if_else(pc.is_in(numbers, pa.array(marks)), None, numbers) if marks else numbers
    elif pa.types.is_null(kind) or pa.types.is_temporal(kind):
        column = column.cast(pa.string())
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise DataError(f"{where} holds {kind}; allowed: numbers, texts, truth values, dates")
    encoded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    words = encoded.dictionary
    words = pc.if_else(pc.is_in(words, pa.array(missing, pa.string())), None, words)
    return words.take(encoded.indices).dictionary_encode()


def _values(column: Any) -> AnyArray:
    """Return a column of `_tables` as float64 or text."""
    pa = _pyarrow()
    column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    words = np.array([word or "" for word in column.dictionary.to_pylist()] + [""], dtype=str)
    codes = column.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
    return np.asarray(words[codes])


def _array(values: AnyArray) -> Any:
    """Return an Arrow array of numbers, truth values or strings."""
    pa = _pyarrow()
    values = np.asarray(values)
    if values.dtype.kind in "US" or values.dtype == object:
        return pa.array(values.astype(object), pa.string())  # three times as fast as from fixed width
    return pa.array(values, from_pandas=True)


def _writer(stream: Any, schema: Any, kind: str | None) -> Any:
    if kind == "Parquet":
        import pyarrow.parquet as pq

        texts = [field.name for field in schema if _pyarrow().types.is_string(field.type)]
        return pq.ParquetWriter(stream, schema, use_dictionary=texts)  # numbers hardly recur: tables of them cost most
    return _pyarrow().ipc.new_file(stream, schema)
