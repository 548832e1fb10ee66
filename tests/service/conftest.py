"""A service on SQLite in a folder of its own, with one run deployed."""

from __future__ import annotations


import pytest

from accordant.runs import read_run
from accordant.service.clients import add_client, client_of
from accordant.service.database import Database, KeyStore
from accordant.service.migrations import prepare
from accordant.service.secrets import Secrets
from accordant.service.service import open_service


@pytest.fixture(scope="session")
def finished(run_of_three):
    """A finished run."""
    return read_run(run_of_three)


@pytest.fixture
def database(tmp_path):
    """An empty database with the tables of a service."""
    made = Database.of(f"sqlite:///{tmp_path / 'service.db'}")
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
def service(tmp_path, finished):
    """A service with one run deployed."""
    made = open_service(f"sqlite:///{tmp_path / 'service.db'}")
    made.deploy(finished)
    yield made
    made.decider.runs.close()
    made.database.engine.dispose()
    made.keys.database.engine.dispose()


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
