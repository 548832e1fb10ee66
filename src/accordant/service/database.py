"""Where a service keeps everything: SQLite beside it, or PostgreSQL; and the keys of people, apart.

Writers of SQLite begin with ``BEGIN IMMEDIATE``: a reader that turns into a writer would fail at once, whatever the
time-out (``SQLITE_BUSY_SNAPSHOT``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Row, create_engine, delete, event, insert, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from accordant.errors import InputError
from accordant.service.schema import erased_person, person_key, person_keys
from accordant.service.secrets import Erased, Secrets, new_id
from accordant.tables.output import private_file

BUSY_SECONDS = 30
KEYS_AT_A_TIME = 256  # a transaction of its own for each would take as long as the decision
WRITES = "accordant_writes"
ONE_WRITER = 0x6163636F7264616E  # the lock of whoever writes to PostgreSQL: "accordan"
CANNOT_ANSWER = ("unable to open", "is full", "is locked", "disk I/O error", "No space left", "connection failed")
"""What databases say when it is not the fault of what was asked, and asking again may help."""
DIALECTS = ("sqlite", "postgresql+psycopg")


@dataclass(frozen=True)
class Database:
    """One database.

    Attributes
    ----------
    url
        ``sqlite:///FILE`` or ``postgresql+psycopg://USER@HOST/NAME``; a password may stand in ``PGPASSWORD``.
    """

    url: URL

    @classmethod
    def of(cls, address: str) -> Database:
        """Return the database of an address; raises InputError if it is none of the two kinds."""
        try:
            url = make_url(address)
        except ArgumentError:
            raise InputError(f"{address!r} is no address of a database; {_allowed()}") from None
        if url.drivername not in DIALECTS or (url.drivername == "sqlite" and not url.database):
            raise InputError(f"{url.render_as_string(hide_password=True)} cannot be used; {_allowed()}")
        return cls(url)

    @classmethod
    def there(cls, place: str) -> Database:
        """Return the database of an address, or of an SQLite file that is there.

        Raises
        ------
        InputError
            If there is no such file.
        """
        database = cls.of(place if "://" in place else f"sqlite:///{place}")
        if database.file is not None and not database.file.is_file():
            raise InputError(f"{database.file} is not there; allowed: the file of a service, or its URL")
        return database

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        return Path(self.url.database) if self.url.drivername == "sqlite" and self.url.database else None

    def close(self) -> None:
        """Close all connections; whoever asks again opens new ones."""
        self.engine.dispose()

    @cached_property
    def engine(self) -> Engine:
        """Connections to the database, opened when they are first needed."""
        try:
            if self.file is None:
                return create_engine(self.url, pool_pre_ping=True, hide_parameters=True)
            engine = create_engine(self.url, connect_args={"timeout": BUSY_SECONDS}, hide_parameters=True)
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            raise InputError(f"{self.url.drivername} needs a driver: pip install 'accordant[postgres]'") from error
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that changes nothing."""
        with self._reported(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a transaction that changes nothing, and sees one moment however long it reads."""
        with self._reported(), self.engine.connect() as connection:
            if self.file is None:
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that is committed whole, or not at all; others that write to this database wait."""
        with self._reported(), self.engine.connect() as connection:
            connection.execution_options(**{WRITES: True})
            with connection.begin():
                if self.file is None:  # what is read before it is written would change in between
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ONE_WRITER})")
                yield connection

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Say which database cannot be reached."""
        try:
            yield
        except DBAPIError as error:
            if error.connection_invalidated or any(words in str(error.orig) for words in CANNOT_ANSWER):
                raise UnreachableError(f"{self}: {error.orig}") from error
            raise

    def __str__(self) -> str:
        return self.url.render_as_string(hide_password=True)


class UnreachableError(InputError):
    """The database does not answer."""


def _allowed() -> str:
    return "allowed: sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME"


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says
    for setting in (
        "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON", "trusted_schema = OFF",
    ):  # fmt: skip
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@dataclass(frozen=True)
class KeyStore:
    """Keys of people, each wrapped with the secret of the service, in a database of their own.

    Attributes
    ----------
    database
        Apart from the one that is backed up.
    secrets
        What wraps the keys.
    """

    database: Database
    secrets: Secrets
    _unused: deque[tuple[str, bytes]] = field(default_factory=deque, repr=False, compare=False)

    def prepare(self) -> None:
        """Make the store if there is none."""
        if self.database.file is not None:
            private_file(self.database.file)
        person_keys.create_all(self.database.engine)

    def new(self, count: int) -> dict[str, bytes]:
        """Return new people with their keys, which are kept before anything is sealed with them.

        Keys are made many at a time: those that no process used when it ended belong to nobody.
        """
        people: dict[str, bytes] = {}
        while len(people) < count:
            try:
                person, key = self._unused.popleft()
            except IndexError:
                self._unused.extend(self._make(max(count, KEYS_AT_A_TIME)).items())
                continue
            people[person] = key
        return people

    def _make(self, count: int) -> dict[str, bytes]:
        keys = {new_id(): new_key() for _ in range(count)}
        with self.database.writing() as connection:
            connection.execute(
                insert(person_key),
                [{"person": who, "wrapped": self.secrets.wrap(key, who)} for who, key in keys.items()],
            )
        return keys

    def key(self, person: str) -> bytes:
        """Return the key of a person; raises Erased if there is none any more."""
        with self.database.reading() as connection:
            row: Row[Any] | None = connection.execute(
                select(person_key.c.wrapped).where(person_key.c.person == person)
            ).one_or_none()
        if row is None:
            raise Erased(person)
        return self.secrets.unwrap(row.wrapped, person)

    def keys(self, people: Collection[str]) -> dict[str, bytes]:
        """Return the keys of those people who have one."""
        with self.database.reading() as connection:
            rows = connection.execute(select(person_key).where(person_key.c.person.in_(people))).all()
        return {row.person: self.secrets.unwrap(row.wrapped, row.person) for row in rows}

    def destroy(self, *names: str) -> int:
        """Destroy keys, in the write-ahead log too; return how many there were."""
        with self.database.writing() as connection:
            gone = self._destroy(connection, names)
        self._truncate()
        return gone

    def erase(self, person: str) -> bool:
        """Destroy the key of a person and remember that, for whoever restores a backup from before; see `destroy`."""
        with self.database.writing() as connection:
            if connection.execute(select(erased_person).where(erased_person.c.person == person)).one_or_none() is None:
                connection.execute(insert(erased_person).values(person=person))
            gone = self._destroy(connection, (person,))
        self._truncate()
        return gone > 0

    def erased(self) -> set[str]:
        """Return everybody who was erased."""
        with self.database.reading() as connection:
            return set(connection.execute(select(erased_person.c.person)).scalars())

    def _destroy(self, connection: Connection, names: Sequence[str]) -> int:
        return connection.execute(delete(person_key).where(person_key.c.person.in_(names))).rowcount

    def _truncate(self) -> None:
        """Empty the write-ahead log of an SQLite file."""
        if self.database.file is not None:
            with self.database.engine.connect() as connection:
                connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def new_key() -> bytes:
    """Return a key for one person."""
    return bytes.fromhex(new_id() + new_id())
