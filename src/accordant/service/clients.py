"""Clients: programs that ask for decisions, each with a key that is shown once and kept as a fingerprint."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from accordant.errors import InputError, UnknownNameError
from accordant.naming import plain
from accordant.service.record.log import Act, append, now
from accordant.service.schema import api_client
from accordant.service.secrets import Secrets, new_id, new_token

LONGEST_NAME = 200
LIVE = select(api_client).where(api_client.c.token == bindparam("fingerprint"), api_client.c.revoked_at.is_(None))
AMONG = select(api_client.c.id).where(
    api_client.c.id.in_(bindparam("identifiers", expanding=True)), api_client.c.revoked_at.is_(None)
)
MOST_KNOWN = 10_000
PREFIX = "acc_"  # so that a key that leaked into a repository is found by those who look for keys


class RevokedError(Exception):
    """The key of a client is good no more."""


@dataclass(eq=False)
class KnownClients:
    """Clients whose key was good before, in this process: whoever decides for one looks whether it still is.

    A look into the database for every question would take as long as a third of a decision.
    """

    secrets: Secrets
    _known: dict[bytes, Row[Any]] = field(default_factory=dict, repr=False)

    def get(self, key: str) -> Row[Any] | None:
        """Return the client that had this key; None if nobody is known to."""
        return self._known.get(self.secrets.fingerprint(key))

    def keep(self, client: Row[Any]) -> None:
        """Remember a client whose key is good."""
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[bytes(client.token)] = client

    def forget(self, client: Row[Any]) -> None:
        """Forget a client."""
        self._known.pop(bytes(client.token), None)


def add_client(connection: Connection, secrets: Secrets, workspace: str, name: str) -> str:
    """Admit a program and return its key, which is not kept.

    Raises
    ------
    InputError
        If there is a client of this name, or it is none.
    """
    if not name.strip() or len(name) > LONGEST_NAME or plain(name) != name:
        raise InputError(f"name is {name!r}; allowed: 1 to {LONGEST_NAME} characters that can be printed")
    there = (api_client.c.workspace == workspace) & (api_client.c.name == name)
    if connection.execute(select(api_client.c.id).where(there)).one_or_none() is not None:
        raise InputError(f"there is a client {name!r} already; revoke it first, or take another name")
    key, identifier = PREFIX + new_token(), new_id()
    connection.execute(
        insert(api_client).values(
            id=identifier, workspace=workspace, name=name, token=secrets.fingerprint(key), created_at=now()
        )
    )
    append(connection, [Act("client", {"client": identifier, "name": name, "workspace": workspace})])
    return key


def client_of(connection: Connection, secrets: Secrets, key: str) -> Row[Any] | None:
    """Return the client with a key; None if there is none, or it was revoked."""
    return connection.execute(LIVE, {"fingerprint": secrets.fingerprint(key)}).one_or_none()


def live_clients(connection: Connection, identifiers: Collection[str]) -> set[str]:
    """Return those of some clients that were not revoked."""
    return set(connection.execute(AMONG, {"identifiers": list(identifiers)}).scalars())


def revoke_client(connection: Connection, workspace: str, name: str) -> None:
    """Refuse a client's key from now on; raises UnknownNameError if there is no such client."""
    live = (api_client.c.workspace == workspace) & api_client.c.revoked_at.is_(None)
    row = connection.execute(select(api_client).where(live, api_client.c.name == name)).one_or_none()
    if row is None:
        raise UnknownNameError("client", name, connection.execute(select(api_client.c.name).where(live)).scalars())
    connection.execute(
        update(api_client).where(api_client.c.id == row.id).values(revoked_at=now(), name=f"{name} ({row.id[:8]})")
    )
    append(connection, [Act("revocation", {"client": row.id, "workspace": workspace})])
