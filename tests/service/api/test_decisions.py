"""Decisions over HTTP: who may ask, what is refused, and what every answer carries."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from accordant.service.api.app import HEADERS, MOST_BYTES, make_app
from accordant.service.api.decisions import MOST_CONTEXTS
from accordant.service.clients import revoke_client
from accordant.service.record.audit import audit

CONTEXT = {"score": 0.4, "branch": "south"}


@pytest.fixture
def http(service):
    with TestClient(make_app(service), raise_server_exceptions=False) as browser:
        yield browser


def ask(http, key, idempotency="1", **body):
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": idempotency}
    return http.post("/v1/decisions", json={"contexts": [CONTEXT], **body}, headers=headers)


def test_a_decision_has_all_its_parts(http, key, finished):
    answer = ask(http, key)
    assert answer.status_code == 200
    told = answer.json()
    assert told["version"] == finished.head
    (one,) = told["decisions"]
    assert set(one) == {
        "id", "action", "expected_rewards", "runner_up", "margin", "remarks", "certificate", "link",
    }  # fmt: skip
    assert one["action"] in finished.case.problem.actions
    assert 0 <= one["certificate"]["radius"] <= 1
    assert ask(http, key).json() == told


def test_every_answer_carries_the_headers(http, key):
    for answer in (ask(http, key), ask(http, "wrong"), http.get("/nowhere"), http.get("/live")):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.few(2)
@pytest.mark.parametrize("key", ["", "acc_wrong", "Bearer", "é"])
def test_nobody_asks_without_a_key(http, key):
    answer = http.post(
        "/v1/decisions", json={"contexts": [CONTEXT]},
        headers={"Authorization": f"Bearer {key}".encode(), "Idempotency-Key": "1"},
    )  # fmt: skip
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_revoked_key_is_refused(http, key, service):
    with service.database.writing() as connection:
        revoke_client(connection, service.workspace, "shop")
    assert ask(http, key).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {"contexts": []},
        {"contexts": [{}]},
        {"contexts": [CONTEXT] * (MOST_CONTEXTS + 1)},
        {"contexts": [{"score": [1], "branch": "south"}]},
        {"contexts": [{"score": "much", "branch": "south"}]},
        {"contexts": [{"score": 0.1}]},
        {"contexts": [CONTEXT], "deployment": "nowhere"},
        {"contexts": [CONTEXT], "deployment": 1},
        {"contexts": [CONTEXT], "strategy": "constant:Grant"},
        {"contexts": {"score": 0.1}},
        {},
        [],
        None,
    ],
)
def test_what_cannot_be_used_is_refused_and_leaves_nothing(http, key, service, body):
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "1"}
    answer = http.post("/v1/decisions", json=body, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["detail"]
    with service.database.reading() as connection:
        assert audit(connection).to_json()["decisions"] == 0


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_are_finite(http, key, number):
    headers = {
        "Authorization": f"Bearer {key}", "Idempotency-Key": "1", "Content-Type": "application/json",
    }  # fmt: skip
    content = f'{{"contexts": [{{"score": {number}, "branch": "south"}}]}}'
    assert http.post("/v1/decisions", content=content, headers=headers).status_code == 422


def test_an_idempotency_key_is_needed(http, key):
    answer = http.post("/v1/decisions", json={"contexts": [CONTEXT]}, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["where"] == ["header", "idempotency-key"]


def test_a_key_for_another_question_is_a_conflict(http, key):
    assert ask(http, key).status_code == 200
    assert ask(http, key, contexts=[{**CONTEXT, "score": 0.5}]).status_code == 409


def test_large_bodies_are_not_read(http, key):
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "1"}
    declared = http.post("/v1/decisions", content=b" " * (MOST_BYTES + 1), headers=headers)
    streamed = http.post("/v1/decisions", content=(b" " * 2**20 for _ in range(9)), headers=headers)
    assert (declared.status_code, streamed.status_code) == (413, 413)


def test_outcomes_close_the_circle(http, key, service):
    identifier = ask(http, key).json()["decisions"][0]["id"]
    headers = {"Authorization": f"Bearer {key}"}
    told = {"outcomes": [{"decision": identifier, "outcome": "Repaid"}]}
    assert http.post("/v1/outcomes", json=told, headers=headers).json() == {"recorded": 1}
    assert http.post("/v1/outcomes", json=told, headers=headers).json() == {"recorded": 0}
    told["outcomes"][0]["outcome"] = "Default"
    assert http.post("/v1/outcomes", json=told, headers=headers).status_code == 409
    unknown = {"outcomes": [{"decision": "nobody", "outcome": "Repaid"}]}
    assert http.post("/v1/outcomes", json=unknown, headers=headers).status_code == 422
    assert http.post("/v1/outcomes", json=told).status_code == 401


def test_it_lives_and_is_ready(http):
    assert http.get("/live").json() == {"live": True}
    assert http.get("/ready").json() == {"ready": True}


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_it_is_not_ready_without_its_database(http, service):
    service.database.engine.dispose()
    service.database.file.unlink()
    service.database.file.mkdir()
    answer = http.get("/ready")
    assert (answer.status_code, answer.json()) == (503, {"ready": False})
