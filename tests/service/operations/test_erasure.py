"""After somebody is erased nothing of theirs can be read, in any file; results and proofs stay."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from accordant.service.backup import back_up
from accordant.service.contests import Contestation
from accordant.service.erasure import erase
from accordant.service.export import write_export
from accordant.service.record.audit import audit
from accordant.service.record.receipt import make_receipt, verify_receipt
from accordant.service.schema import decision, event, person_key
from accordant.service.secrets import Erased

MARK, GROUNDS = "Zanzibar-7c1f", "my income was misread, says Quuxbert"


@pytest.fixture
def decided(service, client):
    """The row of a decision about somebody with a name of their own, who contested it; somebody else stays."""
    contexts = [{"score": 0.7812345, "branch": MARK}, {"score": 0.2, "branch": "south"}]
    told = service.decider.decide(client, "one", contexts).decisions
    with service.database.writing() as connection:
        rows = [connection.execute(select(decision).where(decision.c.id == each["id"])).one() for each in told]
        if rows[0].state == "decided":
            Contestation(service.keys).open(connection, rows[0], GROUNDS)
    return rows


def traces(tmp_path, *texts):
    """Return which files below a folder hold any of some texts, or of their usual codings."""
    wanted = [
        code for text in texts for code in (text.encode(), text.encode("utf-16-le"), text.encode().hex().encode())
    ]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"service.db", "service.db-wal", "service.keys.db"} <= {path.name for path in files}
    return [path.name for path in files if any(each in path.read_bytes() for each in wanted)]


def test_nothing_is_left_of_the_person_in_any_file(service, decided, tmp_path):
    gone, stays = (row.person for row in decided)
    with service.keys.database.reading() as connection:
        wrapped = connection.execute(select(person_key.c.wrapped).where(person_key.c.person == gone)).scalar_one()
    before = service.keys.key(gone)
    assert erase(service.database, service.keys, gone)
    back_up(service.database, tmp_path / "backup.jsonl")
    write_export(service.database, service.keys, tmp_path / "export.jsonl")
    assert traces(tmp_path, MARK, "Quuxbert", "0.7812345") == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path.name for path in files if bytes(wrapped) in path.read_bytes() or before in path.read_bytes()]
    with pytest.raises(Erased):
        service.keys.key(gone)
    assert len(service.keys.key(stays)) == 32


def test_before_that_the_export_has_it_and_the_backup_has_not(service, decided, tmp_path):
    back_up(service.database, tmp_path / "backup.jsonl")
    write_export(service.database, service.keys, tmp_path / "export.jsonl")
    assert traces(tmp_path, MARK) == ["export.jsonl"]


def test_results_and_proofs_stay(service, decided):
    gone, stays = decided
    with service.database.reading() as connection:
        before = connection.execute(select(decision.c.id, decision.c.action).order_by(decision.c.seq)).all()
    erase(service.database, service.keys, gone.person)
    with service.database.writing() as connection:
        assert connection.execute(select(decision.c.id, decision.c.action).order_by(decision.c.seq)).all() == before
        found = audit(connection, service.secrets)
        assert (found.fault, found.kinds["decision"], found.kinds["erasure"]) == ("", 2, 1)
        line = connection.execute(select(event.c.id).where(event.c.seq == stays.seq)).scalar_one()
        receipt = make_receipt(connection, service.secrets, line, service.keys.key(stays.person))
    assert verify_receipt(receipt).public["decision"] == stays.id


def test_the_export_says_who_was_erased(service, decided, tmp_path):
    gone, stays = decided
    erase(service.database, service.keys, gone.person)
    count = write_export(service.database, service.keys, tmp_path / "export.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "export.jsonl").read_text().splitlines()]
    assert len(lines) == count and [each["seq"] for each in lines] == list(range(count))
    about = {each["public"]["decision"]: each for each in lines if each["kind"] == "decision"}
    assert (about[gone.id]["private"], about[gone.id]["erased"]) == (None, True)
    assert about[stays.id]["private"]["context"] == {"score": 0.2, "branch": "south"}
    assert lines[-1]["kind"] == "export" and not about[stays.id]["erased"]
