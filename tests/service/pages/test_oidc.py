"""Coming in by the account of an organisation: linked first, then as often as one likes, until somebody unlinks it."""

from __future__ import annotations

import html
import logging
import re

import pytest
from sqlalchemy import select

from accordant.errors import InputError
from accordant.service.api.app import make_app
from accordant.service.attempts import may_try
from accordant.service.erasure import erase
from accordant.service.oidc import MOST_CALLS, Provider, read_provider
from accordant.service.record.audit import audit
from accordant.service.server import run_server
from accordant.service.schema import account_sign_in, event, identity, membership
from tests.service.pages.conftest import Browser, token_of

SETTINGS = {
    "ACCORDANT_OIDC_ISSUER": "https://login.example.org/staff", "ACCORDANT_OIDC_CLIENT_ID": "accordant",
    "ACCORDANT_OIDC_CLIENT_SECRET": "s3cret", "ACCORDANT_OIDC_ADDRESS": "https://decisions.example.org/",
}  # fmt: skip


@pytest.fixture
def browser(service, provider):
    """Return a function that opens a new browser of a service with a provider."""
    app, opened = make_app(service, provider=provider.settings()), []

    def new():
        opened.append(Browser(app, raise_server_exceptions=False, follow_redirects=False))
        return opened[-1].__enter__()

    yield new
    for each in opened:
        each.__exit__(None, None, None)


@pytest.fixture
def there_and_back(provider):
    """Return a function that lets a browser sign in at the provider, from a form on, and comes back with it."""

    def go_there(browser, form="/oidc/sign-in", csrf=""):
        page = browser.post(form, data={"csrf": csrf}, headers={"Sec-Fetch-Site": "same-origin"})
        assert page.status_code == 200, page.text
        shown = html.unescape(re.search(r'href="(http[^"]+)"', page.text)[1])
        assert f'content="0; url={html.escape(shown)}"' in page.text  # it goes on by itself, without a script
        return browser.get(provider.sign_in(shown))

    return go_there


@pytest.fixture
def linked(member, there_and_back):
    """Return a function that invites somebody to a role, and links their account."""

    def join(role="reviewer"):
        there = member(role)
        answer = there_and_back(there, "/oidc/link", token_of(there.get("/welcome")))
        assert (answer.status_code, answer.headers["location"]) == (303, "/welcome")
        return there

    return join


def kinds(service):
    with service.database.reading() as connection:
        found = audit(connection, service.secrets)
    assert found.fault == ""
    return found.kinds


def whom(service, role="reviewer"):
    with service.database.reading() as connection:
        return connection.execute(select(membership.c.person).where(membership.c.role == role)).scalar_one()


def test_an_account_is_linked_and_lets_in_as_the_same_person(linked, browser, there_and_back, service):
    there = linked()
    assert "An account is linked" in there.get("/welcome").text
    again = browser()
    assert "Sign in with your account" in again.get("/sign-in").text
    for _ in range(2):
        answer = there_and_back(again)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert again.get("/reviews").status_code == 200
    told = kinds(service)
    assert (told["membership"], told["account"], told["sign_in"]) == (1, 1, 2)


def test_nothing_of_an_account_is_kept_but_a_fingerprint(linked, there_and_back, browser, service, tmp_path, provider):
    linked()
    there_and_back(browser())
    with service.database.reading() as connection:
        row = connection.execute(select(identity).where(identity.c.kind == "account")).one()
        acts = connection.execute(select(event.c.public, event.c.sealed).where(event.c.kind == "account")).one()
        assert connection.execute(select(account_sign_in)).all() == []
    assert (len(row.lookup), row.sealed, acts.sealed) == (32, b"", b"")
    if service.database.file is not None:
        files = [file for file in tmp_path.rglob("*") if file.is_file()]
        assert len(files) > 2 and not [each for each in files if provider.subject.encode() in each.read_bytes()]


def test_no_more_is_asked_than_who_it_is_and_keys_are_told_no_token(linked, provider):
    linked()
    by_path = {path: (headers, body) for _, path, headers, body in provider.asked}
    assert set(by_path) == {"/.well-known/openid-configuration", "/token", "/keys"}  # no profile is read
    assert "Authorization" not in by_path["/keys"][0] and "opaque" not in str(by_path["/keys"])
    assert "Authorization" in by_path["/token"][0]


def test_the_secret_goes_in_the_body_where_the_provider_takes_it_there(linked, provider):
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    linked()
    assert "client_secret=between-us" in next(body for _, path, _, body in provider.asked if path == "/token")


def test_an_account_that_nobody_linked_opens_nothing_and_looks_like_any_other(
    linked, there_and_back, browser, provider
):
    pages = [there_and_back(browser())]  # before anybody linked one
    there = linked()
    there.fill("/oidc/unlink", "/welcome")
    pages.append(there_and_back(browser()))
    provider.subject = "somebody else"
    pages.append(there_and_back(browser()))
    assert {each.status_code for each in pages} == {403}
    assert len({each.text for each in pages}) == 1 and "No account is linked here" in pages[0].text


@pytest.mark.parametrize("act", ["/people/link", "/people/remove"])
def test_an_owner_sees_that_an_account_is_linked_and_ends_it(linked, member, there_and_back, browser, act, service):
    linked()
    owner = member("owner")
    page = owner.get("/people").text
    assert page.count("account linked") == 1
    assert owner.fill(act, "/people", who=whom(service)).status_code in {200, 303}
    assert there_and_back(browser()).status_code == 403
    assert kinds(service)["account"] == 2


def test_erasing_somebody_unlinks_their_account(linked, there_and_back, browser, service):
    there = linked()
    erase(service.database, service.keys, whom(service))
    assert there.get("/welcome").headers["location"] == "/sign-in"
    assert there_and_back(browser()).status_code == 403
    with service.database.reading() as connection:
        assert connection.execute(select(identity)).all() == []


def test_one_account_belongs_to_one_person_and_one_person_has_one(linked, member, there_and_back, browser, provider):
    linked()
    other = member("auditor")
    answer = there_and_back(other, "/oidc/link", token_of(other.get("/welcome")))
    assert answer.status_code == 409 and "cannot be linked here" in answer.text
    provider.subject = "second"
    assert there_and_back(other, "/oidc/link", token_of(other.get("/welcome"))).status_code == 303
    provider.subject = "third"
    assert there_and_back(other, "/oidc/link", token_of(other.get("/welcome"))).status_code == 303
    assert there_and_back(browser()).status_code == 303
    provider.subject = "second"
    assert there_and_back(browser()).status_code == 403


def test_only_whoever_is_signed_in_links_and_unlinks(browser, linked, service):
    there, nobody = linked(), browser()
    for path in ("/oidc/link", "/oidc/unlink"):
        assert nobody.post(path).status_code == 401
        assert there.post(path, data={"csrf": "x"}).status_code == 403
    assert kinds(service)["account"] == 1


@pytest.mark.parametrize(
    "broken",
    [
        {"answer": (503, {})}, {"answer": (200, b"no JSON")}, {"answer": (200, [])}, {"answer": (302, {})},
        {"answer": (200, {})}, {"metadata": {"issuer": "https://login.example.org"}}, {"metadata": {"jwks_uri": 7}},
        {"metadata": {"authorization_endpoint": "http://login.example.org/authorize"}},
        {"metadata": {"authorization_endpoint": "javascript:alert(1)"}}, {"metadata": {"token_endpoint": "//x"}},
    ],
    ids=str,
)  # fmt: skip
def test_where_the_provider_fails_that_is_said_and_links_work(browser, member, provider, broken, service):
    for name, value in broken.items():
        setattr(provider, name, value)
    there = browser()
    answer = there.post("/oidc/sign-in")
    assert answer.status_code == 503 and "Your organisation&#39;s sign-in does not answer" in answer.text
    assert "login.example.org" not in answer.text and "set-cookie" not in answer.headers
    assert there.get("/sign-in").status_code == 200
    assert member("reviewer").get("/reviews").status_code == 200
    with service.database.reading() as connection:
        assert connection.execute(select(account_sign_in)).all() == []


def test_a_provider_that_nobody_reaches_and_one_that_all_wait_for(service, provider):
    nowhere = Provider("http://127.0.0.1:9", "accordant", "x", "http://testserver")
    with Browser(make_app(service, provider=nowhere)) as there:
        assert there.post("/oidc/sign-in").status_code == 503
    busy = provider.settings()
    with Browser(make_app(service, provider=busy)) as there:
        for _ in range(MOST_CALLS):
            busy._calls.acquire()
        assert there.post("/oidc/sign-in").status_code == 503 and provider.asked == []
        busy._calls.release()
        assert there.post("/oidc/sign-in").status_code == 200


def test_the_log_says_what_went_wrong_and_of_whom_nothing(there_and_back, browser, provider, caplog):
    caplog.set_level(logging.INFO)
    provider.claims = {"aud": "another service", "email": "zoe@example.org"}
    assert there_and_back(browser()).status_code == 403
    (line,) = [each for each in caplog.records if each.name == "accordant.service.oidc"]
    assert (line.error, line.code, line.claim) == ("InvalidClaimError", "invalid_claim", "aud")
    assert not re.search(f"zoe|{provider.subject}|another service", str([vars(each) for each in caplog.records]))


def test_too_many_begin(browser, monkeypatch):
    monkeypatch.setattr("accordant.service.attempts.MOST_TRIES", 2)
    monkeypatch.setattr("accordant.service.pages.entrance.may_try", may_try)  # the tests of attacks do without it
    there = browser()
    answers = [there.post("/oidc/sign-in") for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 429]


def test_without_a_provider_there_is_no_button_and_no_route(service):
    with Browser(make_app(service), follow_redirects=False) as there:
        assert "account" not in re.sub(r"no account", "", there.get("/sign-in").text)
        for method, path in (("POST", "sign-in"), ("POST", "link"), ("POST", "unlink"), ("GET", "callback")):
            assert there.request(method, f"/oidc/{path}").status_code == 404


def test_settings_come_from_variables_or_files(tmp_path):
    assert read_provider({}) is None
    found = read_provider(SETTINGS)
    assert found == Provider("https://login.example.org/staff", "accordant", "s3cret", "https://decisions.example.org")
    assert "s3cret" not in repr(found)
    (tmp_path / "secret").write_text("s3cret\n")
    others = {name: value for name, value in SETTINGS.items() if "SECRET" not in name}
    assert read_provider(others | {"ACCORDANT_OIDC_CLIENT_SECRET_FILE": str(tmp_path / "secret")}) == found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"CLIENT_SECRET": ""}, "ACCORDANT_OIDC_CLIENT_SECRET missing"),
        ({"ISSUER": "", "ADDRESS": " "}, "ACCORDANT_OIDC_ISSUER, ACCORDANT_OIDC_ADDRESS missing"),
        ({"CLIENT_SECRET_FILE": "/nowhere"}, "CLIENT_SECRET_FILE: /nowhere cannot be read"),
        ({"ISSUER": "http://login.example.org"}, "allowed: https://HOST"),
        ({"ISSUER": "login.example.org"}, "allowed: https://HOST"),
        ({"ADDRESS": "https://decisions.example.org/?x=1"}, "allowed: https://HOST"),
        ({"ADDRESS": "http://decisions.example.org"}, "allowed: https://HOST"),
        ({"ADDRESS": "https://me@decisions.example.org"}, "allowed: https://HOST"),
    ],
)
def test_settings_that_cannot_be_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        read_provider(SETTINGS | {f"ACCORDANT_OIDC_{name}": value for name, value in change.items()})


def test_a_server_with_half_of_its_settings_does_not_start(monkeypatch, tmp_path):
    monkeypatch.setenv("ACCORDANT_OIDC_ISSUER", "https://login.example.org")
    with pytest.raises(
        InputError, match="ACCORDANT_OIDC_CLIENT_ID, ACCORDANT_OIDC_CLIENT_SECRET, ACCORDANT_OIDC_ADDRESS"
    ):
        run_server((), "127.0.0.1", 0, f"sqlite:///{tmp_path / 'new.db'}", None)
    assert list(tmp_path.iterdir()) == []
