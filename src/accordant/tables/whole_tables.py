"""Whole tables from files of any kind that people keep them in, read to the same types, whatever the kind.

=====================  ==============================================  ==================
suffix                 read by                                         extra
=====================  ==============================================  ==================
``.parquet``, ``.pq``  `accordant.tables.columnar`                     ``arrow``
``.arrow``,            `accordant.tables.columnar`                     ``arrow``
``.feather``
``.xlsx``              `accordant.tables.workbooks`                    ``excel``
``.sql``, a query      `accordant.tables.databases`                    ``sql``
any other              `accordant.tables.frames`, as CSV               none
=====================  ==============================================  ==================
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from accordant.errors import DataError
from accordant.tables.columnar import read_columnar
from accordant.tables.databases import query_of, read_query
from accordant.tables.frames import Lines, read_chunks
from accordant.tables.workbooks import SUFFIX, read_sheet

COLUMNAR = frozenset({".parquet", ".pq", ".arrow", ".feather"})
QUERY = ".sql"
NOT_READ = dict.fromkeys((".xls", ".xlsm", ".xlsb", ".ods"), "save it as .xlsx or CSV") | dict.fromkeys(
    (".dta", ".sav", ".sas7bdat", ".rds", ".rdata", ".json"), "save it as Parquet or CSV"
)
"""Tables that nobody reads here, with what to do."""


def read_frame(
    path: Path,
    separator: str = ",",
    encoding: str = "utf-8",
    *,
    texts: Iterable[str] = (),
    missing: Iterable[str] = (),
    lines: Lines | None = None,
    sheet: str | None = None,
) -> pd.DataFrame:
    """Read a table with a header and at least one row; its suffix says how.

    Parameters
    ----------
    path
        The file.
    separator, encoding
        Of a CSV file.
    texts, missing, lines
        See `accordant.tables.frames.read_chunks`.
    sheet
        Of a workbook; None for its only one.

    Raises
    ------
    DataError
        If the file is missing, no table of its kind, empty, or goes beyond `accordant.limits`.
    InputError
        If an extra is missing that reads it.
    """
    suffix, lines = path.suffix.lower(), Lines() if lines is None else lines
    if sheet is not None and suffix != SUFFIX:
        raise DataError(f"{path.name} has no sheets; allowed with a sheet, here {sheet!r}: a file that ends in .xlsx")
    if suffix in NOT_READ:
        raise DataError(f"{path.name}: tables of the kind {suffix} are not read; {NOT_READ[suffix]}")
    if suffix in COLUMNAR:
        return read_columnar(path, missing=missing, lines=lines)
    if suffix == SUFFIX:
        return read_sheet(path, sheet, texts=texts, missing=missing, lines=lines)
    if suffix == QUERY:
        return read_query(query_of(path), texts=texts, missing=missing, lines=lines)
    pieces = read_chunks(path, sys.maxsize, texts, separator, encoding, missing=missing, lines=lines)
    (frame,) = pieces  # in one piece, so that a column has one type
    return frame
