"""Reviews: who may answer what, what an answer does, and how a change reaches like cases."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select, update

from accordant.service.contests import in_force
from accordant.service.record.audit import audit
from accordant.service.schema import contest, decision
from tests.service.pages.conftest import ABROAD

REVIEW = re.compile(r'href="(/reviews/[0-9a-f]{32})"')


@pytest.fixture
def reviewer(member):
    return member("reviewer")


@pytest.fixture
def contested(person):
    """A browser of a person who contested the first decision."""
    there = person(0)
    assert there.fill("/my/contest", "/my", grounds="My score is old.").status_code == 303
    return there


def queue(browser):
    """Addresses of what waits, in their order."""
    return REVIEW.findall(browser.get("/reviews").text)


def of_kind(browser, service, kind):
    with service.database.reading() as connection:
        return f"/reviews/{connection.execute(select(contest.c.id).where(contest.c.kind == kind)).scalars().first()}"


def other_action(page):
    """An action that the form offers."""
    return re.findall(r'<option value="(\w+)"', page.text)[0]


def test_the_queue_shows_what_is_due_first_and_what_is_late(reviewer, contested, service):
    assert len(queue(reviewer)) == 2
    referral, objection = of_kind(reviewer, service, "referral"), of_kind(reviewer, service, "contest")
    assert queue(reviewer) == [referral, objection]
    assert "overdue" not in reviewer.get("/reviews").text
    with service.database.writing() as connection:
        late = update(contest).where(contest.c.kind == "contest")
        connection.execute(late.values(due_at="2020-01-01T00:00:00.000000Z"))
    assert queue(reviewer) == [objection, referral]
    page = reviewer.get("/runs").text
    assert "1 overdue" in page  # on every page
    assert "days overdue" in reviewer.get("/reviews").text
    assert "My score is old." in reviewer.get("/reviews").text


def test_a_reviewer_reads_grounds_facts_and_reason(reviewer, contested, service):
    page = reviewer.get(of_kind(reviewer, service, "contest")).text
    for words in ("My score is old.", "What the person reads", "The reason", "branch", "stays as it was", "sent back"):
        assert words in page
    assert page.count("<h1") == 1


def test_what_stays_is_told_to_the_person(reviewer, contested, service):
    address = of_kind(reviewer, service, "contest")
    sent = reviewer.fill(address, address, result="upheld", reasons="The score is of this year.")
    assert (sent.status_code, sent.headers["location"]) == (303, address)
    mine = contested.get("/my?language=en").text
    assert "The decision stays as it is." in mine
    assert "The score is of this year." in mine
    assert "You cannot object here once more." in mine
    assert address not in queue(reviewer)


def test_a_change_is_in_force_and_stays_on_record_beside_what_was_decided(reviewer, contested, service):
    address = of_kind(reviewer, service, "contest")
    action = other_action(reviewer.get(address))
    assert reviewer.fill(address, address, result="changed", action=action, reasons="It is old.").status_code == 303
    with service.database.reading() as connection:
        row = connection.execute(select(decision).where(decision.c.position == 0)).one()
        assert in_force(connection, row.id) == action
        assert row.action != action
        assert audit(connection, service.secrets).fault == ""
    mine = contested.get("/my?language=en").text
    assert f"It is now: {action}." in mine
    assert "What follows says how it was decided at first" in mine


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"result": "upheld", "reasons": " "}, "Reasons are empty"),
        ({"result": "", "reasons": "So."}, "Choose one of the answers"),
        ({"result": "changed", "reasons": "So."}, "Choose the action that is taken instead"),
        ({"result": "changed", "action": "Burn", "reasons": "So."}, "is &#39;Burn&#39;"),
    ],
)
def test_what_cannot_be_used_is_said_and_nothing_is_lost(reviewer, contested, service, form, words):
    address = of_kind(reviewer, service, "contest")
    answer = reviewer.fill(address, address, **form)
    assert answer.status_code == 422
    assert words in answer.text
    assert form["reasons"].strip() in answer.text
    assert address in queue(reviewer)


def test_the_same_action_is_no_change(reviewer, contested, service):
    address = of_kind(reviewer, service, "contest")
    with service.database.reading() as connection:
        same = connection.execute(select(decision.c.action).where(decision.c.position == 0)).scalar_one()
    answer = reviewer.fill(address, address, result="changed", action=same, reasons="So.")
    assert answer.status_code == 422
    assert "as it was" in answer.text


def test_an_unknown_result_is_refused(reviewer, contested, service):
    address = of_kind(reviewer, service, "contest")
    assert reviewer.fill(address, address, result="burnt", reasons="So.").status_code == 404
    assert address in queue(reviewer)


def test_a_contest_is_answered_once(reviewer, member, contested, service):
    address, other = of_kind(reviewer, service, "contest"), member("reviewer")
    token = re.search(r'name="csrf" value="([^"]+)"', other.get(address).text)[1]
    assert reviewer.fill(address, address, result="upheld", reasons="So.").status_code == 303
    late = other.post(address, data={"csrf": token, "result": "upheld", "reasons": "So."})
    assert late.status_code in {403, 409}


@pytest.mark.long
def test_what_was_left_to_a_person_is_decided_and_can_be_contested_then(reviewer, member, person, service):
    address = of_kind(reviewer, service, "referral")
    page = reviewer.get(address)
    assert "Decide" in page.text
    assert 'type="radio"' not in page.text
    assert reviewer.fill(address, address, reasons="So.").status_code == 422
    assert reviewer.fill(address, address, action="Lower", reasons="Little is known.").status_code == 303
    there = person(ABROAD)
    mine = there.get("/my?language=en").text
    assert "A person decided: Lower." in mine
    assert "Little is known." in mine
    assert there.fill("/my/contest", "/my", grounds="More is known.").status_code == 303
    again = of_kind(reviewer, service, "contest")
    assert "You decided here before" in reviewer.get(again).text
    refused = reviewer.fill(again, "/reviews/" + again.rsplit("/", 1)[1], result="upheld", reasons="So.")
    assert refused.status_code == 409
    other = member("reviewer")
    assert other.fill(again, again, result="changed", action="Grant", reasons="Right.").status_code == 303
    assert "It is now: Grant." in there.get("/my?language=en").text


def test_what_was_sent_back_is_decided_by_somebody_else(reviewer, member, contested, service):
    address = of_kind(reviewer, service, "contest")
    assert reviewer.fill(address, address, result="remitted", reasons="Measure anew.").status_code == 303
    with service.database.reading() as connection:
        mine = select(contest.c.id).join(decision, decision.c.id == contest.c.decision)
        again = connection.execute(mine.where(contest.c.kind == "referral", decision.c.position == 0)).scalar_one()
    assert f"/reviews/{again}" in queue(reviewer)
    assert "You decided here before" in reviewer.get(f"/reviews/{again}").text
    refused = reviewer.fill(f"/reviews/{again}", f"/reviews/{again}", action="Grant", reasons="So.")
    assert refused.status_code == 409
    decided = member("reviewer").fill(f"/reviews/{again}", f"/reviews/{again}", action="Grant", reasons="So.")
    assert decided.status_code == 303
    assert "A person decided: Grant." in contested.get("/my?language=en").text


def test_a_change_is_offered_to_like_cases(reviewer, contested, person, service):
    address = of_kind(reviewer, service, "contest")
    action = other_action(reviewer.get(address))
    reviewer.fill(address, address, result="changed", action=action, reasons="The scale was wrong.")
    page = reviewer.get(address).text
    alike = re.findall(r'name="alike" value="([0-9a-f]{32})"', page)
    with service.database.reading() as connection:
        near = connection.execute(select(decision.c.id).where(decision.c.position.in_((1, 2)))).scalars().all()
    assert set(alike) == set(near)
    assert "The scale was wrong." in page
    sent = reviewer.fill(f"{address}/alike", address, alike=[near[0]], reasons="The scale was wrong there too.")
    assert sent.headers["location"] == f"{address}?done=1"
    assert "1 like case was changed" in reviewer.get(sent.headers["location"]).text
    with service.database.reading() as connection:
        assert [in_force(connection, each) == action for each in near] == [True, False]
        position = connection.execute(select(decision.c.position).where(decision.c.id == near[0])).scalar_one()
        assert audit(connection, service.secrets).kinds["like_case"] == 1
    mine = person(position)
    told = mine.get("/my?language=en").text
    for words in ("A like case was changed.", f"It is now: {action}.", "The scale was wrong there too."):
        assert words in told
    assert mine.fill("/my/contest", "/my", grounds="I liked it as it was.").status_code == 303


@pytest.mark.few(1)
@pytest.mark.parametrize("alike", [[], ["nothing"], "itself", "left"])
def test_other_cases_are_not_like_cases(reviewer, contested, service, alike):
    address = of_kind(reviewer, service, "contest")
    action = other_action(reviewer.get(address))
    reviewer.fill(address, address, result="changed", action=action, reasons="So.")
    if isinstance(alike, str):
        with service.database.reading() as connection:
            place = {"itself": 0, "left": ABROAD}[alike]
            alike = [connection.execute(select(decision.c.id).where(decision.c.position == place)).scalar_one()]
    assert reviewer.fill(f"{address}/alike", address, alike=alike, reasons="So.").status_code == 422
    with service.database.reading() as connection:
        assert "like_case" not in audit(connection, service.secrets).kinds


def test_only_a_change_reaches_like_cases(reviewer, contested, service):
    address = of_kind(reviewer, service, "contest")
    reviewer.fill(address, address, result="upheld", reasons="So.")
    assert "Like cases are looked for where a decision is changed." in reviewer.get(address).text
    with service.database.reading() as connection:
        near = connection.execute(select(decision.c.id).where(decision.c.position == 1)).scalar_one()
    assert reviewer.fill(f"{address}/alike", "/reviews", alike=[near], reasons="So.").status_code == 409


@pytest.mark.few(2)
@pytest.mark.parametrize("role", ["analyst", "facilitator", "participant", "auditor"])
def test_others_see_no_reviews(member, contested, service, role):
    there = member(role)
    address = of_kind(there, service, "contest")
    assert there.get("/reviews").status_code == 403
    assert there.get(address).status_code == 403
    assert there.fill(address, "/runs", result="upheld", reasons="So.").status_code == 403
    assert 'href="/reviews"' not in there.get("/runs").text


def test_an_owner_sees_what_is_due_and_not_what_people_wrote(member, contested, service):
    owner = member("owner")
    page = owner.get("/reviews").text
    assert "Objection" in page
    assert "My score is old." not in page
    address = of_kind(owner, service, "contest")
    assert owner.get(address).status_code == 403
    assert owner.fill(address, "/runs", result="upheld", reasons="So.").status_code == 403


def test_nobody_who_is_not_signed_in_reviews(browser, contested, service):
    there = browser()
    address = of_kind(there, service, "contest")
    assert there.get(address, follow_redirects=False).headers["location"] == "/sign-in"
    assert there.post(address, data={"result": "upheld", "reasons": "So."}).status_code == 401
    assert there.get("/reviews/nothing", follow_redirects=False).status_code == 303


def test_what_is_no_review_is_not_there(reviewer):
    assert reviewer.get("/reviews/nothing").status_code == 404


def test_of_a_deleted_person_nothing_is_left_to_review(reviewer, contested, service):
    address = of_kind(reviewer, service, "contest")
    contested.fill("/my/delete", "/my", sure="yes")
    assert address not in queue(reviewer)
    assert reviewer.get(address).status_code == 410
