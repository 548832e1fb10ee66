"""Signing in by accounts: forged and foreign tokens, answers sent twice or to others, planted sessions, ways elsewhere."""

from __future__ import annotations

import base64
import hmac
import html
import json
import re
import time

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey
from sqlalchemy import func, select, update

from accordant.service.api.app import make_app
from accordant.service.identity import after
from accordant.service.schema import account_sign_in, identity, session
from tests.service.attacks.conftest import SAME, World, token_of

SIGNED_IN, SENT = "accordant_session", "accordant_account"


@pytest.fixture(scope="module")
def with_provider(world, listening_provider):
    """The world with a provider, and somebody whose account is linked."""
    listening_provider.reset()
    app = make_app(world.service, provider=listening_provider.settings())
    made = World(**vars(world) | {"app": app, "provider": listening_provider})
    made.victim = made.member("auditor")
    assert made.victim.get(back(made, made.victim, "/oidc/link")).headers["location"] == "/welcome"
    return made


@pytest.fixture
def there(with_provider):
    """The same, with a provider that does not lie yet."""
    with_provider.provider.reset()
    with_provider.size = with_provider.audited().size
    return with_provider


def back(there, browser, form="/oidc/sign-in"):
    """Where the provider sends a browser that began."""
    csrf = token_of(browser.get("/welcome")) if form == "/oidc/link" else ""
    page = browser.post(form, data={"csrf": csrf}, headers=SAME)
    return there.provider.sign_in(html.unescape(re.search(r'href="(http[^"]+)"', page.text)[1]))


def count(world, table):
    with world.service.database.reading() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def assert_refused(there, browser, address, status=403, **more):
    """Assert that an address lets nobody in, no session and nothing in the log; return its answer."""
    before = (count(there, session), count(there, identity))
    answer = browser.get(address, **more)
    assert answer.status_code == status and SIGNED_IN not in answer.headers.get("set-cookie", "")
    assert (count(there, session), count(there, identity)) == before and there.audited().size == there.size
    assert "set-cookie" not in answer.headers and browser.get("/log").headers.get("location") == "/sign-in"
    return answer


def test_the_way_that_is_attacked_is_open(there):
    browser = there.browser()
    answer = browser.get(back(there, browser))
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert browser.get("/log").status_code == 200


@pytest.mark.few(5)
@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256"])
@pytest.mark.parametrize("beside", [{"kty": "OKP", "crv": "X9", "x": "AA"}, {"kty": "new"}, "for encryption"], ids=str)
def test_all_signatures_that_are_believed_do_beside_keys_for_something_else(there, algorithm, beside):
    key = ECKey.generate_key("P-256") if algorithm == "ES256" else there.provider.key
    public = {name: value for name, value in key.as_dict(private=False).items() if name != "kid"}
    beside = there.provider.other.as_dict(private=False) | {"use": "enc"} if isinstance(beside, str) else beside
    there.provider.keys = [beside, public]
    there.provider.signer = lambda claims: jwt.encode({"alg": algorithm}, claims, key, algorithms=[algorithm])
    browser = there.browser()
    assert browser.get(back(there, browser)).status_code == 303


def unsigned(header):
    def signer(claims):
        parts = (base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=").decode() for each in (header, claims))
        return ".".join([*parts, ""])

    return signer


def with_public_key(there, algorithm="sha256"):
    """A signature by the public key of the provider, which everybody has, as if it were a shared secret."""

    def signer(claims):
        signed = unsigned({"alg": f"HS{algorithm[-3:]}", "kid": "a"})(claims)[:-1]
        digest = hmac.digest(there.provider.key.as_pem(private=False), signed.encode(), algorithm)
        return f"{signed}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"

    return signer


def with_client_secret(claims):
    return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(b"between-us".ljust(32, b"=")))


def changed(there):
    def signer(claims):
        head, body, signature = jwt.encode(
            {"alg": "RS256", "kid": "a"}, {**claims, "sub": "x"}, there.provider.key
        ).split(".")
        more = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
        return f"{head}.{more}.{signature}"

    return signer


FORGED = {
    "none": lambda there: unsigned({"alg": "none"}), "None": lambda there: unsigned({"alg": "None", "kid": "a"}),
    "no algorithm": lambda there: unsigned({"kid": "a"}), "HS256 with the public key": with_public_key,
    "HS384 with the public key": lambda there: with_public_key(there, "sha384"),
    "HS256 with the secret": lambda there: with_client_secret, "changed after signing": changed,
    "a key of somebody else": lambda there: there.provider.other, "no token": lambda there: lambda claims: 7,
    "no parts": lambda there: lambda claims: "eyJhbGciOiJSUzI1NiJ9",
}  # fmt: skip


@pytest.mark.parametrize("forged", FORGED)
def test_a_token_that_the_provider_did_not_sign_lets_nobody_in(there, forged):
    browser = there.browser()
    address = back(there, browser)
    there.provider.signer = FORGED[forged](there)
    assert_refused(there, browser, address)


def test_a_key_within_the_token_is_not_believed(there):
    browser = there.browser()
    address = back(there, browser)
    own = there.provider.other.as_dict(private=False)
    there.provider.signer = there.provider.other
    there.provider.header = {"kid": "a", "jwk": own}
    assert_refused(there, browser, address)


def test_keys_that_are_secrets_or_for_something_else_are_not_used(there):
    there.provider.keys = [{"kty": "oct", "kid": "a", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlYw"},
                           there.provider.other.as_dict(private=False) | {"use": "enc"}]  # fmt: skip
    for signer in (there.provider.other, lambda claims: jwt.encode(
        {"alg": "HS256", "kid": "a"}, claims, OctKey.import_key({"kty": "oct", "kid": "a", "k": there.provider.keys[0]["k"]})
    )):  # fmt: skip
        browser = there.browser()
        address = back(there, browser)
        there.provider.signer = signer
        assert_refused(there, browser, address)


NOW = 10_000_000_000
WRONG = {
    "another nonce": {"nonce": "x"}, "no nonce": {"nonce": None}, "another issuer": {"iss": "http://127.0.0.1:1"},
    "nobody's issuer": {"iss": None}, "a like issuer": {"iss": "HTTP://127.0.0.1"}, "another audience": {"aud": "shop"},
    "no audience": {"aud": None}, "empty audience": {"aud": []}, "others' audience": {"aud": ["shop", "till"]},
    "ours among others'": {"aud": ["accordant", "shop"]}, "made for another one": {"azp": "shop"},
    "among others', made for us": {"aud": ["shop", "till"], "azp": "accordant"},
    "expired": {"exp": 1_000_000_000}, "never expires": {"exp": None}, "expires as text": {"exp": "9999999999"},
    "from the future": {"iat": NOW}, "not yet": {"nbf": NOW}, "no time": {"iat": None}, "nobody": {"sub": None},
    "empty": {"sub": ""}, "a number": {"sub": 7}, "too long": {"sub": "x" * 256}, "another access": {"at_hash": "AAAA"},
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_token_for_somebody_or_somewhere_or_sometime_else_lets_nobody_in(there, wrong):
    browser = there.browser()
    address = back(there, browser)
    there.provider.claims = WRONG[wrong]
    assert_refused(there, browser, address)


@pytest.mark.parametrize(("seconds", "status"), [(-30, 303), (-90, 403)])
def test_clocks_may_differ_by_little(there, seconds, status):
    browser = there.browser()
    address = back(there, browser)
    there.provider.claims = {"exp": int(time.time()) + seconds}
    assert browser.get(address).status_code == status


def test_an_answer_is_taken_once(there):
    browser = there.browser()
    address = back(there, browser)
    kept = browser.cookies[SENT]
    assert browser.get(address).status_code == 303
    there.size = there.audited().size
    thief = there.browser()
    thief.cookies.set(SENT, kept)
    asked = len(there.provider.asked)
    assert "begun in another browser" in assert_refused(there, thief, address).text
    assert len(there.provider.asked) == asked  # its code is not even tried


def test_a_code_of_somebody_else_is_not_exchanged(there):
    """A code that was caught is injected into a sign-in of one's own: its verifier is another one."""
    victim, thief = there.browser(), there.browser()
    code = re.search("code=([^&]+)", back(there, victim))[1]
    own = re.sub("code=[^&]+", f"code={code}", back(there, thief))
    page = assert_refused(there, thief, own).text
    assert "secret words" not in page and "invalid_grant" not in page


def test_an_answer_belongs_to_the_browser_that_asked(there):
    """Nobody is signed in as the attacker by following a link of theirs, with or without a sign-in of their own."""
    attacker, victim = there.browser(), there.browser()
    address = back(there, attacker)
    assert_refused(there, victim, address)
    back(there, victim)  # is at the provider too
    assert_refused(there, victim, address)
    assert attacker.get(address).status_code == 303


@pytest.mark.few(8)
@pytest.mark.parametrize("state", ["", "x", "é", "0" * 64, "0" * 201])
@pytest.mark.parametrize("cookie", [None, "", "planted"])
def test_a_state_that_was_not_given_is_refused_and_nothing_is_asked(there, state, cookie):
    browser = there.browser()
    if cookie is not None:
        browser.cookies.set(SENT, cookie)
    params = {"state": state, "code": "x"}
    assert_refused(there, browser, "/oidc/callback", 422 if len(state) > 200 else 403, params=params)
    assert not [each for each in there.provider.asked if each[1] == "/token" and "code=x" in each[3]]


def test_who_comes_back_too_late_begins_again(there):
    browser = there.browser()
    address = back(there, browser)
    with there.service.database.writing() as connection:
        connection.execute(update(account_sign_in).values(expires_at=after(seconds=-1)))
    assert_refused(there, browser, address)
    back(there, browser)
    assert count(there, account_sign_in) == 1  # the old one is gone


def test_a_session_that_was_planted_is_not_taken_over_and_the_old_one_ends(there):
    browser = there.browser()
    browser.cookies.set(SIGNED_IN, "planted", domain="testserver.local")
    address = back(there, browser)
    given = re.search(f"{SIGNED_IN}=([^;]+)", browser.get(address).headers["set-cookie"])[1]
    assert given != "planted" and len(given) >= 32
    old = there.victim.cookies[SIGNED_IN]
    assert there.victim.get(back(there, there.victim)).status_code == 303
    assert there.victim.cookies[SIGNED_IN] != old
    thief = there.browser()
    thief.cookies.set(SIGNED_IN, old)
    assert thief.get("/log").headers["location"] == "/sign-in"


def test_nobody_links_their_account_to_somebody_else(there):
    """A link that was begun by one session is not ended by another one in the same browser, or by none."""
    there.provider.subject = "attacker"
    for other in (None, there.member("auditor").cookies[SIGNED_IN]):
        browser = there.member("auditor")
        there.size = there.audited().size
        address = back(there, browser, "/oidc/link")
        browser.cookies.delete(SIGNED_IN)
        if other is not None:
            browser.cookies.set(SIGNED_IN, other)
        before = count(there, identity)
        assert browser.get(address).status_code == 403
        assert count(there, identity) == before and there.audited().size == there.size


@pytest.mark.parametrize("form", ["sign-in", "link", "unlink"])
def test_no_other_site_and_no_get_begins_anything(there, form):
    before = count(there, account_sign_in), count(there, identity), len(there.provider.asked)
    data = {"csrf": token_of(there.victim.get("/welcome"))}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        assert there.victim.post(f"/oidc/{form}", data=data, headers=headers).status_code == 403
    for method in ("GET", "HEAD", "PUT"):
        answer = there.victim.request(method, f"/oidc/{form}", headers={"Sec-Purpose": "prefetch"} | SAME)
        assert answer.status_code == 405 and "set-cookie" not in answer.headers
    assert (count(there, account_sign_in), count(there, identity), len(there.provider.asked)) == before


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT"])
def test_the_way_back_is_a_get_and_other_methods_use_nothing_up(there, method):
    browser = there.browser()
    address = back(there, browser)
    assert browser.request(method, address).status_code == 405
    assert browser.get(address).status_code == 303


def test_looking_at_the_way_back_without_its_browser_uses_nothing_up(there):
    """As scanners of addresses, previews and prefetching proxies do."""
    browser = there.browser()
    address = back(there, browser)
    for _ in range(3):
        assert_refused(there, there.browser(), address, headers={"Sec-Purpose": "prefetch"})
    assert browser.get(address).status_code == 303


@pytest.mark.few(10)
@pytest.mark.parametrize("evil", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
@pytest.mark.parametrize("name", ["next", "redirect_uri", "return", "target_link_uri", "login_hint"])
def test_nobody_is_sent_elsewhere(there, name, evil):
    browser = there.browser()
    false = SAME | {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    page = browser.post("/oidc/sign-in", params={name: evil}, data={name: evil}, headers=false)
    assert page.status_code == 200 and "evil" not in page.text
    address = there.provider.sign_in(html.unescape(re.search(r'href="(http[^"]+)"', page.text)[1]))
    answer = browser.get(f"{address}&{name}={evil}", headers=false)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


@pytest.mark.few(2)
@pytest.mark.parametrize("error", ["access_denied", "server_error", "<script>alert(1)</script>", "x" * 200])
def test_what_the_provider_says_of_errors_is_not_repeated(there, error):
    browser = there.browser()
    state = re.search("state=([^&]+)", back(there, browser))[1]
    told = {
        "state": state,
        "error": error,
        "error_description": "call +1 555 evil",
        "error_uri": "https://evil.example",
    }
    page = assert_refused(there, browser, "/oidc/callback", params=told).text
    assert "evil" not in page and "<script>alert" not in page and error not in page
    assert ("stopped at your organisation" in page) == (error == "access_denied")
    assert_refused(there, browser, "/oidc/callback", params={"state": state, "code": "x"})  # it is over


def test_an_answer_in_the_name_of_another_provider_is_refused(there):
    browser = there.browser()
    address = re.sub("iss=[^&]+", "iss=https%3A%2F%2Fevil.example", back(there, browser))
    assert_refused(there, browser, address)


def test_the_cookie_is_out_of_reach_and_the_policy_as_strict_as_ever(there):
    browser = there.browser()
    browser.base_url = "https://testserver"
    answer = browser.post("/oidc/sign-in", headers=SAME)
    cookie = answer.headers["set-cookie"].lower()
    for part in ("httponly", "samesite=lax", "secure", "path=/oidc"):
        assert part in cookie
    assert "domain=" not in cookie
    assert (
        "form-action 'self'" in answer.headers["Content-Security-Policy"]
        and "http" not in answer.headers["Content-Security-Policy"]
    )
    assert answer.headers["Cache-Control"] == "no-store" and answer.headers["Referrer-Policy"] == "same-origin"


def test_an_address_of_the_provider_is_text_in_the_page(there):
    there.provider.metadata = {
        "authorization_endpoint": f'{there.provider.issuer}/authorize?x="><script>alert(1)</script>'
    }
    page = there.browser().post("/oidc/sign-in", headers=SAME)
    assert "<script>alert" not in page.text


def test_keys_and_tokens_are_not_asked_of_where_the_provider_redirects_to(there):
    browser = there.browser()
    address = back(there, browser)
    there.provider.answer = (307, {})
    assert_refused(there, browser, address, 503)
