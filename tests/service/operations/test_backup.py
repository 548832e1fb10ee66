"""Backups: one moment, whole and checked on the way back, without keys, and without those who were erased since."""

from __future__ import annotations

import base64
import hashlib
import json
import threading

import pytest
from sqlalchemy import func, insert, select

from accordant.errors import DataError, InputError
from accordant.service.backup import LEFT_OUT, back_up, restore
from accordant.service.database import Database
from accordant.service.erasure import erase
from accordant.service.record.audit import audit
from accordant.service.record.checkpoint import sign_head
from accordant.service.schema import decision, event, outcome, person, sign_in_rate, tables
from accordant.service.secrets import Erased
from accordant.service.service import open_service

CONTEXTS = [{"score": 0.4, "branch": "north"}, {"score": 1.2, "branch": "south"}, {"score": 99.0, "branch": "abroad"}]


@pytest.fixture
def told(service, client):
    """Decisions of a service, whose log is signed."""
    answers = service.decider.decide(client, "one", CONTEXTS).decisions
    with service.database.writing() as connection:
        sign_head(connection, service.secrets)
        connection.execute(insert(sign_in_rate).values(source=b"x", tokens=1.0, at="2026"))
    return answers


@pytest.fixture
def elsewhere(tmp_path):
    made = Database.of(f"sqlite:///{tmp_path / 'elsewhere.db'}")
    yield made
    made.engine.dispose()


def rows(database):
    with database.reading() as connection:
        return {
            table.name: sorted(map(repr, connection.execute(select(table)).all()))
            for table in tables.sorted_tables if table.name not in LEFT_OUT
        }  # fmt: skip


def test_everything_comes_back_to_the_last_bit(service, told, elsewhere, tmp_path, client):
    made = back_up(service.database, tmp_path / "backup.jsonl")
    back = restore(tmp_path / "backup.jsonl", elsewhere, service.keys)
    assert (back.size, back.root, back.rows) == (made.size, made.root, made.rows)
    assert rows(elsewhere) == rows(service.database)
    with elsewhere.reading() as connection:
        found = audit(connection, service.secrets)
        assert (found.fault, found.size, found.checkpoints) == ("", made.size, 1)
        assert connection.execute(select(func.count()).select_from(sign_in_rate)).scalar_one() == 0


def test_a_backup_of_an_earlier_version_with_the_same_tables_comes_back(service, told, elsewhere, tmp_path):
    made = back_up(service.database, tmp_path / "backup.jsonl")
    first, *lines, _ = (tmp_path / "backup.jsonl").read_bytes().splitlines(keepends=True)
    lines = [first.replace(b'"schema":"0002"', b'"schema":"0001"'), *lines]
    assert lines[0] != first
    last = json.dumps({"rows": made.rows, "sha256": hashlib.sha256(b"".join(lines)).hexdigest()}).encode()
    (tmp_path / "earlier.jsonl").write_bytes(b"".join([*lines, last, b"\n"]))
    assert restore(tmp_path / "earlier.jsonl", elsewhere, service.keys).root == made.root
    assert rows(elsewhere) == rows(service.database)


def test_a_restored_service_answers_the_same_and_goes_on(service, told, tmp_path, client):
    back_up(service.database, tmp_path / "backup.jsonl")
    file, keys = tmp_path / "again.db", str(service.keys.database.url)
    (tmp_path / "again.secret").write_bytes(base64.b64encode(service.secrets.secret))
    restore(tmp_path / "backup.jsonl", Database.of(f"sqlite:///{file}"), service.keys)
    again = open_service(f"sqlite:///{file}", keys)
    assert again.decider.decide(client, "one", CONTEXTS).decisions == told
    assert len(again.decider.decide(client, "two", CONTEXTS[:1]).decisions) == 1
    with again.database.reading() as connection:
        assert audit(connection, again.secrets).fault == ""
    again.decider.runs.close()


def test_a_backup_is_of_one_moment_while_others_write(service, told, elsewhere, tmp_path, client):
    over, count = threading.Event(), []

    def write():
        while not over.is_set():
            count.append(service.decider.decide(client, f"w{len(count)}", CONTEXTS[:1]))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        made = [back_up(service.database, tmp_path / f"{i}.jsonl") for i in range(3)]
    finally:
        over.set()
        thread.join()
    assert made[2].size > made[0].size and count
    assert restore(tmp_path / "2.jsonl", elsewhere, service.keys).size == made[2].size


def test_a_backup_holds_no_keys_and_without_them_nothing_is_read(service, told, elsewhere, tmp_path, keys):
    back_up(service.database, tmp_path / "backup.jsonl")
    content = (tmp_path / "backup.jsonl").read_text()
    assert "abroad" not in content and "wrapped" not in content and service.secrets.secret.hex() not in content
    restore(tmp_path / "backup.jsonl", elsewhere, keys)  # a store that knows nobody
    with elsewhere.reading() as connection:
        assert audit(connection).fault == ""
        who = connection.execute(select(decision.c.person)).scalars().first()
    with pytest.raises(Erased):
        keys.key(who)


def test_whoever_was_erased_since_stays_erased(service, told, elsewhere, tmp_path):
    back_up(service.database, tmp_path / "backup.jsonl")
    with service.database.reading() as connection:
        who = connection.execute(select(decision.c.person).where(decision.c.id == told[0]["id"])).scalar_one()
    erase(service.database, service.keys, who)
    assert restore(tmp_path / "backup.jsonl", elsewhere, service.keys).erased == 1
    with elsewhere.reading() as connection:
        assert connection.execute(select(person.c.erased_at).where(person.c.id == who)).scalar_one() is not None
        found = audit(connection, service.secrets)
        assert (found.fault, found.kinds["erasure"]) == ("", 1)


def changed(lines, how):
    if how == "a hash":
        return [line.replace('"action":"', '"action":"X', 1) if '["decision"' in line else line for line in lines]
    if how == "no end":
        return lines[:-1]
    if how == "a row less":
        return [line for i, line in enumerate(lines) if i != 3]
    if how == "another root":
        return [lines[0].replace('"root":"', '"root":"00'), *lines[1:]]
    if how == "no table":
        return [lines[0], '["nobody",{}]', *lines[1:]]
    if how == "no column":
        return [lines[0], '["workspace",{"id":"a"}]', *lines[1:]]
    if how == "another schema":
        return [lines[0].replace('"schema":"', '"schema":"x'), *lines[1:]]
    if how == "no json":
        return ["hello"]
    if how == "more":
        return [*lines, lines[-1]]
    return []


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "how",
    [
        "a hash",
        "no end",
        "a row less",
        "another root",
        "no table",
        "no column",
        "another schema",
        "no json",
        "more",
        "nothing",
    ],
)
def test_a_backup_that_was_changed_is_refused_and_leaves_nothing(service, told, elsewhere, tmp_path, how):
    back_up(service.database, tmp_path / "backup.jsonl")
    lines = (tmp_path / "backup.jsonl").read_text().splitlines()
    other = changed(lines, how)
    assert other != lines
    (tmp_path / "other.jsonl").write_text("\n".join(other))
    with pytest.raises(DataError, match=r"other\.jsonl|a row of workspace"):
        restore(tmp_path / "other.jsonl", elsewhere, service.keys)
    with elsewhere.reading() as connection:
        assert connection.execute(select(func.count()).select_from(event)).scalar_one() == 0
        assert connection.execute(select(outcome)).all() == []
    restore(tmp_path / "backup.jsonl", elsewhere, service.keys)


def test_a_forged_log_with_a_right_hash_is_refused(service, told, elsewhere, tmp_path):
    back_up(service.database, tmp_path / "backup.jsonl")
    lines = [line for line in (tmp_path / "backup.jsonl").read_text().splitlines()[:-1]]
    at = next(i for i, line in enumerate(lines) if '["event"' in line and '\\"action\\":' in line)
    lines[at] = lines[at].replace('\\"version\\":1', '\\"version\\":2')
    content = "".join(line + "\n" for line in lines)
    end = json.dumps({"rows": len(lines) - 1, "sha256": hashlib.sha256(content.encode()).hexdigest()})
    (tmp_path / "forged.jsonl").write_text(content + end + "\n")
    with pytest.raises(DataError, match="is not what was recorded"):
        restore(tmp_path / "forged.jsonl", elsewhere, service.keys)


def test_a_record_is_not_restored_over(service, told, tmp_path):
    back_up(service.database, tmp_path / "backup.jsonl")
    with pytest.raises(InputError, match="holds a record already"):
        restore(tmp_path / "backup.jsonl", service.database, service.keys)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        restore(tmp_path / "nowhere.jsonl", Database.of(f"sqlite:///{tmp_path / 'new.db'}"), service.keys)
