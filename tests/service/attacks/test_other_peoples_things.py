"""Reaching for what belongs to others: decisions, reviews, workspaces, jobs, files; every cell of the table of roles."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import select, update

from accordant.service.clients import add_client, revoke_client
from accordant.service.erasure import erase
from accordant.service.identity import INVITABLE
from accordant.service.permissions import ALLOWED
from accordant.service.schema import contest, decision, deployment
from tests.service.attacks.conftest import CONTEXT, SAME, token_of


def test_a_link_that_is_nearly_right_opens_nothing(world):
    link = world.mine["link"]
    for wrong in (
        link[:-1],
        link + "A",
        link.swapcase(),
        link[:-1] + ("A" if link[-1] != "A" else "B"),
        "/my/%00",
        "/my/.",
    ):
        assert world.browser().get(wrong).status_code in {404, 307}
        assert world.browser().post(wrong).status_code in {404, 405, 307}


def test_the_identifier_of_a_decision_is_no_link_to_it(world):
    assert world.browser().get(f"/my/{world.mine['id']}").status_code == 404


@pytest.mark.parametrize("path", ["/my", "/my/receipt.json", "/my/export.json"])
def test_whoever_opened_one_decision_sees_no_other(world, path):
    there = world.opened(world.mine["link"])
    shown = there.get(path, params={"id": world.others["id"], "decision": world.others["id"], "person": "x"})
    assert shown.status_code == 200
    assert world.others["id"] not in shown.text and world.others["link"] not in shown.text
    assert world.browser().get(path).status_code == 404


def test_whoever_opened_one_decision_contests_no_other(world):
    there, fresh = world.opened(world.mine["link"]), world.ask("contested by others", [{**CONTEXT, "score": 0.9}])
    other = fresh.json()["decisions"][0]["id"]
    form = {"csrf": token_of(there.get("/my")), "grounds": "", "id": other, "decision": other, "person": other}
    assert there.post("/my/contest", data=form, headers=SAME).status_code == 422
    with world.service.database.reading() as connection:
        assert connection.execute(select(decision.c.state).where(decision.c.id == other)).scalar_one() == "decided"


def test_an_opened_decision_is_no_role(world):
    there = world.opened(world.mine["link"])
    for path in ("/people", "/reviews", f"/reviews/{world.contest}", "/log", "/deployments", "/jobs"):
        assert there.get(path).headers.get("location") == "/sign-in"


def test_a_role_is_no_opened_decision(world):
    for there in world.members.values():
        assert there.get("/my").status_code == 404
        assert there.get("/my/receipt.json").status_code == 404


def test_the_cookie_of_one_kind_is_not_taken_for_the_other(world):
    there = world.opened(world.mine["link"])
    stolen = world.browser()
    stolen.cookies.set("accordant_session", there.cookies["accordant_decision"])
    assert stolen.get("/people").status_code in {303, 403}


def test_programs_of_other_workspaces_neither_use_nor_see_what_is_here(world):
    assert world.ask("w1", key=world.foreign, deployment="loans-of-three").status_code == 422
    told = world.ask("w2", key=world.foreign, deployment="nowhere").json()["detail"]
    assert "loans-of-three" not in told and "their-loans" in told
    outcome = {"outcomes": [{"decision": world.mine["id"], "outcome": "Repaid"}]}
    headers = {"Authorization": f"Bearer {world.foreign}"}
    assert world.http.post("/v1/outcomes", json=outcome, headers=headers).status_code == 422


def test_what_is_elsewhere_is_not_there_for_people_here(world):
    with world.service.database.reading() as connection:
        there = connection.execute(select(deployment.c.id).where(deployment.c.workspace == "elsewhere")).scalar_one()
    owner = world.members["owner"]
    for act in ("retire", "activate"):
        form = {"csrf": token_of(owner.get("/people")), "sure": "yes"}
        assert owner.post(f"/deployments/{there}/{act}", data=form, headers=SAME).status_code == 404
    with world.service.database.reading() as connection:
        state = connection.execute(select(deployment.c.state).where(deployment.c.id == there)).scalar_one()
    assert state == "active" and "their-loans" not in owner.get("/deployments").text


def test_two_programs_may_use_the_same_key_and_learn_nothing_of_each_other(world):
    mine, theirs = world.ask("same"), world.ask("same", [{**CONTEXT, "score": 0.7}], key=world.second)
    assert mine.status_code == theirs.status_code == 200
    assert mine.json()["decisions"][0]["id"] != theirs.json()["decisions"][0]["id"]
    assert world.ask("same").content == mine.content


@pytest.mark.parametrize("act", ["", "/cancel", "/retry", "/result"])
def test_jobs_of_others_are_not_there(world, act):
    headers = {"Authorization": f"Bearer {world.key}", "Idempotency-Key": "job", "Content-Type": "application/x-ndjson"}
    made = world.http.post("/v1/jobs/decisions", content=b'{"score": 0.4, "branch": "south"}\n', headers=headers)
    identifier = made.json().get("id", "0" * 32)
    method = "POST" if act in {"/cancel", "/retry"} else "GET"
    for key, allowed in ((world.second, False), (world.foreign, False), ("acc_x", False)):
        answer = world.http.request(method, f"/v1/jobs/{identifier}{act}", headers={"Authorization": f"Bearer {key}"})
        assert (answer.status_code in {404, 401, 405}) is not allowed


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/secrets", "/static/..%2f..%2fsecrets.css", "/runs/..%2f..%2fetc%2fpasswd", "/runs/%2e%2e/report",
     "/log/checkpoints/..%2f1.json", "/log/-1", "/log/1e9", "/log/99999999999999999999999", "/v1/jobs/..%2f..%2f", "/%2e%2e/%2e%2e/etc/passwd"],
)  # fmt: skip
def test_paths_do_not_lead_out(world, path):
    answer = world.members["owner"].get(path)
    assert answer.status_code in {404, 405, 422} and "root:" not in answer.text


@pytest.mark.parametrize(
    "key", ["", "acc_", "Bearer", " ", "acc_" + "A" * 32, "a" * 5000, "acc_\x00".encode(), "é".encode()]
)
def test_guessed_keys_are_refused_alike(world, key):
    given = key if isinstance(key, bytes) else key.encode()
    answer = world.http.post(
        "/v1/decisions",
        json={"contexts": [CONTEXT]},
        headers={"Authorization": b"Bearer " + given, "Idempotency-Key": "1"},
    )
    assert (answer.status_code, answer.json()) == (401, {"detail": "no client has this key"})


def test_parts_and_variants_of_a_key_are_refused(world):
    for key in (world.key[:-1], world.key + "A", world.key.lower(), world.key.upper(), world.key[4:], world.key[::-1]):
        assert world.ask("variant", key=key).status_code == 401


def test_a_key_that_was_revoked_is_refused_at_once_and_its_name_gives_nothing_back(world):
    with world.service.database.writing() as connection:
        key = add_client(connection, world.service.secrets, world.service.workspace, "short lived")
    assert world.ask("r1", key=key).status_code == 200
    with world.service.database.writing() as connection:
        revoke_client(connection, world.service.workspace, "short lived")
        add_client(connection, world.service.secrets, world.service.workspace, "short lived")
    assert world.ask("r1", key=key).status_code == 401


def test_signing_in_says_nothing_of_what_was_wrong_and_takes_the_same_time(world):
    made, times, texts = world.invited("auditor"), {"name": [], "code": []}, set()
    for _ in range(2):
        for kind, form in (
            ("name", {"name": "NOBODYXX", "code": made.code}),
            ("code", {"name": made.handle, "code": "x"}),
        ):
            begun = time.thread_time()
            answer = world.browser().post("/sign-in", data=form)
            times[kind].append(time.thread_time() - begun)
            texts.add((answer.status_code, answer.text))
    assert len(texts) == 1
    assert min(times["name"]) < 3 * min(times["code"]) + 0.02 and min(times["code"]) < 3 * min(times["name"]) + 0.02


def test_codes_cannot_be_tried_out(world):
    made = world.invited("auditor")
    for wrong in range(5):
        assert world.browser().post("/sign-in", data={"name": made.handle, "code": f"x{wrong}"}).status_code == 422
    assert world.browser().post("/sign-in", data={"name": made.handle, "code": made.code}).status_code == 422
    assert world.browser().post(f"/join/{made.token}").status_code == 303


def test_an_erased_person_is_gone_by_every_way(world):
    told = world.ask("to be erased", [{**CONTEXT, "score": 0.77}]).json()["decisions"][0]
    there = world.opened(told["link"])
    with world.service.database.reading() as connection:
        who = connection.execute(select(decision.c.person).where(decision.c.id == told["id"])).scalar_one()
    erase(world.service.database, world.service.keys, who)
    assert there.get("/my").status_code in {404, 410}
    assert world.browser().get(told["link"]).status_code == 410
    assert world.browser().post(told["link"]).status_code == 410
    assert world.ask("to be erased", [{**CONTEXT, "score": 0.77}]).status_code == 410


def test_whoever_answered_does_not_answer_the_same_decision_again(world):
    told = world.ask("reviewed", [{**CONTEXT, "score": 0.55}]).json()["decisions"][0]
    person, reviewer = world.opened(told["link"]), world.member("reviewer")
    objection = {"csrf": token_of(person.get("/my")), "grounds": "wrong"}
    assert person.post("/my/contest", data=objection, headers=SAME).status_code == 303
    with world.service.database.reading() as connection:
        number = connection.execute(select(contest.c.id).where(contest.c.decision == told["id"])).scalar_one()
    form = {"csrf": token_of(reviewer.get(f"/reviews/{number}")), "result": "remitted", "reasons": "again"}
    assert reviewer.post(f"/reviews/{number}", data=form, headers=SAME).status_code == 303
    assert reviewer.post(f"/reviews/{number}", data=form, headers=SAME).status_code in {403, 404, 409}
    with world.service.database.writing() as connection:
        connection.execute(update(decision).where(decision.c.id == told["id"]).values(state="contested"))
        connection.execute(update(contest).where(contest.c.id == number).values(state="open"))
    form["result"] = "upheld"
    assert reviewer.post(f"/reviews/{number}", data=form, headers=SAME).status_code == 409


PAGES = {
    "see_runs": ("GET", "/runs", {}),
    "deploy": ("POST", "/deployments/new", {"run": "0" * 64}),
    "manage_clients": ("POST", "/people/program/revoke", {"name": "nobody"}),
    "invite": ("GET", "/people", {}),
    "review": ("POST", "/reviews/{contest}", {"result": "", "reasons": ""}),
    "see_reviews": ("GET", "/reviews", {}),
    "see_statistics": ("GET", "/deployments/{version}/monitor", {}),
    "read_log": ("GET", "/log", {}),
    "read_decision": ("GET", "/reviews/{contest}", {}),
    "start_job": ("POST", "/jobs", {"case": "no such case"}),
}
"""For each act of people with roles: a request that does it, or fails only after it was allowed."""


@pytest.mark.few(4)
@pytest.mark.parametrize("role", INVITABLE)
@pytest.mark.parametrize("act", PAGES)
def test_every_cell_of_the_table(world, role, act):
    method, path, fields = PAGES[act]
    there = world.members[role]
    if method == "POST":
        fields = {"csrf": token_of(there.get("/welcome")), **fields}
    answer = there.request(
        method, path.format(contest=world.contest, version=world.version), data=fields or None, headers=SAME
    )
    assert (answer.status_code != 403) is (act in ALLOWED[role]), answer.text[:300]
    assert answer.status_code < 500


@pytest.mark.parametrize("act", PAGES)
def test_nobody_is_in_no_cell(world, act):
    method, path, fields = PAGES[act]
    answer = world.browser().request(
        method, path.format(contest=world.contest, version=world.version), data=fields or None, headers=SAME
    )
    assert answer.status_code in ({303} if method == "GET" else {401})
    program = world.browser().request(
        method,
        path.format(contest=world.contest, version=world.version),
        data=fields or None,
        headers={"Authorization": f"Bearer {world.key}"},
    )
    assert program.status_code in ({303} if method == "GET" else {401})
