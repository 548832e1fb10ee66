"""Jobs on their page: asked for, seen, cancelled, tried again, each by those who may."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from accordant.service.api.app import make_app
from accordant.service.contests import Contestation
from accordant.service.identity import invitation_of, invite, take_up, visitor_of
from accordant.service.jobs.kinds import shown
from accordant.service.jobs.queue import add, claim, finish, give_up, hold
from accordant.service.jobs.worker import Worker
from accordant.service.pages import reviews
from accordant.service.pages.visit import SIGNED_IN
from accordant.service.schema import decision, job, job_part
from tests.service.conftest import on_sqlite


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


@pytest.mark.long
def test_an_analyst_asks_for_a_study_and_reads_its_page(app, service, run_of_three):
    browser, csrf, who = signed_in(app, service, "analyst")
    for wrong in ("../../etc/passwd", "", " "):
        answer = browser.post("/jobs/studies", data={**csrf, "study": wrong})
        assert answer.status_code == 422 and 'role="alert"' in answer.text and rows(service) == []
    assert browser.post("/jobs/studies", data={**csrf, "study": " seeds "}).headers["location"] == "/jobs"
    (row,) = rows(service)
    assert (row.kind, row.person, row.payload) == ("study", who, '{"study":"seeds"}')
    page = f"/jobs/{row.id}/study"
    assert browser.get(page).status_code == 404 and page not in browser.get("/jobs").text
    (run_of_three.parent / "seeds.yaml").write_text(
        "{name: seeds, case: loans.yaml, seeds: [1, 2], title: Two <seeds>}"
    )
    assert Worker(service, run_of_three.parent).run(until_idle=True) == 1
    assert f'<a href="{page}">Two &lt;seeds&gt;</a>' in browser.get("/jobs").text
    shown = browser.get(page)
    assert shown.status_code == 200 and "Two &lt;seeds&gt;" in shown.text
    assert "script-src 'sha256-" in shown.headers["content-security-policy"]
    other, token, _ = signed_in(app, service, "participant")
    assert other.get(page).status_code == 200
    assert other.post("/jobs/studies", data={**token, "study": "seeds"}).status_code == 403
    assert "Two" not in TestClient(app, follow_redirects=False).get(page).text


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
        origin = Contestation(service.keys).contest(connection, row, "no")
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


@on_sqlite
@pytest.mark.long
def test_the_page_follows_a_job_while_it_is_open_and_is_accessible(app, service):
    import shutil
    import socket
    import threading
    import time

    import uvicorn
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    with service.database.writing() as connection:
        made = invite(connection, service.secrets, service.workspace, "owner")
        token = take_up(connection, service.secrets, invitation_of(connection, service.secrets, made.token))
        add(connection, service.workspace, "run", {"case": "story"})
    lease = claim(service.database, ("run",))
    listening = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, ws="none"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        here = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            context = browser.new_context()
            context.add_cookies([{"name": SIGNED_IN, "value": token, "url": here}])
            page = context.new_page()
            page.goto(f"{here}/jobs")
            assert page.get_by_text("being done").count() == 1
            assert Axe().run(page).violations_count == 0
            with service.database.writing() as connection:
                hold(connection, lease, stage="fitting models: 3 of 12")
            page.get_by_text("fitting models: 3 of 12").wait_for(timeout=20_000)
            with service.database.writing() as connection:
                finish(connection, lease, {"run": "0" * 64})
            page.get_by_text("Published:").wait_for(timeout=20_000)
            assert Axe().run(page).violations_count == 0
            browser.close()
    finally:
        running.should_exit = True
        thread.join()
        listening.close()
