"""Pages asked over HTTP: a browser of nobody, of a person decided about, and of people with roles."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from accordant.service.api.app import make_app
from accordant.service.identity import invite

CONTEXTS = [
    {"score": 0.4, "branch": "south"}, {"score": 0.41, "branch": "south"}, {"score": 0.39, "branch": "south"},
    {"score": -2.0, "branch": "north"}, {"score": 0.1, "branch": "abroad"},
]  # fmt: skip
"""The first three are alike; the last is left to a person."""
ABROAD = 4


def token_of(answer):
    """The form token of a page."""
    return re.search(r'name="csrf" value="([^"]+)"', answer.text)[1]


class Browser(TestClient):
    """A browser that sends forms as a page would."""

    def fill(self, address, page, **fields):
        """Send a form of a page that is shown at an address."""
        headers = {"Sec-Fetch-Site": "same-origin"}
        form = {"csrf": token_of(self.get(page)), **fields}
        return self.post(address, data=form, headers=headers, follow_redirects=False)


@pytest.fixture
def browser(service):
    """Return a function that opens a new browser."""
    app, opened = make_app(service), []

    def new():
        opened.append(Browser(app, raise_server_exceptions=False))
        return opened[-1].__enter__()

    yield new
    for each in opened:
        each.__exit__(None, None, None)


@pytest.fixture
def links(service, client):
    """Links to decisions about `CONTEXTS`."""
    return [each["link"] for each in service.decider.decide(client, "pages", CONTEXTS).decisions]


@pytest.fixture
def person(browser, links):
    """Return a function that opens the link of a decision in a browser of its own."""

    def open_link(number=0):
        there = browser()
        assert there.post(links[number], follow_redirects=False).status_code == 303
        return there

    return open_link


@pytest.fixture
def member(browser, service):
    """Return a function that invites somebody to a role, and gives their browser."""

    def join(role):
        with service.database.writing() as connection:
            made = invite(connection, service.secrets, service.workspace, role)
        there = browser()
        assert there.post(f"/join/{made.token}", follow_redirects=False).status_code == 303
        return there

    return join
