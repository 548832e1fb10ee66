"""The rows of one query as a data frame, through SQLAlchemy; nothing in the database can change.

A case holds the query, never the server: who carries it out names the database in ``$ACCORDANT_DATABASE``.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from accordant import limits
from accordant.errors import DataError, DataNotFoundError, InputError
from accordant.tables.frames import Lines
from accordant.tables.text import read_text
from accordant.tables.value_rows import frame_of_rows

logger = logging.getLogger(__name__)

VARIABLE = "ACCORDANT_DATABASE"
READ_ONLY: Mapping[str, tuple[str, ...]] = {
    "sqlite": ("PRAGMA query_only = ON",),
    "postgresql": ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",),
    "mysql": ("SET SESSION TRANSACTION READ ONLY",),
    "mariadb": ("SET SESSION TRANSACTION READ ONLY",),
}
"""What makes a connection refuse every change, by dialect; a database without it is not asked."""

COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
READING = re.compile(r"\s*(select|with|values)\b", re.IGNORECASE)
WRITING_FILES = re.compile(r"\binto\s+(outfile|dumpfile)\b", re.IGNORECASE)
AT_ONCE = 10_000  # rows


def query_of(path: Path) -> str:
    """Return the query that a file holds."""
    return read_text(path, limits.CASE_BYTES)


def check_query(query: str) -> str:
    """Return one query without its closing semicolon.

    Raises
    ------
    InputError
        If it is no single ``SELECT``, ``WITH`` or ``VALUES``.
    """
    bare = query.strip().removesuffix(";").rstrip()
    plain = COMMENT.sub(" ", bare)
    if not READING.match(plain) or ";" in plain or WRITING_FILES.search(plain):
        raise InputError(
            f"the query is {' '.join(bare.split())!r:.80}; allowed: one SELECT, without a semicolon inside"
        )
    return bare


def database_named() -> bool:
    """Return whether somebody named a database."""
    return bool(os.environ.get(VARIABLE))


def read_query(
    query: str, *, texts: Iterable[str] = (), missing: Iterable[str] = (), lines: Lines | None = None
) -> pd.DataFrame:
    """Return what a query gives, as it would be read from CSV.

    Parameters
    ----------
    query
        See `check_query`.
    texts, missing
        See `accordant.tables.frames.read_chunks`.
    lines
        Is told to count rows from 1.

    Raises
    ------
    DataNotFoundError
        If nobody named a database.
    InputError
        If the query is refused, SQLAlchemy or the driver is not installed, or the database has no way to refuse
        changes.
    DataError
        If the database cannot be reached, the query fails or gives no rows, or goes beyond a limit.
    """
    bare, url = check_query(query), os.environ.get(VARIABLE, "")
    if not url:
        raise DataNotFoundError(
            f"the rows come from a query, and no database is named; name it in ${VARIABLE}, such as "
            "postgresql+psycopg://user:password@host/name or sqlite:///file.db"
        )
    try:
        import sqlalchemy
    except ImportError:
        raise InputError("a query needs SQLAlchemy, which is not installed: pip install 'accordant[sql]'") from None
    if not re.search(r"\border\s+by\b", bare, re.IGNORECASE):
        logger.warning("the query has no ORDER BY: the same rows in another order make another split and hash")
    try:
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
    except ModuleNotFoundError as error:
        raise InputError(
            f"the database in ${VARIABLE} needs the package {error.name}, which is not installed"
        ) from None
    except (
        sqlalchemy.exc.ArgumentError,
        sqlalchemy.exc.NoSuchModuleError,
        ValueError,
    ):  # whose words may hold a secret
        raise InputError(f"${VARIABLE} is no address of a database; allowed: such as sqlite:///file.db") from None
    _check_engine(engine)
    try:
        with engine.connect() as connection:
            for statement in READ_ONLY[engine.dialect.name]:
                connection.exec_driver_sql(statement)
            connection.commit()  # of the setting alone: what follows is a new transaction, which may only read
            streamed = connection.execution_options(stream_results=True)
            result = streamed.execute(sqlalchemy.text(bare.replace(":", r"\:")))
            return frame_of_rows(_rows(result), "the query", texts=texts, missing=missing, lines=lines)
    except sqlalchemy.exc.SQLAlchemyError as error:
        words = " ".join(str(getattr(error, "orig", None) or type(error).__name__).split())
        raise DataError(f"the database in ${VARIABLE} says: {words:.300}") from None
    finally:
        engine.dispose()


def _check_engine(engine: Any) -> None:
    """Refuse a database that cannot be kept from changing, and a file that is not there, which SQLite would make."""
    name, file = engine.dialect.name, engine.url.database
    if name not in READ_ONLY:
        raise InputError(
            f"${VARIABLE} names a database of the kind {name}, which has no transaction that may only read; allowed: "
            f"{', '.join(READ_ONLY)}"
        )
    if name == "sqlite" and not (file and Path(file).is_file()):
        raise DataNotFoundError(f"${VARIABLE} names an SQLite file that is not there")


def _rows(result: Any) -> Iterator[tuple[int, list[str]]]:
    names = list(map(str, result.keys()))
    limits.COLUMNS.check(len(names), "the query")
    yield 0, names
    number = 0
    while rows := result.fetchmany(AT_ONCE):
        for row in rows:
            number += 1
            yield number, [_text(value, name, number) for value, name in zip(row, names, strict=True)]


def _text(value: Any, name: str, number: int) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, str | int | float | Decimal):
        return str(value)
    raise DataError(
        f"the query, row {number}: column {name!r}: found {type(value).__name__}; allowed: numbers, texts and dates"
    )
