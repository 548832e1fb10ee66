"""Trying to come in: counted for all processes together, kept without addresses, and refused in time."""

from __future__ import annotations

import threading

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from accordant.service import attempts
from accordant.service.api.app import make_app
from accordant.service.attempts import MOST_TRIES, SECONDS_A_TRY, may_try
from accordant.service.identity import after
from accordant.service.schema import sign_in_rate


def tried(database, secrets, address="192.0.2.1"):
    with database.writing() as connection:
        return may_try(connection, secrets, address)


def test_so_many_at_once_and_then_no_more(database, secrets):
    assert [tried(database, secrets) for _ in range(MOST_TRIES + 2)] == [True] * MOST_TRIES + [False] * 2
    assert tried(database, secrets, "192.0.2.2")


def test_tries_come_back_one_by_one(database, secrets):
    for _ in range(MOST_TRIES):
        tried(database, secrets)
    with database.writing() as connection:
        connection.execute(update(sign_in_rate).values(at=after(seconds=-2.5 * SECONDS_A_TRY)))
    assert [tried(database, secrets) for _ in range(3)] == [True, True, False]
    with database.writing() as connection:
        connection.execute(update(sign_in_rate).values(at=after(days=1)))  # a clock that was set back
    assert not tried(database, secrets)


def test_addresses_are_not_kept_and_old_ones_go(database, secrets):
    tried(database, secrets)
    with database.writing() as connection:
        assert b"192.0.2.1" not in bytes(connection.execute(select(sign_in_rate.c.source)).scalar_one())
        connection.execute(update(sign_in_rate).values(at=after(days=-1)))
    tried(database, secrets, "192.0.2.9")
    with database.reading() as connection:
        assert len(connection.execute(select(sign_in_rate)).all()) == 1


def test_processes_count_together(database, secrets):
    allowed = []

    def many():
        allowed.extend(tried(database, secrets) for _ in range(10))

    threads = [threading.Thread(target=many) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(allowed) == MOST_TRIES


@pytest.mark.parametrize("path", ["/sign-in", "/join/nothing", "/enter/nothing"])
def test_whoever_guesses_on_is_refused(service, monkeypatch, path):
    monkeypatch.setattr(attempts, "MOST_TRIES", 3)
    monkeypatch.setattr("accordant.service.pages.entrance.may_try", may_try)  # the tests of attacks do without it
    browser = TestClient(make_app(service), raise_server_exceptions=False)
    answers = [browser.post(path, data={"name": "ABCDEFGH", "code": "123456"}) for _ in range(5)]
    assert [each.status_code for each in answers[3:]] == [429, 429]
    assert answers[0].status_code in (404, 422)
    assert int(answers[4].headers["Retry-After"]) > 0 and "too often" in answers[4].text
