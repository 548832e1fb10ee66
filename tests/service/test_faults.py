"""What goes wrong around a service: killed servers, a full disk, a database that is gone, a clock that was set back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from accordant.errors import ConflictError
from accordant.service.api.app import make_app
from accordant.service.record import log
from accordant.service.record.audit import audit
from accordant.service.schema import decision, event, request

CONTEXT = {"score": 0.4, "branch": "south"}
KILLS = int(os.environ.get("ACCORDANT_KILLS", "6"))


@pytest.fixture
def http(service):
    with TestClient(make_app(service), raise_server_exceptions=False) as browser:
        yield browser


def ask(http, key, idempotency="1", contexts=(CONTEXT,)):
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": idempotency}
    return http.post("/v1/decisions", json={"contexts": list(contexts)}, headers=headers)


def count(service, table):
    with service.database.reading() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


@pytest.mark.long
def test_killed_servers_lose_and_double_nothing(address, finished, tmp_path):
    given = [] if address.startswith("sqlite") else ["--database", address]
    command = [sys.executable, "-m", "benchmarks.service_faults", "--kills", str(KILLS), "--run", str(finished.path)]
    root = Path(__file__).parent.parent.parent
    done = subprocess.run([*command, *given], cwd=root, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert f"{KILLS} kills of 2 servers" in done.stdout and ", 0 failures" in done.stdout


def test_two_servers_on_one_database_answer_a_key_once(service, open_again, client):
    servers, told, barrier = [service, open_again()], [], threading.Barrier(8)

    def work(number):
        barrier.wait()
        for i in range(5):
            told.append((i, servers[number % 2].decider.decide(client, f"key {i}", [{**CONTEXT, "score": i / 10}])))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(told) == 40
    assert all(len({answer.to_json() for number, answer in told if number == i}) == 1 for i in range(5))
    assert count(service, decision) == count(service, request) == 5
    with service.database.reading() as connection:
        assert audit(connection, service.secrets).fault == ""


def test_a_question_that_cannot_be_answered_does_not_take_others_with_it(service, client):
    barrier, told = threading.Barrier(9), {}

    def work(number):
        barrier.wait()
        context = {"score": "much", "branch": "south"} if number % 3 == 0 else {**CONTEXT, "score": number / 10}
        try:
            told[number] = service.decider.decide(client, f"key {number}", [context]).decisions[0]["action"]
        except Exception as error:
            told[number] = type(error).__name__

    threads = [threading.Thread(target=work, args=(number,)) for number in range(9)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {told[number] for number in (0, 3, 6)} == {"DataError"}
    assert "DataError" not in {told[number] for number in (1, 2, 4, 5, 7, 8)}
    assert count(service, decision) == 6


def test_equal_keys_that_wait_together_are_one_question(service, client):
    decider, same = service.decider, {**CONTEXT, "score": 0.2}
    first = decider._question(client, "one", [CONTEXT], None)
    again, other = decider._question(client, "one", [CONTEXT], None), decider._question(client, "one", [same], None)
    found = decider._answers([first, again, other])
    assert found[0] == found[1]
    assert isinstance(found[2], ConflictError)
    assert count(service, decision) == 1


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_full_disk_is_said_and_leaves_nothing(http, service, key):
    assert ask(http, key).status_code == 200
    with service.database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()

    def limit(dbapi_connection, *_):
        dbapi_connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    from sqlalchemy import event as listening

    service.database.engine.dispose()
    listening.listen(service.database.engine, "connect", limit)
    before = count(service, event)
    many = [{**CONTEXT, "score": i / 100} for i in range(300)]
    assert ask(http, key, "2", many).status_code == 503
    assert count(service, event) == before
    service.database.engine.dispose()
    listening.remove(service.database.engine, "connect", limit)
    assert ask(http, key, "2", many).status_code == 200
    assert count(service, decision) == 301


@pytest.mark.parametrize("address", [pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_a_database_that_is_gone_and_comes_back(http, service, key, cluster):
    first = ask(http, key)
    cluster.stop()
    try:
        assert http.get("/live").status_code == 200
        assert http.get("/ready").status_code == 503
        gone = ask(http, key, "2")
        assert (gone.status_code, gone.headers["Retry-After"]) == (503, "5")
    finally:
        cluster.start()
    assert http.get("/ready").status_code == 200
    assert ask(http, key).content == first.content
    assert ask(http, key, "2").status_code == 200
    assert count(service, decision) == 2


def test_a_clock_that_is_set_back_leaves_the_order_of_the_log(http, service, key, monkeypatch):
    assert ask(http, key).status_code == 200
    monkeypatch.setattr(log, "now", lambda: "2001-01-01T00:00:00.000000Z")
    assert ask(http, key, "2").status_code == 200
    with service.database.reading() as connection:
        times = connection.execute(select(event.c.at).order_by(event.c.seq)).scalars().all()
        assert audit(connection, service.secrets).fault == ""
    assert times == sorted(times) and times[-1] == times[-2]
