"""Numbers and logs: who may see them, that they are right, and that nothing of anybody stands in them."""

from __future__ import annotations

import io
import json
import logging

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from sqlalchemy.exc import DBAPIError

from accordant.service.api.app import make_app
from accordant.service.api.observation import TOKEN_VARIABLE
from accordant.service.contests import Contestation
from accordant.service.jobs.queue import add
from accordant.service.logs import JsonLines
from accordant.service.schema import decision

CONTEXT = {"score": 0.4, "branch": "south"}


@pytest.fixture
def app(service):
    return make_app(service)


@pytest.fixture
def http(app):
    with TestClient(app, raise_server_exceptions=False, client=("127.0.0.1", 50000)) as browser:
        yield browser


@pytest.fixture
def lines():
    """What is logged meanwhile."""
    stream, logger = io.StringIO(), logging.getLogger("accordant.service")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.removeHandler(handler)
    logger.setLevel(before)


def ask(http, key, context=CONTEXT, number=1):
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": f"secret-{number}"}
    return http.post("/v1/decisions", json={"contexts": [context]}, headers=headers)


def numbers(http, **headers):
    answer = http.get("/metrics", headers=headers)
    assert answer.status_code == 200
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text) for sample in family.samples
    }  # fmt: skip


def test_numbers_are_those_of_what_happened(http, key, service):
    for i in range(3):
        ask(http, key, number=i)
    ask(http, "wrong")
    http.get("/nowhere/acc_secret")
    with service.database.writing() as connection:
        add(connection, service.workspace, "run", {"case": "story"})
        row = connection.execute(decision.select().where(decision.c.state == "decided")).first()
        Contestation(service.keys).contest(connection, row, "no")
        size = connection.exec_driver_sql("select size from log_head").scalar_one()
    found = numbers(http)
    assert found["accordant_requests_total", "/v1/decisions", "200", "POST"] == 3
    assert found["accordant_requests_total", "/v1/decisions", "401", "POST"] == 1
    assert found["accordant_requests_total", "404", "GET", "none"] == 1
    assert found["accordant_request_seconds_count", "/v1/decisions"] == 4
    assert found["accordant_log_events",] == size
    assert found["accordant_jobs", "waiting"] == 1
    assert (found["accordant_open_contests",], found["accordant_overdue_contests",]) == (1, 0)
    assert found["accordant_database_up",] == 1


def test_only_this_machine_sees_them(app, http):
    assert http.get("/metrics").status_code == 200
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
        assert http.get("/metrics", headers={name: "127.0.0.1"}).status_code == 404
    for host in ("192.0.2.7", "testclient"):
        with TestClient(app, client=(host, 1)) as other:
            assert other.get("/metrics").status_code == 404


def test_with_a_token_only_who_has_it_sees_them(app, http, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "long-enough")
    assert http.get("/metrics").status_code == 404
    assert http.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 404
    with TestClient(app, client=("192.0.2.7", 1)) as other:
        assert other.get("/metrics", headers={"Authorization": "Bearer long-enough"}).status_code == 200


def test_every_answer_is_one_line_without_anything_of_anybody(http, key, lines):
    told = ask(http, key, {"score": 0.4, "branch": "Zanzibar"}).json()["decisions"][0]
    http.get("/my/" + told["link"].rsplit("/", 1)[1] + "?q=Quuxbert")
    answers = [each for each in lines() if each["message"] == "answer"]
    assert [(each["method"], each["status"] // 100) for each in answers][0] == ("POST", 2)
    assert answers[0]["route"] == "/v1/decisions" and answers[0]["client"]
    assert {"at", "level", "logger", "seconds"} <= set(answers[0])
    said = json.dumps(lines())
    for secret in (key, "Zanzibar", "Quuxbert", "secret-1", told["link"].rsplit("/", 1)[1]):
        assert secret not in said


def test_an_unexpected_error_is_told_without_its_message(http, key, lines, service, monkeypatch):
    def fault(*_given, **_named):
        raise RuntimeError("Maria, 34")

    monkeypatch.setattr(type(service.decider), "decide", fault)
    assert ask(http, key).status_code == 500
    logger = logging.getLogger("accordant.service.test")
    try:
        fault()
    except RuntimeError:
        logger.exception("it went wrong")
    last = lines()[-1]
    assert (last["error"], last["level"], last["message"]) == ("RuntimeError", "error", "it went wrong")
    assert last["places"] and "fault" in last["places"][-1]
    assert "Maria" not in json.dumps(lines())


def test_statements_with_their_values_do_not_reach_the_log(service, lines):
    try:
        with service.database.writing() as connection:
            connection.execute(decision.insert().values(id="Quuxbert"))
    except DBAPIError as error:
        assert "[SQL parameters hidden" in str(error)
        logging.getLogger("accordant.service.test").exception("it went wrong")
    assert lines()[-1]["error"] in ("IntegrityError", "NotNullViolation")
    assert "Quuxbert" not in json.dumps(lines())
