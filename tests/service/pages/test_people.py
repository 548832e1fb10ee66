"""People and programs: invited, given a new link, taken away; by an owner only."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from accordant.service.clients import client_of
from accordant.service.identity import INVITABLE
from accordant.service.record.audit import audit
from accordant.service.schema import membership

LINK = re.compile(r"http://testserver(/join/[\w-]+)")


@pytest.fixture
def owner(member):
    return member("owner")


def people_of(service, role):
    with service.database.reading() as connection:
        return connection.execute(select(membership.c.person).where(membership.c.role == role)).scalars().all()


@pytest.mark.few(2)
@pytest.mark.parametrize("role", INVITABLE)
def test_an_owner_invites_to_every_role(owner, browser, role):
    made = owner.fill("/people/invite", "/people", role=role)
    assert made.status_code == 200
    there = browser()
    there.post(LINK.search(made.text)[1], follow_redirects=False)
    assert f"You are {role}." in there.get("/welcome").text
    assert LINK.search(owner.get("/people").text) is None  # shown once


def test_name_and_code_are_shown_beside_the_link(owner, browser):
    made = owner.fill("/people/invite", "/people", role="reviewer").text
    handle, code = (re.search(rf'<code class="secret">({part})</code>', made)[1] for part in ("[A-Z]{8}", r"\d{6}"))
    answer = browser().post("/sign-in", data={"name": handle, "code": code}, follow_redirects=False)
    assert answer.headers["location"] == "/welcome"


@pytest.mark.few(2)
@pytest.mark.parametrize("role", ["client", "concerned", "king", ""])
def test_nobody_is_invited_to_what_is_no_role(owner, role):
    assert owner.fill("/people/invite", "/people", role=role).status_code == 404


def test_a_new_link_ends_what_was_open_and_brings_the_same_person_back(owner, member, browser, service):
    there = member("reviewer")
    (who,) = people_of(service, "reviewer")
    made = owner.fill("/people/link", "/people", who=who)
    assert there.get("/reviews", follow_redirects=False).status_code == 303
    again = browser()
    again.post(LINK.search(made.text)[1], follow_redirects=False)
    assert again.get("/reviews").status_code == 200
    assert people_of(service, "reviewer") == [who]


def test_a_role_is_taken_away_and_the_last_owner_stays(owner, member, service):
    there = member("reviewer")
    (who,) = people_of(service, "reviewer")
    assert owner.fill("/people/remove", "/people", who=who).status_code == 303
    assert there.get("/reviews", follow_redirects=False).headers["location"] == "/sign-in"
    (mine,) = people_of(service, "owner")
    assert owner.fill("/people/remove", "/people", who=mine).status_code == 409
    with service.database.reading() as connection:
        assert audit(connection, service.secrets).kinds["removal"] == 1


@pytest.mark.parametrize("act", ["link", "remove"])
def test_nobody_else_is_touched(owner, person, act):
    person()
    assert owner.fill(f"/people/{act}", "/people", who="nobody").status_code == 404


def test_a_program_is_admitted_and_refused(owner, service):
    page = owner.fill("/people/program", "/people", name="till <script>")
    assert "till &lt;script&gt;" in page.text
    key = re.search(r'<code class="secret">(acc_[\w-]+)</code>', page.text)[1]
    with service.database.reading() as connection:
        assert client_of(connection, service.secrets, key).name == "till <script>"
    assert owner.fill("/people/program", "/people", name="till <script>").status_code == 422
    assert owner.fill("/people/program", "/people", name="  ").status_code == 422
    assert owner.fill("/people/program/revoke", "/people", name="till <script>").status_code == 303
    with service.database.reading() as connection:
        assert client_of(connection, service.secrets, key) is None
    assert owner.fill("/people/program/revoke", "/people", name="till <script>").status_code == 404


@pytest.mark.few(2)
@pytest.mark.parametrize("role", [role for role in INVITABLE if role != "owner"])
def test_only_an_owner_does_this(member, role):
    there = member(role)
    assert there.get("/people").status_code == 403
    for act in ("invite", "link", "remove", "program", "program/revoke"):
        sent = there.fill(f"/people/{act}", "/runs", role="owner", who="x", name="x")
        assert sent.status_code == 403
