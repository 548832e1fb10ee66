"""Backups: every row as a line of JSON, read from one moment, the same for SQLite and PostgreSQL.

    {"accordant_backup": 1, "schema": "0001", "size": 812, "root": "…"}
    ["workspace", {"id": "…", …}]
    …
    {"rows": 9034, "sha256": "…"}

The last line holds the hash of all lines before it. A backup holds no sessions, and no keys of people: nothing in it
that is sealed can be read without their store. Whoever restores it compares the root with a checkpoint kept elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic.script import ScriptDirectory
from sqlalchemy import Connection, LargeBinary, Table, delete, insert, select

from accordant.errors import DataError, InputError
from accordant.json_values import read_json_value
from accordant.service.database import Database, KeyStore
from accordant.service.erasure import erase
from accordant.service.migrations import config, prepare
from accordant.service.publication import LARGEST
from accordant.service.record.audit import audit
from accordant.service.record.log import canonical, read_head
from accordant.service.schema import log_head, person, tables
from accordant.tables.output import output_file

FORMAT = 1
LEFT_OUT = frozenset({"session", "sign_in_rate", "account_sign_in"})  # whoever was signed in signs in again
SAME_TABLES = frozenset({"0001"})  # versions before the newest whose backups hold the tables of the newest
ROWS = 1_000  # read and written at a time
LONGEST_LINE = 2 * LARGEST  # a run in base64, and its names


@dataclass(frozen=True)
class Backup:
    """What a backup holds.

    Attributes
    ----------
    size, root
        Of the log in it.
    rows
        How many, of all tables.
    erased
        How many people were erased again when it was restored.
    """

    size: int
    root: str
    rows: int
    erased: int = 0


def back_up(database: Database, target: Path) -> Backup:
    """Write a backup of one moment, while others go on writing.

    Parameters
    ----------
    database
        A service's.
    target
        A new file, an ordinary one to replace, or ``-``.
    """
    digest, rows = hashlib.sha256(), 0
    with database.snapshot() as connection, output_file(target) as file:
        head = read_head(connection)
        held = Backup(head.tree.size, head.root().hex(), 0)

        def write(value: Any) -> None:
            """Write one line of canonical JSON, and hash it."""
            line = canonical(value) + b"\n"
            digest.update(line)
            file.write(line.decode())

        write({"accordant_backup": FORMAT, "schema": _newest(database), "size": held.size, "root": held.root})
        for table in _kept():
            for row in connection.execute(select(table), execution_options={"yield_per": ROWS}):
                write([table.name, _json_row(table, row._mapping)])  # noqa: SLF001 - the documented way to names
                rows += 1
        file.write(canonical({"rows": rows, "sha256": digest.hexdigest()}).decode() + "\n")
    return Backup(held.size, held.root, rows)


def restore(source: Path, database: Database, keys: KeyStore) -> Backup:
    """Restore a backup into an empty database: all of it, or nothing.

    Those who were erased since the backup was made are erased again.

    Parameters
    ----------
    source
        From `back_up`.
    database
        Without any record.
    keys
        The store of keys, as it is now.

    Raises
    ------
    InputError
        If the database holds a record already.
    DataError
        If the file is no backup, was changed, or is not whole.
    """
    prepare(database)
    with database.writing() as connection:
        if read_head(connection, lock=True).tree.size:
            raise InputError(f"{database} holds a record already; allowed: a new database")
        connection.execute(delete(log_head))
        held = _insert(connection, source, _newest(database))
        log_audit = audit(connection)
        if log_audit.fault or (log_audit.size, log_audit.root.hex()) != (held.size, held.root):
            raise DataError(
                f"{source} does not hold together: {log_audit.fault or 'its log has another root than it says'}"
            )
    gone = keys.erased()
    with database.reading() as connection:
        back = connection.execute(select(person.c.id).where(person.c.erased_at.is_(None))).scalars().all()
    erased = sum(erase(database, keys, who) for who in back if who in gone)
    return Backup(held.size, held.root, held.rows, erased)


def _insert(connection: Connection, source: Path, schema: str) -> Backup:
    """Insert the rows of a file, checked against its first and its last line."""
    lines = _lines(source)
    first, digest = next(lines, (b"", {}))
    if not isinstance(digest, dict) or digest.get("accordant_backup") != FORMAT:
        raise DataError(f"{source} is no backup of a service in format {FORMAT}")
    if digest.get("schema") not in {schema, *SAME_TABLES}:
        raise DataError(f"{source} has tables of version {digest.get('schema')!r}; this version restores {schema!r}")
    header, known = digest, {table.name: table for table in _kept()}
    hashed, count, last = hashlib.sha256(first), 0, None
    waiting: list[dict[str, Any]] = []
    table: Table | None = None
    for raw, line in lines:
        if isinstance(line, dict):
            last = line
            break
        name, row = line
        if name not in known:
            raise DataError(f"{source} holds rows of {name!r}, which is no table of this version")
        if table is not None and (name != table.name or len(waiting) == ROWS):
            connection.execute(insert(table), waiting)
            waiting = []
        table = known[name]
        waiting.append(_row(table, row))
        hashed.update(raw)
        count += 1
    if table is not None and waiting:
        connection.execute(insert(table), waiting)
    if last != {"rows": count, "sha256": hashed.hexdigest()} or next(lines, None) is not None:
        raise DataError(f"{source} was changed, or is not whole")
    return Backup(int(header["size"]), str(header["root"]), count)


def _lines(source: Path) -> Iterator[tuple[bytes, Any]]:
    """Yield the lines of a file and their JSON values."""
    try:
        with source.open("rb") as file:
            while raw := file.readline(LONGEST_LINE + 1):
                if len(raw) > LONGEST_LINE:
                    raise DataError(f"{source} is no backup: a line has more than {LONGEST_LINE:,} bytes")
                value = read_json_value(raw.decode())
                if not (isinstance(value, dict) or (isinstance(value, list) and len(value) == 2)):
                    raise DataError(f"{source} is no backup of a service")
                yield raw, value
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror}") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise DataError(f"{source} is no backup of a service, or was changed") from None


def _kept() -> list[Table]:
    """Return the tables of a backup, those first that others refer to."""
    return [table for table in tables.sorted_tables if table.name not in LEFT_OUT]


def _newest(database: Database) -> str:
    return str(ScriptDirectory.from_config(config(database)).get_current_head())


def _json_row(table: Table, row: Any) -> dict[str, Any]:
    return {
        column.name: base64.b64encode(row[column.name]).decode() if _is_binary(column, row) else row[column.name]
        for column in table.columns
    }


def _row(table: Table, row: Any) -> dict[str, Any]:
    if not isinstance(row, dict) or set(row) != {column.name for column in table.columns}:
        raise DataError(f"a row of {table.name} has other columns than this version knows")
    try:
        return {
            column.name: base64.b64decode(row[column.name], validate=True)
            if _is_binary(column, row)
            else row[column.name]
            for column in table.columns
        }
    except (TypeError, ValueError):
        raise DataError(f"a row of {table.name} cannot be read") from None


def _is_binary(column: Any, row: Any) -> bool:
    return isinstance(column.type, LargeBinary) and row[column.name] is not None
