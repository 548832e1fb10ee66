"""Jobs as leases in a table: whoever claims one has it until a time, and what it does counts under its fence only.

A worker that was stopped, or lost its machine, leaves a lease that ends; another one claims the job under the next
fence. Every effect of a job checks the fence in the transaction that makes it, so nothing happens twice, and nothing
after a job was cancelled.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from accordant.errors import AccordantError, ConflictError, UnknownNameError
from accordant.service.database import Database
from accordant.service.identity import after
from accordant.service.record.log import Act, append, canonical, now
from accordant.service.schema import job
from accordant.service.secrets import new_id

LEASE_SECONDS = 60
MOST_TRIES = 3  # in a row without any progress
SECONDS_TO_WAIT = 10  # before the second try; each further one waits twice as long
OPEN = ("receiving", "waiting", "running")
ENDED = ("done", "failed", "cancelled")


class LeaseLostError(AccordantError):
    """Somebody else has the job, or it was cancelled: nothing more is done under this lease."""


@dataclass(frozen=True)
class Lease:
    """The right to work on a job.

    Attributes
    ----------
    job, kind, workspace
        Which job.
    fence
        Counts who had it.
    tries
        How often it was begun without any progress, this time among them.
    done, total
        How much of it was done before, of how much.
    payload
        What is wanted.
    client, person
        Who wants it, a program or somebody; None for neither.
    result
        Of what was done before.
    """

    job: str
    kind: str
    workspace: str
    fence: int
    tries: int
    done: int
    total: int
    payload: Mapping[str, Any]
    client: str | None
    person: str | None
    result: Mapping[str, Any]


def add(
    connection: Connection,
    workspace: str,
    kind: str,
    payload: Mapping[str, Any],
    *,
    person: str | None = None,
    client: str | None = None,
    idempotency_key: bytes | None = None,
    receiving: bool = False,
) -> str:
    """Add a job and return its identifier.

    Parameters
    ----------
    connection
        From `Database.writing`.
    workspace
        Where.
    kind
        One of `kinds.KINDS`.
    payload
        JSON values, nothing of people.
    person, client
        Who wants it.
    idempotency_key
        The fingerprint of what the client chose.
    receiving
        Whether parts of it are still to come; see `receive`.
    """
    identifier, at = new_id(), now()
    connection.execute(
        insert(job).values(
            id=identifier, workspace=workspace, kind=kind, client=client, person=person,
            idempotency_key=idempotency_key, body=b"", payload=canonical(payload).decode(),
            state="receiving" if receiving else "waiting", created_at=at,
            free_at=after(seconds=LEASE_SECONDS) if receiving else at, fence=0, tries=0, done=0, total=0,
        )
    )  # fmt: skip
    append(connection, [Act("job", {"job": identifier, "kind": kind, "workspace": workspace, "by": client or person})])
    return identifier


def begin_waiting(connection: Connection, identifier: str, total: int, body: bytes) -> None:
    """Let a job whose parts all came be claimed; raises ConflictError if it was cancelled meanwhile."""
    turned = connection.execute(
        update(job)
        .where(job.c.id == identifier, job.c.state == "receiving")
        .values(state="waiting", free_at=now(), total=total, body=body)
    ).rowcount
    if turned != 1:
        raise ConflictError("this job was cancelled while it was received")


def claim(database: Database, kinds: tuple[str, ...]) -> Lease | None:
    """Return the lease of the job that waits longest, or whose lease ended; None if there is none.

    One that was begun `MOST_TRIES` times without any progress ends as failed.
    """
    free = job.c.state.in_(("waiting", "running")) & job.c.kind.in_(kinds)
    with database.reading() as connection:  # so that nobody who waits for work keeps others from writing
        if connection.execute(select(job.c.id).where(free, job.c.free_at <= now()).limit(1)).one_or_none() is None:
            return None
    with database.writing() as connection:
        while True:
            row = connection.execute(
                select(job)
                .where(free, job.c.free_at <= now())
                .order_by(job.c.free_at)
                .limit(1)
                .with_for_update(skip_locked=True)
            ).one_or_none()
            if row is None:
                return None
            if row.tries < MOST_TRIES:
                break
            _end(connection, row.id, "failed", error=row.error or f"it was begun {row.tries} times and never finished")
        connection.execute(
            update(job)
            .where(job.c.id == row.id)
            .values(state="running", fence=row.fence + 1, tries=row.tries + 1, free_at=after(seconds=LEASE_SECONDS))
        )
    return Lease(
        row.id, row.kind, row.workspace, row.fence + 1, row.tries + 1, row.done, row.total, json.loads(row.payload),
        row.client, row.person, json.loads(row.result or "{}"),
    )  # fmt: skip


def hold(connection: Connection, lease: Lease, **values: Any) -> None:
    """Keep a lease, and whatever of the job changes with it; raises LeaseLostError if it is another's now."""
    kept = connection.execute(
        update(job)
        .where(job.c.id == lease.job, job.c.fence == lease.fence, job.c.state == "running")
        .values(**{"free_at": after(seconds=LEASE_SECONDS)} | values)
    ).rowcount
    if kept != 1:
        raise LeaseLostError(f"job {lease.job} was cancelled, or another worker has it")


def advance(connection: Connection, lease: Lease, done: int, result: Mapping[str, Any] | None = None) -> None:
    """Record how much is done, and with what result so far, in the transaction that does it; tries count anew."""
    told = None if result is None else canonical(result).decode()
    hold(connection, lease, done=done, result=told, tries=0, error=None)


def finish(connection: Connection, lease: Lease, result: Mapping[str, Any]) -> None:
    """End a job as done, in the transaction of its last effect."""
    hold(connection, lease)
    _end(connection, lease.job, "done", error=None, result=canonical(result).decode(), stage=None)


def give_up(connection: Connection, lease: Lease, error: str, *, again: bool) -> None:
    """End a try that failed: the job waits for the next one, or ends as failed.

    Parameters
    ----------
    connection, lease
        What was tried.
    error
        Why, without anything of people.
    again
        Whether trying again may help.
    """
    if again and lease.tries < MOST_TRIES:
        pause = SECONDS_TO_WAIT * 2 ** (lease.tries - 1)
        hold(connection, lease, state="waiting", free_at=after(seconds=pause), error=error, stage=None)
        return
    hold(connection, lease)
    _end(connection, lease.job, "failed", error=error, stage=None)


def release(connection: Connection, lease: Lease) -> None:
    """Give a job back that is to be carried on by another worker; this try does not count."""
    hold(connection, lease, state="waiting", free_at=now(), tries=lease.tries - 1, stage=None)


def cancel(connection: Connection, identifier: str, by: str | None = None) -> None:
    """End a job that did not end; whoever works on it does nothing more.

    Raises
    ------
    UnknownNameError
        If there is no such job.
    ConflictError
        If it ended.
    """
    row = job_of(connection, identifier)
    if row.state in ENDED:
        raise ConflictError(f"this job is {row.state} already")
    _end(connection, identifier, "cancelled", by=by, stage=None)


def retry(connection: Connection, identifier: str) -> None:
    """Let a failed job be tried again.

    Raises
    ------
    UnknownNameError
        If there is no such job.
    ConflictError
        If it did not fail.
    """
    row = job_of(connection, identifier)
    turned = connection.execute(
        update(job)
        .where(job.c.id == identifier, job.c.state == "failed")
        .values(state="waiting", free_at=now(), tries=0, error=None, ended_at=None)
    ).rowcount
    if turned != 1:
        raise ConflictError(f"this job is {row.state}; only one that failed is tried again")


def job_of(connection: Connection, identifier: str) -> Row[Any]:
    """Return the row of a job; raises UnknownNameError if there is none."""
    row: Row[Any] | None = connection.execute(select(job).where(job.c.id == identifier)).one_or_none()
    if row is None:
        raise UnknownNameError("job", identifier, ())
    return row


def jobs_of(connection: Connection, workspace: str, kinds: Collection[str], most: int = 100) -> list[Row[Any]]:
    """Return the newest jobs of some kinds of a workspace."""
    here = (job.c.workspace == workspace) & job.c.kind.in_(kinds)
    rows = select(job).where(here).order_by(job.c.created_at.desc(), job.c.id).limit(most)
    return list(connection.execute(rows))


def _end(connection: Connection, identifier: str, state: str, by: str | None = None, **values: Any) -> None:
    ended = connection.execute(
        update(job).where(job.c.id == identifier, job.c.state.in_(OPEN)).values(state=state, ended_at=now(), **values)
    ).rowcount
    if ended != 1:
        raise ConflictError("this job ended already")
    append(connection, [Act("job_end", {"job": identifier, "state": state, "by": by})])
