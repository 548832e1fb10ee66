"""Forms that somebody else sends: from other sites, without or with a wrong token, with stolen or planted sessions."""

from __future__ import annotations

import pytest

from tests.service.attacks.conftest import SAME, token_of

FORMS = {
    "invite": ("owner", "/people", "/people/invite", {"role": "owner"}),
    "link": ("owner", "/people", "/people/link", {"who": "x"}),
    "remove": ("owner", "/people", "/people/remove", {"who": "x"}),
    "program": ("owner", "/people", "/people/program", {"name": "spy"}),
    "revoke": ("owner", "/people", "/people/program/revoke", {"name": "shop"}),
    "own link": ("owner", "/welcome", "/welcome", {}),
    "sign": ("owner", "/people", "/log/sign", {}),
    "check": ("owner", "/people", "/log/check", {}),
    "job": ("owner", "/people", "/jobs", {"kind": "run", "case": "story"}),
    "sign out": ("owner", "/people", "/sign-out", {}),
}


@pytest.fixture(params=FORMS)
def form(request, world):
    role, page, address, fields = FORMS[request.param]
    there = world.members[role]
    return there, address, {"csrf": token_of(there.get(page)), **fields}


def before_and_after(world, act):
    before = world.audited().size
    answer = act()
    return answer, world.audited().size - before


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": ""},
        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://testserver.evil.example"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"},
    ],
    ids=str,
)  # fmt: skip
def test_a_form_of_another_site_is_refused_though_its_token_is_right(world, form, headers):
    there, address, fields = form
    answer, grown = before_and_after(world, lambda: there.post(address, data=fields, headers=headers))
    assert (answer.status_code, grown) == (403, 0)


@pytest.mark.few(4)
@pytest.mark.parametrize("csrf", [None, "", "x", "0" * 43, "é"])
def test_a_form_without_its_token_is_refused(world, form, csrf):
    there, address, fields = form
    given = {**fields, "csrf": csrf} if csrf is not None else {name: fields[name] for name in fields if name != "csrf"}
    answer, grown = before_and_after(world, lambda: there.post(address, data=given, headers=SAME))
    assert (answer.status_code, grown) == (403, 0)


@pytest.mark.few(3)
def test_the_token_of_another_session_is_refused(world, form):
    there, address, fields = form
    fields["csrf"] = token_of(world.members["reviewer"].get("/welcome"))
    answer, grown = before_and_after(world, lambda: there.post(address, data=fields, headers=SAME))
    assert (answer.status_code, grown) == (403, 0)


def test_a_form_of_nobody_is_refused(world, form):
    _, address, fields = form
    answer, grown = before_and_after(world, lambda: world.browser().post(address, data=fields, headers=SAME))
    assert (answer.status_code, grown) == (401, 0)


@pytest.mark.few(3)
def test_a_link_does_what_no_form_did(world, form):
    """A GET changes nothing, whatever stands in its query."""
    there, address, fields = form
    _, grown = before_and_after(world, lambda: there.get(address, params=fields))
    assert grown == 0


@pytest.mark.few(4)
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT"])
def test_other_methods_do_nothing(world, form, method):
    there, address, fields = form
    answer, grown = before_and_after(world, lambda: there.request(method, address, data=fields, headers=SAME))
    assert (answer.status_code, grown) == (405, 0)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"])
def test_a_get_does_not_become_a_post(world, form, name):
    there, address, fields = form
    _, grown = before_and_after(
        world, lambda: there.get(address, params={**fields, "_method": "POST"}, headers={name: "POST"})
    )
    assert grown == 0


def test_an_invitation_is_taken_up_once_and_never_by_looking(world):
    link = f"/join/{world.invited('auditor').token}"
    for _ in range(3):
        assert world.browser().get(link).status_code == 200
        assert world.browser().head(link).status_code in {200, 405}
    assert world.browser().post(link).status_code == 303
    assert world.browser().post(link).status_code == 404
    assert world.browser().get(link).status_code == 404


def test_an_invitation_is_not_taken_up_from_another_site(world):
    link = f"/join/{world.invited('auditor').token}"
    assert world.browser().post(link, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert world.browser().post(link).status_code == 303


def test_a_session_that_was_planted_is_not_taken_over(world):
    planted = world.browser()
    planted.cookies.set("accordant_session", "planted", domain="testserver.local")
    answer = planted.post(f"/join/{world.invited('auditor').token}")
    given = answer.headers["set-cookie"].split("accordant_session=")[1].split(";")[0]
    assert given != "planted" and len(given) >= 32
    attacker = world.browser()
    attacker.cookies.set("accordant_session", "planted", domain="testserver.local")
    assert attacker.get("/people").headers["location"] == "/sign-in"


def test_a_session_of_somebody_else_is_not_continued_after_coming_in_anew(world):
    first = world.member("auditor")
    old = first.cookies["accordant_session"]
    assert first.post(f"/join/{world.invited('auditor').token}").status_code == 303
    assert first.cookies["accordant_session"] != old


def test_a_session_ends_when_its_owner_goes(world):
    there = world.member("auditor")
    stolen = there.cookies["accordant_session"]
    assert there.post("/sign-out", data={"csrf": token_of(there.get("/welcome"))}, headers=SAME).status_code == 303
    thief = world.browser()
    thief.cookies.set("accordant_session", stolen)
    assert thief.get("/log").headers["location"] == "/sign-in"


@pytest.mark.parametrize("path", ["/join/", "/my/"])
def test_cookies_are_out_of_the_reach_of_scripts_and_other_sites(world, path):
    link = f"/join/{world.invited('auditor').token}" if path == "/join/" else world.mine["link"]
    cookie = world.browser().post(link).headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie and "domain=" not in cookie
    secure = world.browser()
    secure.base_url = "https://testserver"
    again = f"/join/{world.invited('auditor').token}" if path == "/join/" else world.mine["link"]
    assert "secure" in secure.post(again).headers["set-cookie"].lower()


def test_a_cookie_asks_for_no_decisions_and_a_key_opens_no_pages(world):
    owner, body = world.members["owner"], {"contexts": [{"score": 0.4, "branch": "south"}]}
    assert owner.post("/v1/decisions", json=body, headers={"Idempotency-Key": "c"}).status_code == 401
    assert (
        world.browser().get("/people", headers={"Authorization": f"Bearer {world.key}"}).headers["location"]
        == "/sign-in"
    )


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_cannot_pretend_to_be_a_program(world, kind):
    """What a page of another site can send without asking carries no key and is no JSON."""
    answer = world.members["owner"].post(
        "/v1/decisions", content=b'{"contexts":[{"a":1}]}', headers={"Content-Type": kind}
    )
    assert answer.status_code in {401, 422}


def test_no_page_may_be_framed_or_read_by_other_sites(world):
    for path in ("/sign-in", "/people", "/my", world.mine["link"], "/v1/openapi.json"):
        answer = world.members["owner"].get(path, headers={"Origin": "https://evil.example"})
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert "access-control-allow-origin" not in answer.headers


def test_links_are_not_told_to_others(world):
    answer = world.browser().get(world.mine["link"])
    assert answer.headers["Referrer-Policy"] in {"no-referrer", "same-origin"}
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["Host", "X-Forwarded-Host", "Forwarded", "X-Original-URL", "X-Rewrite-URL"])
def test_a_false_host_does_not_stand_in_redirects(world, name):
    answer = world.browser().post(world.mine["link"], headers={name: "evil.example"})
    assert "evil" not in answer.headers.get("location", "")


@pytest.mark.parametrize(
    "next_page", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
@pytest.mark.parametrize("name", ["next", "url", "return", "redirect", "language"])
def test_nobody_is_sent_elsewhere(world, name, next_page):
    answer = world.browser().post(world.mine["link"], params={name: next_page})
    assert "evil" not in answer.headers["location"] and answer.headers["location"].startswith("/my")
