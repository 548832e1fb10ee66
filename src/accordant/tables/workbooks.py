"""Sheets of Excel workbooks as data frames: what is read is what the sheet saved as CSV would say, values only."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import pandas as pd

from accordant import limits
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.tables.frames import Lines
from accordant.tables.text import refuse_special
from accordant.tables.value_rows import frame_of_rows

SUFFIX = ".xlsx"
LAST_ROW = 2**20  # of a sheet, by the format; a file may name a later one, and a reader would count up to it
DECLARATIONS = (b"<!DOCTYPE", b"<!ENTITY")  # no office program writes them; entities of entities stand for gigabytes
BEGINNING = 4096  # bytes of a part in which a declaration would stand
BROKEN = (
    zipfile.BadZipFile, ParseError, LookupError, ValueError, TypeError, AttributeError, EOFError, OSError, RuntimeError,
    AssertionError, zlib.error,
)  # fmt: skip
"""What zipfile and openpyxl raise where a part is not as it should be."""


def parted(name: str) -> tuple[str, str | None]:
    """Return the name of a file and its sheet, from ``file.xlsx#Sheet``; None where no sheet is named."""
    file, hash_sign, sheet = name.partition(f"{SUFFIX}#")
    return (file + SUFFIX, sheet) if hash_sign and sheet and not Path(name).exists() else (name, None)


def read_sheet(
    path: Path,
    sheet: str | None,
    *,
    texts: Iterable[str] = (),
    missing: Iterable[str] = (),
    lines: Lines | None = None,
) -> pd.DataFrame:
    """Read one sheet, whose first row that is not empty holds the names of columns.

    Parameters
    ----------
    path
        The workbook.
    sheet
        Its name; None for the only one.
    texts, missing
        See `accordant.tables.frames.read_chunks`.
    lines
        Is told in which row of the sheet each row stands.

    Raises
    ------
    DataError
        If it is no workbook, there are several sheets and none is named, a cell holds a formula, or it goes beyond a
        limit.
    UnknownNameError
        If there is no such sheet.
    InputError
        If openpyxl is not installed.
    """
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"{path.name} needs openpyxl, which is not installed: pip install 'accordant[excel]'"
        ) from None
    refuse_special(path)
    if not path.is_file():
        raise DataError(f"{path} cannot be read: there is no such file")
    try:
        _check_parts(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=False, keep_links=False)
        try:
            worksheet = _chosen(book.worksheets, sheet, path.name)
            where = f"{path.name}, sheet {worksheet.title!r}"
            worksheet.reset_dimensions()  # what the file says of them may be wrong
            return frame_of_rows(_rows(worksheet, where), where, texts=texts, missing=missing, lines=lines)
        finally:
            book.close()
    except InputError:
        raise
    except BROKEN as error:
        raise DataError(f"{path.name} is not a readable workbook: {' '.join(str(error).split())[:200]}") from None


def _check_parts(path: Path) -> None:
    """Refuse an archive whose parts are too large once they are unpacked, or declare entities.

    No part gives more bytes than it declares, whatever it was packed from.
    """
    with zipfile.ZipFile(path) as archive:
        limits.WORKBOOK_BYTES.check(sum(part.file_size for part in archive.infolist()), path.name)
        for part in archive.infolist():
            if part.filename.endswith((".xml", ".rels")):
                with archive.open(part) as opened:
                    start = opened.read(BEGINNING)
                if any(declaration in start for declaration in DECLARATIONS):
                    raise DataError(f"{path.name}: {part.filename} declares entities; allowed: none")


def _chosen(sheets: Sequence[Any], name: str | None, file: str) -> Any:
    titles = [sheet.title for sheet in sheets]
    if name is not None:
        if name not in titles:
            raise UnknownNameError(f"sheet of {file}", name, titles)
        return sheets[titles.index(name)]
    if len(titles) != 1:
        listed = ", ".join(map(repr, titles)) or "none"
        raise DataError(
            f"{file} has {len(titles)} sheets, and none is named: {listed}; name one with data.sheet in a case, or as "
            f"{file}#SHEET"
        )
    return sheets[0]


def _rows(sheet: Any, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield row number and texts of every row that is not empty; the first is the header."""
    width = 0
    for number, cells in enumerate(sheet.iter_rows(), 1):
        if number > LAST_ROW:
            raise DataError(f"{where}: more than {LAST_ROW:,} rows; the format has no more")
        texts = [_text(cell, where) for cell in cells]
        while texts and not texts[-1]:
            texts.pop()
        if not texts:
            continue
        if not width:
            limits.COLUMNS.check(len(texts), where)
            width = len(texts)
        elif len(texts) > width:
            place = cells[len(texts) - 1].coordinate
            raise DataError(f"{where}, cell {place}: found {texts[-1]!r}; allowed: nothing beyond the {width} columns "
                            "of the header")  # fmt: skip
        yield number, texts + [""] * (width - len(texts))


def _text(cell: Any, where: str) -> str:
    """Return what CSV would hold for a cell."""
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "f":
        words = str(getattr(value, "text", value))
        raise DataError(
            f"{where}, cell {cell.coordinate}: found the formula {words!r:.60}; allowed: values. Copy the cells and "
            "paste them as values"
        )
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return str(value.isoformat()) if isinstance(value, date | time) else str(value)
