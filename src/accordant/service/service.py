"""`Service`: what a server, a worker and the commands have in common: database, keys, secret, workspace, runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, insert, select

from accordant.runs import Run
from accordant.service.database import Database, KeyStore
from accordant.service.decisions import Decider
from accordant.service.deployments import Deployment, deploy
from accordant.service.erasure import finish_erasures
from accordant.service.identity import invite, withdraw
from accordant.service.migrations import prepare
from accordant.service.publication import OpenRuns, publish
from accordant.service.record.log import Act, append, now
from accordant.service.schema import membership, workspace
from accordant.service.secrets import Secrets, new_id, read_secrets

DEFAULT_DATABASE = "sqlite:///accordant.db"
WORKSPACE = "main"


@dataclass(frozen=True, eq=False)
class Service:
    """One service.

    Attributes
    ----------
    database
        Of everything but the keys of people.
    decider
        What decides.
    workspace
        Identifier of the workspace that commands act on.
    """

    database: Database
    decider: Decider
    workspace: str

    @property
    def secrets(self) -> Secrets:
        """What only this service knows."""
        return self.decider.secrets

    @property
    def keys(self) -> KeyStore:
        """The keys of people."""
        return self.decider.keys

    def deploy(self, run: Run, name: str | None = None, strategy: str | None = None) -> Deployment:
        """Publish a run and let it decide under a name, that of its case if none is given."""
        with self.database.writing() as connection:
            publish(connection, run, self.workspace)
            return deploy(connection, run, self.workspace, name or run.record.case.name, strategy)

    def first_invitation(self) -> str | None:
        """Return the token of a link that makes the first owner, and void an earlier one; None if there is an owner."""
        owns = (membership.c.workspace == self.workspace) & (membership.c.role == "owner")
        with self.database.writing() as connection:
            if connection.execute(select(membership.c.person).where(owns).limit(1)).one_or_none() is not None:
                return None
            withdraw(connection, self.workspace, "owner")
            return invite(connection, self.secrets, self.workspace, "owner").token

    def close(self) -> None:
        """Close connections, and remove what was unpacked."""
        self.decider.runs.close()
        self.database.close()
        self.keys.database.close()


def open_service(address: str, keys: str | None = None) -> Service:
    """Open a service, and make what it needs where it is missing: tables, the store of keys, the secret.

    Parameters
    ----------
    address
        Of the database, see `Database.of`.
    keys
        Address of the store of keys; None for ``….keys.db`` beside an SQLite database, and ``accordant.keys.db`` in
        this folder for PostgreSQL.
    """
    database, store = open_stores(address, keys)
    prepare(database)
    finish_erasures(database, store)
    with database.writing() as connection:
        identifier = _workspace(connection)
    return Service(database, Decider(database, store, store.secrets, OpenRuns()), identifier)


def open_stores(address: str, keys: str | None = None) -> tuple[Database, KeyStore]:
    """Return the database of an address, as it is, and the store of keys, made where it is missing."""
    database = Database.of(address)
    beside = database.file or Path("accordant.db")
    secrets = read_secrets(beside.with_suffix(".secret"))
    store = KeyStore(Database.of(keys or f"sqlite:///{beside.with_suffix('.keys.db')}"), secrets)
    store.prepare()
    return database, store


def _workspace(connection: Connection) -> str:
    """Return the workspace, which is made once."""
    identifier = connection.execute(select(workspace.c.id).where(workspace.c.name == WORKSPACE)).scalar()
    if identifier is None:
        identifier = new_id()
        connection.execute(insert(workspace).values(id=identifier, name=WORKSPACE, created_at=now()))
        append(connection, [Act("workspace", {"workspace": identifier, "name": WORKSPACE})])
    return str(identifier)
