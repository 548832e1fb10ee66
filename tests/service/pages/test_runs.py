"""Runs and versions: looked at, compared, deployed after a look at what changes, rolled back."""

from __future__ import annotations

import re

import pytest

from accordant.service.deployments import all_deployments
from accordant.service.identity import INVITABLE

NAME = "loans-of-three"


@pytest.fixture
def owner(member):
    return member("owner")


def versions(service):
    with service.database.reading() as connection:
        return {each.version: each for each in all_deployments(connection, service.workspace)}


def states(service):
    return {number: each.state for number, each in versions(service).items()}


def deploy(there, run, mode="active", strategy="maximin", name=NAME):
    asked = f"/deployments/new?run={run}&strategy={strategy}&name={name}&mode={mode}"
    return there.fill("/deployments/new", asked, run=run, strategy=strategy, name=name, mode=mode)


@pytest.fixture
def strategy(finished):
    """A strategy that was not deployed yet."""
    chosen = finished.record.selected
    board = finished.record.test.leaderboard
    return next(row.strategy for row in board
                if finished.record.strategies[row.strategy].selectable and row.strategy != chosen)  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("role", INVITABLE)
def test_everybody_with_a_role_sees_runs_and_versions(member, finished, role):
    there = member(role)
    page = there.get("/runs").text
    assert "Three decisions on a loan" in page
    one = there.get(f"/runs/{finished.head}").text
    assert "Strategies that may be deployed" in one
    assert ("Look at what changes" in one) == (role == "owner")
    assert f"{NAME} v1" in one
    deployed = there.get("/deployments").text
    assert ("Stop v1" in deployed) == (role == "owner")


def test_the_report_stands_under_its_own_policy(member, finished):
    answer = member("analyst").get(f"/runs/{finished.head}/report")
    policy = answer.headers["content-security-policy"]
    assert answer.text == finished.page()
    assert re.search(r"script-src 'sha256-[\w+/=]+'", policy)
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("digest", ["nothing", "0" * 64, "../etc"])
def test_an_unknown_run_is_not_there(member, digest):
    there = member("analyst")
    assert there.get(f"/runs/{digest}").status_code == 404
    assert there.get(f"/runs/{digest}/report").status_code == 404
    assert there.get("/runs/compare", params={"first": digest, "second": digest}).status_code == 404


def test_two_runs_are_compared(member, finished):
    page = member("analyst").get("/runs/compare", params={"first": finished.head, "second": finished.head})
    assert page.status_code == 200
    assert "Nothing: neither data, seed nor case differ." in page.text
    assert "composite score" in page.text


def test_a_look_at_what_changes_changes_nothing(owner, finished, service, strategy):
    page = owner.get("/deployments/new", params={"run": finished.head, "strategy": strategy, "name": NAME})
    assert page.status_code == 200
    assert f"{NAME} v1" in page.text
    assert "decides no more" in page.text
    assert states(service) == {1: "active"}


def test_deploy_shadow_activate_and_roll_back(owner, finished, service, strategy, client):
    assert deploy(owner, finished.head, "shadow", strategy).status_code == 303
    assert states(service) == {1: "active", 2: "shadow"}
    service.decider.decide(client, "one", [{"score": 0.4, "branch": "south"}])
    assert re.search(r"1 decisions; the silent version agreed in [01] of 1", owner.get("/deployments").text)
    two = versions(service)[2].id
    assert owner.fill(f"/deployments/{two}/activate", f"/deployments/{two}/activate").status_code == 303
    assert states(service) == {1: "retired", 2: "active"}
    assert "Roll back to v1" in owner.get("/deployments").text
    one = versions(service)[1].id
    page = owner.get(f"/deployments/{one}/activate")
    assert f"{NAME} v2" in page.text
    assert owner.fill(f"/deployments/{one}/activate", f"/deployments/{one}/activate").status_code == 303
    assert states(service) == {1: "active", 2: "retired"}
    assert owner.fill(f"/deployments/{one}/retire", f"/deployments/{one}/retire").status_code == 303
    assert states(service) == {1: "retired", 2: "retired"}
    assert "Nothing decides under this name" in owner.get("/deployments").text


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"run": "0" * 64}, 404), ({"strategy": "magic"}, 422), ({"name": "  "}, 422), ({"mode": "loud"}, 422),
        ({"name": "x" * 201}, 422), ({"name": "elsewhere", "mode": "shadow"}, 422),
    ],
)  # fmt: skip
def test_what_cannot_be_deployed_is_refused(owner, finished, service, strategy, changes, status):
    form = {"run": finished.head, "strategy": strategy, "name": NAME, "mode": "active", **changes}
    assert owner.fill("/deployments/new", "/runs", **form).status_code == status
    assert states(service) == {1: "active"}


@pytest.mark.few(2)
@pytest.mark.parametrize("role", [role for role in INVITABLE if role != "owner"])
def test_only_an_owner_deploys(member, finished, service, strategy, role):
    there, one = member(role), versions(service)[1].id
    asked = {"run": finished.head, "strategy": strategy, "name": NAME, "mode": "active"}
    assert there.get("/deployments/new", params=asked).status_code == 403
    assert there.fill("/deployments/new", "/runs", **asked).status_code == 403
    for act in ("activate", "retire"):
        assert there.get(f"/deployments/{one}/{act}").status_code == 403
        assert there.fill(f"/deployments/{one}/{act}", "/runs").status_code == 403
    assert states(service) == {1: "active"}


@pytest.mark.parametrize("path", ["/deployments/nothing/activate", "/deployments/nothing/burn"])
def test_what_is_no_version_or_act_is_not_there(owner, path):
    assert owner.get(path).status_code == 404
    assert owner.fill(path, "/runs").status_code == 404
