"""Coming in and going out: links that a GET never uses, codes, sessions, and who is let in nowhere."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import func, select, update

from accordant.service.identity import CODE_TRIES, invite
from accordant.service.schema import invitation, membership, session


@pytest.fixture
def invited(service):
    """Return a function that invites somebody."""

    def make(role="reviewer"):
        with service.database.writing() as connection:
            return invite(connection, service.secrets, service.workspace, role)

    return make


def count(service, table):
    with service.database.reading() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def test_looking_at_an_invitation_does_not_use_it(browser, invited, service):
    there, made = browser(), invited()
    for _ in range(3):
        page = there.get(f"/join/{made.token}")
        assert page.status_code == 200
        assert "You are invited as reviewer" in page.text
    assert (count(service, membership), count(service, session)) == (0, 0)


def test_an_invitation_is_taken_up_once(browser, invited):
    there, other, made = browser(), browser(), invited()
    answer = there.post(f"/join/{made.token}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/welcome")
    assert "You are reviewer." in there.get("/welcome").text
    assert other.get(f"/join/{made.token}").status_code == 404
    assert other.post(f"/join/{made.token}").status_code == 404


def test_an_expired_invitation_lets_nobody_in(browser, invited, service):
    made = invited()
    with service.database.writing() as connection:
        connection.execute(update(invitation).values(expires_at="2020-01-01T00:00:00.000000Z"))
    assert browser().post(f"/join/{made.token}").status_code == 404


def test_a_code_lets_in_who_has_no_link(browser, invited):
    there, made = browser(), invited("auditor")
    sent = {"name": f" {made.handle.lower()} ", "code": made.code}
    answer = there.post("/sign-in", data=sent, follow_redirects=False)
    assert answer.headers["location"] == "/welcome"
    assert "You are auditor." in there.get("/welcome").text


def test_after_some_wrong_codes_only_the_link_works_and_nothing_says_what_was_wrong(browser, invited):
    there, made = browser(), invited()
    wrong = f"{(int(made.code) + 1) % 1_000_000:06}"
    pages = {there.post("/sign-in", data={"name": made.handle, "code": wrong}).text for _ in range(CODE_TRIES)}
    nobody = there.post("/sign-in", data={"name": "ABCDEFGH", "code": wrong})
    assert pages == {nobody.text}
    assert nobody.status_code == 422
    right = there.post("/sign-in", data={"name": made.handle, "code": made.code})
    assert (right.status_code, right.text) == (422, nobody.text)
    assert there.post(f"/join/{made.token}", follow_redirects=False).status_code == 303


def test_a_link_of_ones_own_lets_come_back_as_the_same_person(member, browser, service):
    there = member("reviewer")
    link = re.search(r"http://testserver(/enter/[\w-]+)", there.post(
        "/welcome", data={"csrf": re.search(r'name="csrf" value="([^"]+)"', there.get("/welcome").text)[1]}
    ).text)[1]  # fmt: skip
    again = browser()
    assert "Welcome back" in again.get(link).text
    assert again.get("/", follow_redirects=False).headers["location"] == "/sign-in"
    for _ in range(2):  # as often as needed
        assert again.post(link, follow_redirects=False).status_code == 303
    assert again.get("/reviews").status_code == 200
    assert count(service, membership) == 1
    there.fill("/welcome", "/welcome")  # a new link voids the one before
    assert browser().post(link).status_code == 404


def test_signing_out_ends_the_session_on_the_server(member, browser):
    there = member("analyst")
    kept = there.cookies["accordant_session"]
    assert there.fill("/sign-out", "/runs").status_code == 303
    thief = browser()
    thief.cookies.set("accordant_session", kept)
    assert thief.get("/runs", follow_redirects=False).headers["location"] == "/sign-in"


def test_every_session_has_its_own_token_and_a_new_one_begins_with_each_entry(member, browser, invited):
    there = browser()
    there.cookies.set("accordant_session", "fixed-by-somebody-else")
    answer = there.post(f"/join/{invited().token}", follow_redirects=False)
    assert "fixed-by-somebody-else" not in answer.headers["set-cookie"]
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=lax" in answer.headers["set-cookie"]
    tokens = {
        re.search(r'name="csrf" value="([^"]+)"', each.get("/runs").text)[1] for each in map(member, ["analyst"] * 3)
    }
    assert len(tokens) == 3


def test_the_token_of_another_session_opens_no_form(member):
    mine, other = member("owner"), member("owner")
    foreign = re.search(r'name="csrf" value="([^"]+)"', other.get("/people").text)[1]
    assert mine.post("/people/invite", data={"csrf": foreign, "role": "owner"}).status_code == 403


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://testserver.example"}])
def test_no_other_site_signs_anybody_in_or_out(member, browser, invited, headers):
    made = invited()
    assert browser().post(f"/join/{made.token}", headers=headers).status_code == 403
    assert browser().post("/sign-in", data={"name": made.handle, "code": made.code}, headers=headers).status_code == 403
    there = member("analyst")
    token = re.search(r'name="csrf" value="([^"]+)"', there.get("/runs").text)[1]
    assert there.post("/sign-out", data={"csrf": token}, headers=headers).status_code == 403
    assert there.get("/runs").status_code == 200


@pytest.mark.few(3)
@pytest.mark.parametrize("path", ["/", "/welcome", "/reviews", "/runs", "/deployments", "/people", "/log"])
def test_whoever_is_not_signed_in_is_asked_to(browser, path):
    assert browser().get(path, follow_redirects=False).headers["location"] == "/sign-in"


def test_who_was_decided_about_has_no_role(person):
    there = person()
    for path in ("/reviews", "/runs", "/people", "/log"):
        assert there.get(path, follow_redirects=False).headers["location"] == "/sign-in"


def test_a_path_that_is_not_there_is_a_page_for_people_and_json_for_programs(browser):
    there = browser()
    page = there.get("/nowhere", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert there.get("/v1/nowhere", headers={"Accept": "text/html"}).json() == {"detail": "Not Found"}
    assert there.get("/nowhere").json() == {"detail": "Not Found"}


def test_pages_allow_no_style_script_or_frame_of_others(browser):
    answer = browser().get("/sign-in")
    policy = answer.headers["content-security-policy"]
    for part in ("default-src 'none'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<style|<script| style=| on\w+=", answer.text)


def test_the_sheet_of_styles_is_kept_by_its_hash(browser):
    there = browser()
    address = re.search(r'href="(/static/\w+\.css)"', there.get("/sign-in").text)[1]
    sheet = there.get(address)
    assert sheet.headers["content-type"] == "text/css; charset=utf-8"
    assert "immutable" in sheet.headers["cache-control"]
    assert there.get("/static/other.css").status_code == 404
