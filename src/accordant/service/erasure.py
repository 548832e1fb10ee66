"""Erasing a person: the key is destroyed, so nothing about them can be read; results and proofs stay.

The order is such that a crash between two steps leaves something to finish, never something undone: first it is
recorded that the person is being erased, then the key is destroyed. The hash of the question goes too: whoever has it
could guess what was asked.
"""

from __future__ import annotations

from sqlalchemy import delete, select, update

from accordant.errors import UnknownNameError
from accordant.service.database import Database, KeyStore
from accordant.service.record.log import Act, append, now
from accordant.service.schema import decision, identity, person, request, session


def erase(database: Database, keys: KeyStore, who: str) -> bool:
    """Erase a person and return whether anything was left to erase.

    Raises
    ------
    UnknownNameError
        If there is no such person.
    """
    with database.writing() as connection:
        row = connection.execute(select(person).where(person.c.id == who)).one_or_none()
        if row is None:
            raise UnknownNameError("person", who, ())
        if row.erased_at is None:
            connection.execute(update(person).where(person.c.id == who).values(erased_at=now()))
            connection.execute(delete(identity).where(identity.c.person == who))
            connection.execute(delete(session).where(session.c.person == who))
            asked = select(decision.c.request).where(decision.c.person == who)
            connection.execute(update(request).where(request.c.id.in_(asked)).values(body=b""))
            append(connection, [Act("erasure", {}, who)])
    return keys.erase(who) or row.erased_at is None


def finish_erasures(database: Database, keys: KeyStore) -> int:
    """Destroy the keys of those who were being erased when the service stopped; return how many there were."""
    with database.reading() as connection:
        erased = connection.execute(select(person.c.id).where(person.c.erased_at.is_not(None))).scalars().all()
    finished = keys.erased()
    return sum(keys.erase(who) for who in erased if who not in finished)
