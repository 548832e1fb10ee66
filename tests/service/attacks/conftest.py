"""One service for all attacks: two workspaces, programs in both, people of every role, decisions, a contest."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, select

from accordant.runs import read_run
from accordant.service.api import rates
from accordant.service.api.app import make_app
from accordant.service.clients import add_client, client_of
from accordant.service.deployments import deciding, deploy
from accordant.service.identity import INVITABLE, invite
from accordant.service.publication import publish
from accordant.service.record.audit import audit
from accordant.service.record.log import now
from accordant.service.schema import contest, workspace
from accordant.service.service import open_service

CONTEXT = {"score": 0.4, "branch": "south"}
SAME = {"Sec-Fetch-Site": "same-origin"}


def token_of(answer):
    """The form token of a page."""
    return re.search(r'name="csrf" value="([^"]+)"', answer.text)[1]


class World(SimpleNamespace):
    """What attackers find; `ask` and `browser` are theirs too."""

    def browser(self):
        return TestClient(self.app, raise_server_exceptions=False, follow_redirects=False)

    def ask(self, number, contexts=(CONTEXT,), key=None, path="/v1/decisions", **more):
        headers = {"Authorization": f"Bearer {self.key if key is None else key}", "Idempotency-Key": number}
        return self.http.post(path, json={"contexts": list(contexts)} | more, headers=headers)

    def invited(self, role):
        with self.service.database.writing() as connection:
            return invite(connection, self.service.secrets, self.service.workspace, role)

    def member(self, role):
        there = self.browser()
        assert there.post(f"/join/{self.invited(role).token}").status_code == 303
        return there

    def opened(self, link):
        there = self.browser()
        assert there.post(link).status_code == 303
        return there

    def row(self, key):
        with self.service.database.reading() as connection:
            return client_of(connection, self.service.secrets, key)

    def audited(self):
        with self.service.database.reading() as connection:
            return audit(connection, self.service.secrets)


@pytest.fixture(scope="session")
def world(run_of_three, tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setattr(rates.Rates.__init__, "__defaults__", (rates.Rate(10**6, 10**6), rates.Rate(10**6, 10**6)))
    patch.setattr("accordant.service.pages.entrance.may_try", lambda *_: True)
    service, run = (
        open_service(f"sqlite:///{tmp_path_factory.mktemp('attacks') / 'service.db'}"),
        read_run(run_of_three),
    )
    service.deploy(run)
    with service.database.writing() as connection:
        key = add_client(connection, service.secrets, service.workspace, "shop")
        second = add_client(connection, service.secrets, service.workspace, "second shop")
        connection.execute(insert(workspace).values(id="elsewhere", name="elsewhere", created_at=now()))
        publish(connection, run, "elsewhere")
        deploy(connection, run, "elsewhere", "their-loans")
        foreign = add_client(connection, service.secrets, "elsewhere", "shop")
    app = make_app(service)
    there = World(service=service, run=run, key=key, second=second, foreign=foreign, app=app)
    there.http = there.browser()
    with there.http:
        there.mine, there.others = (
            there.ask(f"{i}", [{**CONTEXT, "score": 0.4 + i / 50}]).json()["decisions"][0] for i in (0, 1)
        )
        there.theirs = there.ask("0", key=foreign).json()["decisions"][0]
        there.members = {role: there.member(role) for role in INVITABLE}
        contested = there.opened(there.others["link"])
        form = {"csrf": token_of(contested.get("/my")), "grounds": "<script>alert(1)</script> I object\nlevel: error"}
        assert contested.post("/my/contest", data=form, headers=SAME).status_code == 303
        with service.database.reading() as connection:
            there.contest = connection.execute(select(contest.c.id)).scalar_one()
            there.version = deciding(connection, service.workspace, None)[0].id
        there.size = there.audited().size
        yield there
        assert there.audited().fault == ""
    patch.undo()
