"""Contexts that a job is still to decide about: in parts, each sealed under a key of its own.

They are data of people, who have no keys before they are decided about. So the key of a part lies in the store of keys,
and is destroyed as soon as the part is decided, or will never be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select, update

from accordant.service.answers import Cell
from accordant.service.database import Database, KeyStore
from accordant.service.identity import after
from accordant.service.jobs.queue import ENDED, LEASE_SECONDS, cancel
from accordant.service.record.log import canonical, now
from accordant.service.schema import job, job_part
from accordant.service.secrets import event_key, seal, unseal

DAYS_KEPT = 7  # after a job failed, so that it can be tried again

Contexts = Sequence[Mapping[str, Cell]]


def receive(database: Database, keys: KeyStore, identifier: str, position: int, contexts: Contexts) -> None:
    """Keep a part of a job that is being received."""
    ((name, key),) = keys.new(1).items()
    bound = _bound(identifier, position)
    sealed = seal(event_key(key, bound), canonical(list(contexts)), bound)
    with database.writing() as connection:
        connection.execute(
            insert(job_part).values(job=identifier, position=position, key=name, sealed=sealed, decided=0)
        )
        connection.execute(
            update(job)
            .where(job.c.id == identifier, job.c.state == "receiving")
            .values(free_at=after(seconds=LEASE_SECONDS))
        )


def next_part(connection: Connection, keys: KeyStore, identifier: str) -> tuple[int, Contexts] | None:
    """Return the position of the first part that is not decided, and its contexts; None if there is none."""
    wanted = select(job_part).where(job_part.c.job == identifier, job_part.c.decided == 0)
    row = connection.execute(wanted.order_by(job_part.c.position).limit(1)).one_or_none()
    if row is None:
        return None
    bound = _bound(identifier, row.position)
    content = unseal(event_key(keys.key(row.key), bound), bytes(row.sealed), bound)
    contexts: Contexts = json.loads(content)
    return row.position, contexts


def mark_decided(connection: Connection, identifier: str, position: int) -> None:
    """Take note, in the transaction that decides about a part, that nothing is left to do with it."""
    connection.execute(
        update(job_part).where(job_part.c.job == identifier, job_part.c.position == position).values(decided=1)
    )


def forget(database: Database, keys: KeyStore) -> int:
    """Destroy the keys of parts that were decided, or whose job is over, and remove them; return how many there were.

    A job whose parts stopped coming is cancelled; one that failed keeps its parts for `DAYS_KEPT`.
    """
    with database.reading() as connection:
        late = (job.c.state == "receiving") & (job.c.free_at <= now())
        silent = connection.execute(select(job.c.id).where(late)).scalars().all()
    for identifier in silent:
        with database.writing() as connection:
            if connection.execute(select(job.c.id).where(late, job.c.id == identifier)).one_or_none() is not None:
                cancel(connection, identifier)
    over = job.c.state.in_(ENDED) & ((job.c.state != "failed") | (job.c.ended_at <= after(days=-DAYS_KEPT)))
    with database.reading() as connection:
        rows = connection.execute(
            select(job_part.c.job, job_part.c.position, job_part.c.key)
            .join(job, job.c.id == job_part.c.job)
            .where((job_part.c.decided == 1) | over)
        ).all()
    if rows:
        keys.destroy(*(row.key for row in rows))
        with database.writing() as connection:
            for row in rows:
                connection.execute(
                    delete(job_part).where(job_part.c.job == row.job, job_part.c.position == row.position)
                )
    return len(rows)


def _bound(identifier: str, position: int) -> str:
    return f"{identifier}/{position}"
