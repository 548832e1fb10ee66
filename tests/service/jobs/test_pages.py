"""Jobs on their page: asked for, seen, cancelled, tried again, each by those who may."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from accordant.service.api.app import make_app
from accordant.service.contests import Contestation
from accordant.service.identity import invitation_of, invite, take_up, visitor_of
from accordant.service.jobs.kinds import shown
from accordant.service.jobs.queue import claim, give_up
from accordant.service.jobs.worker import Worker
from accordant.service.pages import reviews
from accordant.service.pages.visit import SIGNED_IN
from accordant.service.schema import decision, job, job_part


@pytest.fixture
def app(service):
    return make_app(service)


def signed_in(app, service, role):
    """Return a browser of somebody with a role, the token of its forms, and who that is."""
    with service.database.writing() as connection:
        made = invite(connection, service.secrets, service.workspace, role)
        token = take_up(connection, service.secrets, invitation_of(connection, service.secrets, made.token))
        visitor = visitor_of(connection, service.secrets, token)
    browser = TestClient(app, raise_server_exceptions=False, follow_redirects=False)
    browser.cookies.set(SIGNED_IN, token)
    return browser, {"csrf": visitor.csrf}, visitor.person


def rows(service):
    with service.database.reading() as connection:
        return connection.execute(select(job)).all()


def test_an_analyst_asks_for_a_run_and_sees_it(app, service):
    browser, csrf, who = signed_in(app, service, "analyst")
    assert "None yet." in browser.get("/jobs").text
    assert (
        browser.post("/jobs", data={**csrf, "case": "story", "seed": "7", "effort": "quick"}).headers["location"]
        == "/jobs"
    )
    (row,) = rows(service)
    assert (row.kind, row.person, row.payload) == ("run", who, '{"case":"story","effort":"quick","seed":7}')
    page = browser.get("/jobs").text
    assert "waiting for a worker" in page and row.id[:8] in page
    assert browser.post(f"/jobs/{row.id}/cancel", data=csrf).status_code == 303
    assert rows(service)[0].state == "cancelled"
    assert browser.post(f"/jobs/{row.id}/cancel", data=csrf).status_code == 409
    assert browser.post("/jobs/nowhere/cancel", data=csrf).status_code == 404
    assert browser.post(f"/jobs/{row.id}/delete", data=csrf).status_code == 404


def test_a_failed_job_is_tried_again(app, service):
    browser, csrf, _ = signed_in(app, service, "owner")
    browser.post("/jobs", data={**csrf, "case": "story"})
    lease = claim(service.database, ("run",))
    with service.database.writing() as connection:
        give_up(connection, lease, "SpecError: <b>no</b>", again=False)
    page = browser.get("/jobs").text
    assert "&lt;b&gt;no&lt;/b&gt;" in page and "Try again" in page
    assert browser.post(f"/jobs/{rows(service)[0].id}/retry", data=csrf).status_code == 303
    assert rows(service)[0].state == "waiting"


@pytest.mark.parametrize(
    "given",
    [{"case": "../../etc/passwd"}, {"case": ""}, {"case": "story", "seed": "x"}, {"case": "story", "effort": "all"}],
)
def test_what_cannot_be_carried_out_is_refused_with_what_was_given(app, service, given):
    browser, csrf, _ = signed_in(app, service, "analyst")
    answer = browser.post("/jobs", data={**csrf, **given})
    assert answer.status_code == 422 and 'role="alert"' in answer.text
    assert rows(service) == []


@pytest.mark.parametrize("role", ["facilitator", "participant", "auditor"])
def test_others_neither_see_nor_start(app, service, role):
    browser, csrf, _ = signed_in(app, service, role)
    assert browser.get("/jobs").status_code == 403
    assert browser.post("/jobs", data={**csrf, "case": "story"}).status_code == 403
    assert '"/jobs"' not in browser.get("/").text
    assert rows(service) == []


def test_without_the_token_of_the_session_nothing_begins(app, service):
    browser, _, _ = signed_in(app, service, "owner")
    assert browser.post("/jobs", data={"case": "story"}).status_code == 403
    assert TestClient(app).post("/jobs", data={"case": "story"}, follow_redirects=False).status_code in (303, 401)
    assert rows(service) == []


def test_many_like_cases_become_a_job_with_sealed_reasons(app, service, client, monkeypatch):
    monkeypatch.setattr(reviews, "MOST_AT_ONCE", 2)
    browser, csrf, who = signed_in(app, service, "reviewer")
    contexts = [{"score": round(0.1 * i - 0.5, 2), "branch": "north"} for i in range(12)]
    told = [
        each
        for each in service.decider.decide(client, "all", contexts).decisions
        if each["action"] not in (None, "Deny")
    ]
    assert len(told) > 4
    with service.database.writing() as connection:
        row = connection.execute(select(decision).where(decision.c.id == told[0]["id"])).one()
        origin = Contestation(service.keys).open(connection, row, "no")
        Contestation(service.keys).answer(connection, who, origin, "changed", "so", "Deny")
    alike = [each["id"] for each in told[1:4]]
    answer = browser.post(f"/reviews/{origin}/alike", data={**csrf, "reasons": "Quuxbert is alike", "alike": alike})
    assert answer.headers["location"] == "/jobs"
    with service.database.reading() as connection:
        (part,) = connection.execute(select(job_part)).all()
    assert "Quuxbert" not in repr(rows(service)) and b"Quuxbert" not in bytes(part.sealed)
    Worker(service).run(until_idle=True)
    assert shown(rows(service)[0])["result"] == {"changed": 3, "left": 0}
    assert "3 changed" in browser.get("/jobs").text
