"""How often somebody may try to come in: token buckets in the database, so that all processes count together.

Sources are addresses, kept as fingerprints only. Where the database does not answer nobody comes in.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from accordant.service.identity import after
from accordant.service.record.log import TIME, now
from accordant.service.schema import sign_in_rate
from accordant.service.secrets import Secrets

MOST_TRIES = 20  # at once
SECONDS_A_TRY = 30  # until one more is allowed


def may_try(connection: Connection, secrets: Secrets, address: str) -> bool:
    """Return whether somebody may try to come in now, and count the try; within a transaction that is committed."""
    source = secrets.fingerprint(f"sign-in {address}")
    here = sign_in_rate.c.source == source
    row: Row[Any] | None = connection.execute(select(sign_in_rate).where(here).with_for_update()).one_or_none()
    if row is None:
        connection.execute(delete(sign_in_rate).where(sign_in_rate.c.at <= after(seconds=-MOST_TRIES * SECONDS_A_TRY)))
        try:
            with connection.begin_nested():
                connection.execute(insert(sign_in_rate).values(source=source, tokens=MOST_TRIES - 1.0, at=now()))
        except IntegrityError:  # another process counted the first try of this address meanwhile
            return may_try(connection, secrets, address)
        return True
    tokens = min(float(MOST_TRIES), row.tokens + max(_seconds_since(row.at), 0.0) / SECONDS_A_TRY)
    allowed = bool(tokens >= 1)
    connection.execute(update(sign_in_rate).where(here).values(tokens=tokens - allowed, at=now()))
    return allowed


def _seconds_since(at: str) -> float:
    return (datetime.now(UTC) - datetime.strptime(at, TIME).replace(tzinfo=UTC)).total_seconds()
