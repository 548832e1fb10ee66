"""Where a server listens, what it says when it begins, and what it leaves to several processes."""

from __future__ import annotations

import json
import os
import socket

import pytest

from accordant.errors import InputError
from accordant.service import server
from tests.service.conftest import on_sqlite

pytestmark = on_sqlite


@pytest.fixture
def answered(monkeypatch, tmp_path):
    """Servers that would answer now, by their sockets; those of several processes with their configuration."""
    begun = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server, "_answer", lambda app, listening: begun.append((app, listening)))

    class Processes:
        def __init__(self, config, sockets):
            self.config, self.sockets = config, sockets

        def run(self):
            begun.append((self.config, *self.sockets))

    monkeypatch.setattr(server, "Multiprocess", Processes)
    monkeypatch.setattr(server.gc, "freeze", lambda: None)
    for name in (server.WORKER_DATABASE, server.WORKER_KEYS, server.FOLDER_VARIABLE):
        monkeypatch.setenv(name, "")  # put back after the test
    yield begun
    for _, listening in begun:
        listening.close()


def test_it_says_where_it_listens_and_where_the_first_owner_begins(answered, address, tmp_path, capsys):
    server.run_server((), "127.0.0.1", 0, address, None, 1, json=True)
    told = json.loads(capsys.readouterr().out)
    ((app, listening),) = answered
    assert told["address"] == f"http://127.0.0.1:{listening.getsockname()[1]}" and told["deployments"] == []
    place, _, token = told["owner"].rpartition("/")
    assert place.startswith(told["address"]) and app.title
    server.run_server((), "127.0.0.1", 0, address, None, 1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"http://127.0.0.1:{answered[1][1].getsockname()[1]}"
    assert lines[1].startswith(f"the first owner begins here: {lines[0]}/") and token not in lines[1]


def test_a_deployed_run_is_named_with_its_strategy(answered, address, run_of_three, finished, capsys):
    server.run_server((run_of_three,), "127.0.0.1", 0, address, None, 1)
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith(f": {finished.record.selected} of {run_of_three}")
    assert first.startswith(finished.record.case.name)


@pytest.mark.parametrize("named", [True, False])
def test_several_processes_find_the_database_and_the_keys_in_the_environment(answered, address, tmp_path, named):
    keys = f"sqlite:///{tmp_path / 'people.db'}" if named else None
    server.run_server((), "127.0.0.1", 0, address, keys, 3)
    ((config, listening),) = answered
    assert (config.workers, config.factory, config.app) == (3, True, "accordant.service.server:worker_app")
    assert os.environ[server.WORKER_DATABASE] == address and os.environ[server.WORKER_KEYS] == (keys or "")
    assert listening.get_inheritable()
    assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_a_port_that_is_taken_is_refused(address):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1:{number}: Address already in use"):
            server.run_server((), "127.0.0.1", number, address, None, 1)


def test_an_address_of_six_groups_stands_in_brackets(answered, address, capsys):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    server.run_server((), "::1", 0, address, None, 1)
    number = answered[0][1].getsockname()[1]
    assert f"http://[::1]:{number}" in capsys.readouterr().out.splitlines()
