"""The page of whoever is decided about: read by a link, contested, taken along, deleted."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from accordant.service.identity import SESSION_HOURS
from accordant.service.outcomes import record_outcomes
from accordant.service.record.audit import audit
from accordant.service.record.log import TIME
from accordant.service.record.receipt import read_receipt, verify_receipt
from accordant.service.schema import contest, decision, event, outcome, session
from tests.service.pages.conftest import ABROAD, CONTEXTS


def count(service, table):
    with service.database.reading() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def test_looking_at_a_link_shows_nothing_and_uses_nothing(browser, links, service):
    there = browser()
    for _ in range(3):
        cover = there.get(links[0], headers={"Accept-Language": "en"})
        assert cover.status_code == 200
        assert "A decision about you" in cover.text
        assert not any(action in cover.text for action in ("Grant", "Lower", "Deny", "score"))
        assert "set-cookie" not in cover.headers
    assert count(service, session) == 0
    assert there.get("/my").status_code == 404


def test_opening_a_link_shows_the_decision(person, links):
    page = person().get("/my?language=en")
    assert page.status_code == 200
    for words in ("Why this was decided about you", "The decision is: ", "Who wanted what", "How sure this is",
                  "What would change the decision", "Object to this decision", "branch", "0.4"):  # fmt: skip
        assert words in page.text
    assert links[0].rsplit("/", 1)[1] not in page.text  # the secret is in no page that a browser keeps


@pytest.mark.long
def test_it_speaks_the_language_of_the_browser_or_of_the_address(person):
    there = person()
    assert '<html lang="de">' in there.get("/my", headers={"Accept-Language": "de-AT,en;q=0.5"}).text
    page = there.get("/my?language=de")
    assert "Warum so über Sie entschieden wurde" in page.text
    assert "Dieser Entscheidung widersprechen" in page.text
    assert '<html lang="en">' in there.get("/my?language=xx", headers={"Accept-Language": "fr"}).text


@pytest.mark.few(2)
@pytest.mark.parametrize("link", ["/my/nothing", "/my/" + "A" * 32, "/my/%00", "/my/é"])
def test_a_wrong_link_is_refused(browser, link):
    there = browser()
    assert there.get(link).status_code == 404
    assert there.post(link).status_code == 404


def test_the_session_is_kept_from_scripts_and_from_other_sites(browser, links):
    answer = browser().post(links[0], follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert re.search(r"HttpOnly", cookie)
    assert re.search(r"SameSite=lax", cookie)
    assert "Path=/my" in cookie
    assert f"Max-Age={SESSION_HOURS * 3600}" in cookie
    secure = browser().post(f"https://testserver{links[0]}", follow_redirects=False)
    assert "Secure" in secure.headers["set-cookie"]


def test_a_session_that_was_there_is_not_taken_over(browser, links):
    there = browser()
    there.cookies.set("accordant_decision", "chosen-by-somebody-else", path="/my")
    answer = there.post(links[0], follow_redirects=False)
    assert "chosen-by-somebody-else" not in answer.headers["set-cookie"]


def test_a_person_contests_and_sees_what_becomes_of_it(person, service):
    there = person()
    sent = there.fill("/my/contest?language=en", "/my", grounds="My <b>score</b> is old.")
    assert (sent.status_code, sent.headers["location"]) == (303, "/my?language=en")
    page = there.get("/my?language=en").text
    assert "You objected on" in page
    assert "A person who did not decide will answer by" in page
    assert "My &lt;b&gt;score&lt;/b&gt; is old." in page
    assert 'name="grounds"' not in page
    assert count(service, contest) == 2  # with what was left to a person
    with service.database.reading() as connection:
        found = audit(connection, service.secrets)
    assert (found.fault, found.kinds["contest"], found.kinds["referral"]) == ("", 1, 1)


@pytest.mark.long
@pytest.mark.parametrize("grounds", ["", "  \n ", "x" * 10_001])
def test_grounds_that_cannot_be_used_are_said_beside_the_form(person, service, grounds):
    answer = person().fill("/my/contest?language=en", "/my", grounds=grounds)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "Please write your reasons." in answer.text
    assert grounds.strip()[:50] in answer.text
    assert count(service, contest) == 1


def test_a_decision_is_contested_once(person):
    there = person()
    token = there.get("/my").text
    form = {"csrf": re.search(r'name="csrf" value="([^"]+)"', token)[1], "grounds": "No."}
    assert there.post("/my/contest", data=form, follow_redirects=False).status_code == 303
    assert there.post("/my/contest", data=form, follow_redirects=False).status_code == 403


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, True), ({"Sec-Fetch-Site": "same-site"}, True),
        ({"Origin": "https://elsewhere.example"}, True), ({"Origin": "null"}, True),
        ({"Sec-Fetch-Site": "same-origin"}, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("act", ["contest", "delete", "close"])
def test_forms_of_other_sites_are_refused(person, service, headers, token, act):
    there = person()
    csrf = re.search(r'name="csrf" value="([^"]+)"', there.get("/my").text)[1] if token else "guessed"
    form = {"csrf": csrf, "grounds": "No.", "sure": "yes"}
    assert there.post(f"/my/{act}", data=form, headers=headers, follow_redirects=False).status_code == 403
    assert there.get("/my").status_code == 200
    assert count(service, contest) == 1


def test_another_site_cannot_open_a_link(browser, links, service):
    there = browser()
    assert there.post(links[0], headers={"Sec-Fetch-Site": "cross-site"}, follow_redirects=False).status_code == 403
    assert count(service, session) == 0


def test_what_waits_for_a_person_says_until_when(person):
    page = person(ABROAD).get("/my?language=en").text
    assert "There is no decision yet." in page
    assert "A person will decide by" in page
    assert 'name="grounds"' not in page


def test_a_late_answer_is_seen(person, service):
    there = person()
    there.fill("/my/contest", "/my", grounds="No.")
    with service.database.writing() as connection:
        connection.execute(update(contest).values(due_at="2020-01-01T00:00:00.000000Z"))
    assert "The answer was due on 1 January 2020. It is late." in there.get("/my?language=en").text
    assert "1. Januar 2020" in there.get("/my?language=de").text
    assert "A person should have decided by 1 January 2020." in person(ABROAD).get("/my?language=en").text


def test_the_receipt_holds_offline(person, service):
    answer = person().get("/my/receipt.json")
    assert "attachment" in answer.headers["content-disposition"]
    shown = verify_receipt(read_receipt(answer.json()), service.secrets.public.hex())
    assert shown.kind == "decision"
    assert shown.private["context"] == CONTEXTS[0]


def test_everything_about_a_person_is_given_and_nothing_of_others(person, service):
    there = person()
    there.fill("/my/contest", "/my", grounds="No.")
    mine = there.get("/my/export.json").json()
    assert mine["decision"]["context"] == CONTEXTS[0]
    assert [each["kind"] for each in mine["events"]] == ["decision", "contest"]
    assert mine["events"][1]["private"] == {"grounds": "No."}
    assert mine["history"][0]["grounds"] == "No."
    with service.database.reading() as connection:
        others = connection.execute(select(event.c.person).where(event.c.kind == "decision")).scalars().all()
    text = there.get("/my/export.json").text
    assert sum(each in text for each in others) == 0  # not even the own random number


@pytest.mark.parametrize("number", [None, 0.0, 2.5])
def test_what_came_of_a_decision_is_taken_along(person, service, number):
    there = person()
    mine = there.get("/my/export.json").json()
    assert mine["outcome"] is None
    with service.database.writing() as connection:
        told = [(mine["decision"]["id"], "Repaid")]
        record_outcomes(connection, service.decider.runs, service.workspace, told)
        if number is not None:  # as a case with outcomes that are numbers has them
            connection.execute(update(outcome).values(outcome=None, value=number))
    assert there.get("/my/export.json").json()["outcome"]["outcome"] == ("Repaid" if number is None else number)


def test_deleting_needs_to_be_sure(person):
    there = person()
    assert there.fill("/my/delete", "/my").status_code == 303
    assert there.get("/my").status_code == 200


def test_what_is_deleted_is_gone_and_the_log_holds(person, browser, links, service):
    there = person()
    there.fill("/my/contest", "/my", grounds="No.")
    answer = there.fill("/my/delete?language=en", "/my", sure="yes")
    assert answer.status_code == 303
    assert "It is deleted" in there.get(answer.headers["location"]).text
    assert there.get("/my").status_code == 404
    other = browser()
    assert other.get(links[0]).status_code == 410
    assert other.post(links[0]).status_code == 410
    assert person(1).get("/my").status_code == 200
    with service.database.reading() as connection:
        found = audit(connection, service.secrets)
    assert (found.fault, found.kinds["erasure"]) == ("", 1)


def test_closing_ends_the_session(person, browser, links):
    there = person()
    answer = there.fill("/my/close?language=en", "/my")
    assert "It is closed" in there.get(answer.headers["location"]).text
    assert there.get("/my").status_code == 404
    assert browser().get(links[0]).status_code == 200


def test_a_session_ends_by_itself(person, service):
    there = person()
    with service.database.writing() as connection:
        passed = (datetime.now(UTC) - timedelta(seconds=1)).strftime(TIME)
        connection.execute(update(session).values(expires_at=passed))
    assert there.get("/my").status_code == 404


def test_one_person_sees_one_decision(person, service):
    first, second = person(0).get("/my?language=en").text, person(1).get("/my?language=en").text
    with service.database.reading() as connection:
        identifiers = connection.execute(select(decision.c.id).order_by(decision.c.position)).scalars().all()
    assert [each in first for each in identifiers] == [True, False, False, False, False]
    assert [each in second for each in identifiers] == [False, True, False, False, False]
