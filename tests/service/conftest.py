"""A service on SQLite in a folder of its own, or on a PostgreSQL that the tests start, with one run deployed."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from accordant.runs import read_run
from accordant.service.clients import add_client, client_of
from accordant.service.database import Database, KeyStore
from accordant.service.migrations import prepare
from accordant.service.oidc import Proofs
from accordant.service.secrets import Secrets
from accordant.service.service import open_service

numbers = itertools.count()


class Cluster:
    """A PostgreSQL server in a folder of its own on 127.0.0.1, which forgets everything; root starts it as postgres."""

    def __init__(self):
        folders = [Path(folder) for folder in Path("/usr/lib/postgresql").glob("*/bin")]
        found = shutil.which("initdb") or next(
            (str(each / "initdb") for each in folders if (each / "initdb").exists()), ""
        )
        self.programs = Path(found).resolve().parent
        self.available = bool(found) and (
            os.getuid() != 0 or any(each.pw_name == "postgres" for each in pwd.getpwall())
        )
        self.folder = None

    def run(self, program, *arguments):
        command = [str(self.programs / program), *map(str, arguments)]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def start(self):
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="accordant-postgres-"))
            self.folder.chmod(0o755)
            if os.getuid() == 0:
                shutil.chown(self.folder, "postgres")
            self.run("initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
            with closing(socket.socket()) as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
        options = f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder} -c fsync=off -c max_connections=300"
        log = self.folder / "log"
        self.run("pg_ctl", "-D", self.folder / "data", "-w", "-l", log, "-o", options, "start")
        return self

    def stop(self, how="immediate"):
        self.run("pg_ctl", "-D", self.folder / "data", "-w", "-m", how, "stop")

    def new(self, template="template0"):
        """Make a database like another, which nobody uses meanwhile, and return its name."""
        name = f"service_{next(numbers)}"
        engine = create_engine(self.address("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"create database {name} template {template}"))
        engine.dispose()
        return name

    def address(self, name):
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{name}"


@pytest.fixture(scope="session")
def cluster():
    made = Cluster()
    if not made.available:
        if os.environ.get("ACCORDANT_REQUIRE_EXTRAS") == "1":
            pytest.fail("PostgreSQL is not installed: apt-get install postgresql")
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    yield made.start()
    made.stop()
    shutil.rmtree(made.folder)


def prepared(address):
    """Give a database its tables, and let go of it."""
    made = Database.of(address)
    prepare(made)
    made.close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory):
    """A file with the tables of a service: to make them takes as long as most tests."""
    file = tmp_path_factory.mktemp("template") / "service.db"
    prepared(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def postgresql_template(cluster):
    """The name of a database with the tables of a service."""
    name = cluster.new()
    prepared(cluster.address(name))
    return name


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def address(request, tmp_path):
    """The address of a database of each kind, with the tables of a service and nothing in them."""
    if request.param == "sqlite":
        return f"sqlite:///{shutil.copy(request.getfixturevalue('sqlite_template'), tmp_path / 'service.db')}"
    cluster = request.getfixturevalue("cluster")
    return cluster.address(cluster.new(request.getfixturevalue("postgresql_template")))


on_sqlite = pytest.mark.parametrize("address", ["sqlite"], indirect=True)


@pytest.fixture(scope="session")
def finished(run_of_three):
    """A finished run."""
    return read_run(run_of_three)


@pytest.fixture
def database(address):
    """A database with the tables of a service."""
    made = Database.of(address)
    prepare(made)
    yield made
    made.engine.dispose()


@pytest.fixture
def secrets():
    return Secrets(bytes(range(32)))


@pytest.fixture
def keys(tmp_path, secrets):
    """A store for keys of people."""
    store = KeyStore(Database.of(f"sqlite:///{tmp_path / 'people.db'}"), secrets)
    store.prepare()
    yield store
    store.database.engine.dispose()


@pytest.fixture
def open_again(address, tmp_path, monkeypatch):
    """A function that opens the service at the address, as another process would."""
    monkeypatch.chdir(tmp_path)  # where the secret of a service on PostgreSQL stands
    opened = []

    def open_it():
        opened.append(open_service(address, f"sqlite:///{tmp_path / 'service.keys.db'}"))
        return opened[-1]

    yield open_it
    for each in opened:
        each.close()


@pytest.fixture(scope="session")
def deployed_template(sqlite_template, finished, tmp_path_factory):
    """The files of a service on SQLite with one run deployed, which nobody has open."""
    folder = tmp_path_factory.mktemp("deployed")
    made = open_service(f"sqlite:///{shutil.copy(sqlite_template, folder)}", f"sqlite:///{folder / 'service.keys.db'}")
    made.deploy(finished)
    made.close()
    return folder


@pytest.fixture
def service(request, address, open_again, finished, tmp_path, monkeypatch):
    """A service with one run deployed; on SQLite its files are copies, at the newest version of their tables."""
    if not address.startswith("sqlite"):
        made = open_again()
        made.deploy(finished)
        return made
    for file in request.getfixturevalue("deployed_template").iterdir():
        shutil.copy(file, tmp_path / file.name)
    with monkeypatch.context() as patch:
        patch.setattr("accordant.service.service.prepare", lambda database: None)
        return open_again()


@pytest.fixture
def key(service):
    """The key of a client."""
    with service.database.writing() as connection:
        return add_client(connection, service.secrets, service.workspace, "shop")


@pytest.fixture
def client(service, key):
    """The row of the client."""
    with service.database.reading() as connection:
        return client_of(connection, service.secrets, key)


@pytest.fixture(scope="session")
def listening_provider():
    from tests.service.fake_provider import FakeProvider  # needs an extra that `make lowest` does without

    with FakeProvider().listening() as provider:
        provider.settings().sign_in_address(Proofs("state", "nonce", "verifier"))  # no test pays for the imports
        yield provider


@pytest.fixture
def provider(listening_provider):
    """A provider of accounts that keeps to the standard."""
    listening_provider.reset()
    return listening_provider
