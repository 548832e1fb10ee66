"""Batches over HTTP: received piece by piece, sealed until they are decided, decided once, answered in order."""

from __future__ import annotations

import json
import threading

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from accordant.service.api import jobs as api
from accordant.service.api.app import make_app
from accordant.service.clients import add_client, revoke_client
from accordant.service.erasure import erase
from accordant.service.jobs import kinds
from accordant.service.jobs.parts import forget
from accordant.service.jobs.queue import claim
from accordant.service.jobs.worker import Worker
from accordant.service.record.audit import audit
from accordant.service.record.log import now
from accordant.service.schema import decision, job, job_part, person_key

CONTEXTS = [{"score": round(0.1 * i - 1, 2), "branch": ("north", "south")[i % 2]} for i in range(7)]


@pytest.fixture
def http(service):
    with TestClient(make_app(service), raise_server_exceptions=False) as browser:
        yield browser


@pytest.fixture
def parts_of_three(monkeypatch):
    monkeypatch.setattr(api, "MOST_CONTEXTS", 3)


def post(http, key, contexts=CONTEXTS, idempotency="b", lines=None, **query):
    body = "\n".join(map(json.dumps, contexts)) if lines is None else lines
    return http.post(
        "/v1/jobs/decisions", content=body, params=query,
        headers={"Authorization": f"Bearer {key}", "Idempotency-Key": idempotency},
    )  # fmt: skip


def get(http, key, path):
    return http.get(path, headers={"Authorization": f"Bearer {key}"})


def told(http, key, identifier):
    answer = get(http, key, f"/v1/jobs/{identifier}/decisions")
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.text.splitlines()]


def decided(service):
    with service.database.reading() as connection:
        return connection.execute(select(func.count()).select_from(decision)).scalar_one()


def test_a_batch_is_decided_as_one_by_one(service, http, key, client, parts_of_three):
    answer = post(http, key)
    assert answer.status_code == 202
    made = answer.json()
    assert (made["state"], made["done"], made["total"]) == ("waiting", 0, 7)
    assert told(http, key, made["id"]) == []
    assert Worker(service).run(until_idle=True) == 1
    job_now = get(http, key, f"/v1/jobs/{made['id']}").json()
    assert (job_now["state"], job_now["done"], job_now["result"]) == ("done", 7, {"decisions": 7})
    answers = told(http, key, made["id"])
    single = service.decider.decide(client, "single", CONTEXTS).decisions
    for one, other in zip(answers, single, strict=True):
        assert {k: v for k, v in one.items() if k not in ("id", "link")} == {
            k: v for k, v in other.items() if k not in ("id", "link")
        }
    assert len({each["link"] for each in answers}) == 7


def test_nothing_of_a_part_is_left_when_it_is_decided(service, http, key, parts_of_three):
    identifier = post(http, key).json()["id"]
    with service.database.reading() as connection:
        rows = connection.execute(select(job_part)).all()
        assert [each.position for each in rows] == [0, 1, 2]
        assert not any(b"north" in bytes(each.sealed) for each in rows)
        assert "north" not in connection.execute(select(job.c.payload)).scalar_one()
    Worker(service).run(until_idle=True)
    with service.database.reading() as connection:
        assert connection.execute(select(job_part)).all() == []
    with service.keys.database.reading() as connection:
        names = [each.key for each in rows]
        assert connection.execute(select(person_key).where(person_key.c.person.in_(names))).all() == []
    assert len(told(http, key, identifier)) == 7


def test_the_same_key_names_the_same_job(service, http, key, parts_of_three):
    first = post(http, key).json()
    assert post(http, key).json()["id"] == first["id"]
    Worker(service).run(until_idle=True)
    again = post(http, key)
    assert (again.json()["id"], again.json()["state"]) == (first["id"], "done")
    assert decided(service) == 7
    assert post(http, key, CONTEXTS[:2]).status_code == 409
    assert post(http, key, deployment="loans-of-three").status_code == 409


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "there is no context"),
        ("\n\n", "there is no context"),
        ('{"score": 1, "branch": "north"}\n{"score": ', "line 2"),
        ('{"score": 1, "branch": ["north"]}', "line 1: branch"),
        ("[]", "line 1"),
        ('{"score": "much", "branch": "north"}', "column 'score'"),
        ('{"score": 1}', "branch"),
        ("\xff", "line 1"),
    ],
)
def test_what_cannot_be_decided_about_is_refused_and_nothing_stays(service, http, key, lines, words):
    answer = post(http, key, lines=lines.encode("latin-1"))
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    with service.database.reading() as connection:
        assert connection.execute(select(job_part)).all() == []
        assert connection.execute(select(job.c.state)).scalars().all() == ["cancelled"]
    assert post(http, key).status_code == 202  # the key may be used again


def test_a_line_has_an_end(service, http, key, monkeypatch):
    monkeypatch.setattr(api, "LONGEST_LINE", 100)
    answer = post(http, key, [{"score": 1.0, "branch": "n" * 200}])
    assert (answer.status_code, "100 bytes" in answer.json()["detail"]) == (422, True)
    monkeypatch.setattr(api, "MOST_IN_A_JOB", 3)
    assert "more than 3 contexts" in post(http, key).json()["detail"]


def test_jobs_of_others_are_not_seen(service, http, key):
    identifier = post(http, key).json()["id"]
    with service.database.writing() as connection:
        other = add_client(connection, service.secrets, service.workspace, "elsewhere")
    for path in ("", "/decisions"):
        assert get(http, other, f"/v1/jobs/{identifier}{path}").status_code == 404
        assert get(http, "wrong", f"/v1/jobs/{identifier}{path}").status_code == 401
    for act in ("cancel", "retry"):
        answer = http.post(f"/v1/jobs/{identifier}/{act}", headers={"Authorization": f"Bearer {other}"})
        assert answer.status_code == 404
    assert get(http, key, f"/v1/jobs/{identifier}").json()["state"] == "waiting"


def test_a_cancelled_batch_keeps_what_was_decided_and_forgets_the_rest(service, http, key, parts_of_three, monkeypatch):
    identifier = post(http, key).json()["id"]
    lease = claim(service.database, ("decisions",))
    task = kinds.Task(service, lease)
    real, counted = service.decider.decide_within, []

    def decide_one(*given):
        counted.append(1)
        if len(counted) == 2:
            assert (
                http.post(f"/v1/jobs/{identifier}/cancel", headers={"Authorization": f"Bearer {key}"}).status_code
                == 200
            )
        return real(*given)

    monkeypatch.setattr(type(service.decider), "decide_within", lambda _self, *given: decide_one(*given))
    with pytest.raises(kinds.LeaseLostError):
        kinds.decide_parts(task, kinds.DecisionsWanted())
    forget(service.database, service.keys)
    assert decided(service) == 3
    assert get(http, key, f"/v1/jobs/{identifier}").json()["state"] == "cancelled"
    assert len(told(http, key, identifier)) == 3
    with service.database.reading() as connection:
        assert connection.execute(select(job_part)).all() == []


@pytest.mark.long
def test_two_workers_with_one_job_decide_each_part_once(service, http, key, parts_of_three):
    identifier = post(http, key).json()["id"]
    old = claim(service.database, ("decisions",))
    with service.database.writing() as connection:
        connection.execute(update(job).values(free_at=now()))
    new = claim(service.database, ("decisions",))
    ended = {}

    def work(lease):
        try:
            kinds.decide_parts(kinds.Task(service, lease), kinds.DecisionsWanted())
            ended[lease.fence] = "done"
        except kinds.LeaseLostError:
            ended[lease.fence] = "lost"

    threads = [threading.Thread(target=work, args=(lease,)) for lease in (old, new)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert ended == {1: "lost", 2: "done"}
    assert decided(service) == 7
    assert len(told(http, key, identifier)) == 7
    with service.database.reading() as connection:
        assert audit(connection, service.secrets).fault == ""


def test_a_job_of_a_revoked_client_fails_without_its_data_in_the_message(service, http, key):
    identifier = post(http, key).json()["id"]
    with service.database.writing() as connection:
        revoke_client(connection, service.workspace, "shop")
    Worker(service).run(until_idle=True)
    with service.database.reading() as connection:
        row = connection.execute(select(job).where(job.c.id == identifier)).one()
    assert (row.state, row.error) == ("failed", "InputError")
    assert decided(service) == 0


def test_whoever_was_erased_is_null_in_the_answers(service, http, key):
    identifier = post(http, key).json()["id"]
    Worker(service).run(until_idle=True)
    gone = told(http, key, identifier)[2]["id"]
    with service.database.reading() as connection:
        who = connection.execute(select(decision.c.person).where(decision.c.id == gone)).scalar_one()
    erase(service.database, service.keys, who)
    assert [each is None for each in told(http, key, identifier)] == [i == 2 for i in range(7)]


def test_a_batch_that_stops_coming_is_cancelled(service, client):
    upload = api._Upload(service, client, "k", None)
    upload.begin()
    upload.keep(CONTEXTS)
    with service.database.writing() as connection:
        connection.execute(update(job).values(free_at=now()))
    assert forget(service.database, service.keys) == 1
    with service.database.reading() as connection:
        assert connection.execute(select(job.c.state)).scalar_one() == "cancelled"
        assert connection.execute(select(job_part)).all() == []
    with pytest.raises(api.ConflictError, match="cancelled while it was received"):
        upload.end()
