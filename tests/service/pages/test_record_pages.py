"""The log on pages: read by owners and auditors, checked, signed; and figures for everybody."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from accordant.service.identity import INVITABLE
from accordant.service.record.checkpoint import Checkpoint
from accordant.service.record.log import read_head
from accordant.service.record.merkle import included_root
from accordant.service.schema import event
from tests.service.pages.conftest import CONTEXTS

READERS = {"owner", "auditor"}


@pytest.fixture
def auditor(member):
    return member("auditor")


def test_an_auditor_reads_acts_and_nothing_private(auditor, person):
    person().fill("/my/contest", "/my", grounds="My score is old.")
    page = auditor.get("/log").text
    for words in ("decision", "contest", "referral", "membership", "and a sealed part"):
        assert words in page
    assert "My score is old." not in page
    assert "branch" not in page
    only = auditor.get("/log?kind=contest").text
    assert only.count('<th scope="row" class="number">') == 1
    assert "<td>decision</td>" not in only


def test_events_are_turned_over_in_pages(auditor, service, client):
    service.decider.decide(client, "many", CONTEXTS * 12)
    page = auditor.get("/log").text
    assert "Earlier events" in page
    assert '<a href="/log/0">' in auditor.get("/log?before=3").text


def test_an_event_comes_with_its_proof(auditor, service, links):
    page = auditor.get("/log/2").text
    with service.database.reading() as connection:
        head = read_head(connection)
    assert head.tree.root.hex() in page
    hashes = [part.split("</code>")[0] for part in page.split("<li><code>")[1:]]
    first, *proof = [bytes.fromhex(each) for each in hashes]
    assert included_root(first, 2, head.tree.size, proof) == head.tree.root
    assert auditor.get("/log/99999").status_code == 404
    assert auditor.get("/log/x").status_code == 422


def test_the_log_is_checked_on_request(auditor, service, links):
    assert "The log holds" in auditor.fill("/log/check", "/log").text
    with service.database.writing() as connection:
        connection.execute(update(event).where(event.c.seq == 1).values(kind="other"))
    page = auditor.fill("/log/check", "/log").text
    assert "The log does not hold" in page
    assert "event 1 is not what was recorded" in page


def test_a_checkpoint_is_signed_and_taken_along(auditor, service, links):
    assert auditor.fill("/log/sign", "/log").status_code == 303
    with service.database.reading() as connection:
        size = read_head(connection).tree.size
    kept = auditor.get(f"/log/checkpoints/{size}.json").json()
    held = Checkpoint(
        kept["size"], kept["at"], *(bytes.fromhex(kept[name]) for name in ("root", "signature", "public_key"))
    )
    assert held.is_signed()
    assert auditor.get("/log/checkpoints/1.json").status_code == 404


@pytest.mark.few(2)
@pytest.mark.parametrize("role", [role for role in INVITABLE if role not in READERS])
def test_others_read_no_log(member, links, role):
    there = member(role)
    for path in ("/log", "/log/1", "/log/checkpoints/1.json"):
        assert there.get(path).status_code == 403
    for path in ("/log/check", "/log/sign"):
        assert there.fill(path, "/runs").status_code == 403


def test_figures_are_for_everybody_and_about_nobody(browser, service, client, links):
    there = browser()
    page = there.get("/figures")
    assert page.status_code == 200
    assert "Fewer than 20 decisions so far" in page.text
    service.decider.decide(client, "many", CONTEXTS * 5)
    page = there.get("/figures").text
    assert "of 20" in page
    assert "fewer than 5" in page
