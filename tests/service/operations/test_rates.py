"""Token buckets: burst, then a steady rate; those who guess are stopped, those who are known go on."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from accordant.service.api import rates
from accordant.service.api.app import make_app
from accordant.service.api.rates import Buckets, Rate

CONTEXT = {"score": 0.4, "branch": "south"}


@pytest.mark.long
@given(st.lists(st.floats(0, 3), min_size=1, max_size=60), st.floats(1, 5), st.floats(0.5, 4))
def test_never_more_than_burst_and_rate_allow(pauses, burst, second):
    buckets, at, allowed = Buckets(Rate(burst, second)), 0.0, 0
    for pause in pauses:
        at += pause
        wait = buckets.seconds_to_wait(b"a", at)
        if wait == 0:
            buckets.take(b"a", at)
            allowed += 1
        else:
            assert buckets.seconds_to_wait(b"a", at + wait + 1e-9) == 0
        assert allowed <= burst + second * at + 1e-6


def test_buckets_are_apart_and_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(rates, "MOST_BUCKETS", 2)
    buckets = Buckets(Rate(1, 1))
    for name in (b"a", b"b", b"c"):
        buckets.take(name, 0.0)
    assert (b"a" in buckets, b"b" in buckets, b"c" in buckets) == (False, True, True)
    assert buckets.seconds_to_wait(b"b", 0.0) == 1
    assert buckets.seconds_to_wait(b"d", 0.0) == 0
    buckets.take(b"b", -5.0)  # a clock that was set back gives nothing
    assert buckets.seconds_to_wait(b"b", -5.0) == 2


def guess(http, key, number=0):
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": f"{number}"}
    return http.post("/v1/decisions", json={"contexts": [CONTEXT]}, headers=headers)


@pytest.fixture
def http(service, monkeypatch):
    monkeypatch.setattr(rates.Rates.__init__, "__defaults__", (Rate(6, 0.001), Rate(50, 0.001)))
    with TestClient(make_app(service), raise_server_exceptions=False) as browser:
        yield browser


def test_those_who_guess_are_stopped_and_a_known_client_goes_on(http, key):
    assert guess(http, key).status_code == 200
    answers = [guess(http, f"acc_{i}") for i in range(6)]
    assert [each.status_code for each in answers][:2] == [401, 401]
    last = answers[-1]
    assert last.status_code == 429
    assert int(last.headers["Retry-After"]) >= 1
    assert "Content-Security-Policy" in last.headers
    assert http.get("/live").status_code == 429
    assert [guess(http, key, i).status_code for i in range(5)] == [200] * 5


def test_a_known_client_has_a_rate_too(http, key):
    guess(http, key)
    assert 429 in {guess(http, key, 1).status_code for _ in range(60)}


def test_a_network_of_ipv6_is_one_address():
    def scope(host):
        return {"client": (host, 1)}

    assert rates._address(scope("2001:db8::1")) == rates._address(scope("2001:db8::ffff"))
    assert rates._address(scope("2001:db8::1")) != rates._address(scope("2001:db9::1"))
    assert rates._address(scope("192.0.2.1")) != rates._address(scope("192.0.2.2"))
    assert rates._address({"client": None}) == b""
