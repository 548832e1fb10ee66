"""After somebody is erased nothing of theirs can be read, in any file; results and proofs stay."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import NullPool, create_engine, select

from accordant.service.backup import back_up
from accordant.service.contests import Contestation
from accordant.service.erasure import erase
from accordant.service.export import write_export
from accordant.service.record.audit import audit
from accordant.service.record.receipt import make_receipt, verify_receipt
from accordant.service.schema import decision, event, person_key
from accordant.service.secrets import Erased

MARK, GROUNDS = "Zanzibar-7c1f", "my income was misread, says Quuxbert"
IDEMPOTENCY = "application of Xylander"


@pytest.fixture
def decided(service, client):
    """Rows of decisions: about somebody from a place of their own, somebody who contested, and somebody who stays."""
    contexts = [
        {"score": 0.1, "branch": MARK}, {"score": 0.7812345, "branch": "north"}, {"score": 0.2, "branch": "south"},
    ]  # fmt: skip
    told = service.decider.decide(client, IDEMPOTENCY, contexts).decisions
    with service.database.writing() as connection:
        rows = [connection.execute(select(decision).where(decision.c.id == each["id"])).one() for each in told]
        Contestation(service.keys).contest(connection, rows[1], GROUNDS)
    return rows


@pytest.fixture
def files(request, address, tmp_path):
    """A function that returns all files in which a service, its backups and exports can leave anything."""
    folders, others = [tmp_path], set()
    if address.startswith("postgresql"):
        data = request.getfixturevalue("cluster").folder / "data"
        with create_engine(address, poolclass=NullPool).connect() as connection:
            own = connection.exec_driver_sql("SELECT oid FROM pg_database WHERE datname = current_database()").scalar()
        folders.append(data)
        databases = {folder for folder in (data / "base").iterdir() if folder.name.isdigit()}  # beside temporary files
        others = {folder for folder in databases if folder.name != str(own)}

    def now():
        found = [
            path
            for folder in folders
            for path in folder.rglob("*")
            if path.is_file() and others.isdisjoint(path.parents)
        ]
        names = {path.name for path in found}
        assert "service.keys.db" in names and ({"service.db", "service.db-wal"} <= names or "PG_VERSION" in names)
        return found

    return now


def traces(files, *texts):
    """Return which files hold any of some texts, or of their usual codings."""
    wanted = [
        code for text in texts for code in (text.encode(), text.encode("utf-16-le"), text.encode().hex().encode())
    ]
    return [path.name for path in files() if holds_any(path, wanted)]


def holds_any(path, wanted):
    held = content(path)
    return any(each in held for each in wanted)


def content(path):
    """Return what a file holds; nothing if the database took it away meanwhile."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def test_nothing_is_left_of_the_person_in_any_file(service, decided, tmp_path, files):
    *gone, stays = (row.person for row in decided)
    with service.keys.database.reading() as connection:
        wrapped = connection.execute(select(person_key.c.wrapped).where(person_key.c.person.in_(gone))).scalars().all()
    before = list(service.keys.keys(gone).values())
    assert len(wrapped) == len(before) == 2
    assert all(erase(service.database, service.keys, who) for who in gone)
    back_up(service.database, tmp_path / "backup.jsonl")
    write_export(service.database, service.keys, tmp_path / "export.jsonl")
    assert traces(files, MARK, "Quuxbert", "0.7812345", IDEMPOTENCY) == []
    keys = [*map(bytes, wrapped), *before]
    assert not [path.name for path in files() if holds_any(path, keys)]
    for who in gone:
        with pytest.raises(Erased):
            service.keys.key(who)
    assert len(service.keys.key(stays)) == 32


def test_before_that_the_export_has_it_and_the_backup_has_not(service, decided, tmp_path, files):
    back_up(service.database, tmp_path / "backup.jsonl")
    write_export(service.database, service.keys, tmp_path / "export.jsonl")
    assert traces(files, MARK) == ["export.jsonl"]


def test_results_and_proofs_stay(service, decided):
    gone, _, stays = decided
    with service.database.reading() as connection:
        before = connection.execute(select(decision.c.id, decision.c.action).order_by(decision.c.seq)).all()
    erase(service.database, service.keys, gone.person)
    with service.database.writing() as connection:
        assert connection.execute(select(decision.c.id, decision.c.action).order_by(decision.c.seq)).all() == before
        found = audit(connection, service.secrets)
        assert (found.fault, found.kinds["decision"], found.kinds["erasure"]) == ("", 3, 1)
        line = connection.execute(select(event.c.id).where(event.c.seq == stays.seq)).scalar_one()
        receipt = make_receipt(connection, service.secrets, line, service.keys.key(stays.person))
    assert verify_receipt(receipt).public["decision"] == stays.id


def test_the_export_says_who_was_erased(service, decided, tmp_path):
    gone, _, stays = decided
    erase(service.database, service.keys, gone.person)
    count = write_export(service.database, service.keys, tmp_path / "export.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "export.jsonl").read_text().splitlines()]
    assert len(lines) == count and [each["seq"] for each in lines] == list(range(count))
    about = {each["public"]["decision"]: each for each in lines if each["kind"] == "decision"}
    assert (about[gone.id]["private"], about[gone.id]["erased"]) == (None, True)
    assert about[stays.id]["private"]["context"] == {"score": 0.2, "branch": "south"}
    assert lines[-1]["kind"] == "export" and not about[stays.id]["erased"]
