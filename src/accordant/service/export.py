"""Exports: the log with all that can be read, for an owner; what is in it about one person, for that person.

Everything that a service decided, was told, or answered stands in its log, so a line an event is everything. Of people
who were erased the private part is null.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from accordant.errors import UnknownNameError
from accordant.service.database import Database, KeyStore
from accordant.service.record.log import Act, append, canonical
from accordant.service.schema import event, person
from accordant.service.secrets import event_key, unseal
from accordant.tables.output import output_file

ROWS = 1_000  # events read at a time


def exported(connection: Connection, keys: KeyStore, who: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield events with their private parts opened, in memory that does not grow with the log.

    Parameters
    ----------
    connection
        Of one moment, from `Database.snapshot`.
    keys
        Of people.
    who
        Whom they are about; None for all.
    """
    wanted = select(event).order_by(event.c.seq).limit(ROWS)
    if who is not None:
        wanted = wanted.where(event.c.person == who)
    after = -1
    while rows := connection.execute(wanted.where(event.c.seq > after)).all():
        known = keys.keys({row.person for row in rows if row.sealed})
        for row in rows:
            key = known.get(row.person) if row.sealed else None
            private = None if key is None else json.loads(unseal(event_key(key, row.id), bytes(row.sealed), row.id))
            yield {
                "seq": row.seq, "at": row.at, "kind": row.kind, "person": row.person, "public": json.loads(row.public),
                "private": private, "erased": bool(row.sealed) and key is None,
            }  # fmt: skip
        after = rows[-1].seq


def record_export(database: Database, who: str | None = None, by: str | None = None) -> None:
    """Record that somebody exports; raises UnknownNameError if there is no such person.

    Parameters
    ----------
    database
        Of the service.
    who
        Whom it is about; None for all.
    by
        Who exports, where that is not whom it is about; None for a command.
    """
    with database.writing() as connection:
        if who is not None and connection.execute(select(person.c.id).where(person.c.id == who)).one_or_none() is None:
            raise UnknownNameError("person", who, ())
        append(connection, [Act("export", {"of": "all" if who is None else "person", "by": by}, who)])


def write_export(database: Database, keys: KeyStore, target: Path, who: str | None = None) -> int:
    """Write an export as JSON lines and return how many events there are; that it was made is on record before.

    Raises
    ------
    UnknownNameError
        If there is no such person.
    """
    record_export(database, who)
    count = 0
    with database.snapshot() as connection, output_file(target) as file:
        for line in exported(connection, keys, who):
            file.write(canonical(line).decode() + "\n")
            count += 1
    return count
