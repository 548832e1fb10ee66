"""The log: one order, one chain, one tree, whoever appends."""

from __future__ import annotations

import json
from threading import Thread

import pytest
from sqlalchemy import select, text, update

from accordant.errors import AccordantError
from accordant.service.record import log
from accordant.service.record.audit import Audit, audit, audit_database
from accordant.service.record.checkpoint import read_checkpoint_file, sign_head
from accordant.service.record.log import Act, append, read_head, tree_part
from accordant.service.record.merkle import EMPTY, included_root, inclusion_proof, part_of
from accordant.service.schema import checkpoint, event, log_head, tree_block
from accordant.service.secrets import Secrets


def write(database, n, kind="note", at=None):
    with database.writing() as connection:
        return append(connection, [Act(kind, {"n": i}) for i in range(n)], at)


def test_events_follow_one_another(database):
    first, second = write(database, 1), write(database, 2)
    assert [line.seq for line in first + second] == [0, 1, 2]
    assert first[0].previous == EMPTY
    assert second[0].previous == first[0].hash
    assert second[1].previous == second[0].hash
    with database.reading() as connection:
        assert read_head(connection).root() == part_of([line.hash for line in first + second])(0, 3)


def test_the_bytes_of_a_leaf_hold_all_but_what_is_sealed(database):
    (line,) = write(database, 1)
    content = json.loads(line.content)
    assert content["public"] == {"n": 0}
    assert content["kind"] == "note"
    assert len(content["sealed"]) == 64


def test_a_clock_that_is_set_back_does_not_set_the_log_back(database):
    write(database, 1, at="2099-01-01T00:00:00.000000Z")
    (line,) = write(database, 1)
    assert line.at == "2099-01-01T00:00:00.000000Z"
    with database.reading() as connection:
        assert audit(connection).fault == ""


@pytest.mark.parametrize("n", [255, 256, 257, 515])
def test_kept_blocks_are_those_of_their_leaves(database, n):
    lines = write(database, n)
    leaves = [line.hash for line in lines]
    with database.reading() as connection:
        kept = connection.execute(select(tree_block.c.hash).order_by(tree_block.c.number)).scalars().all()
        expected = [part_of(leaves)(start, 256) for start in range(0, n // 256 * 256, 256)]
        assert [bytes(each) for each in kept] == expected
        part = tree_part(connection)
        for leaf in {0, n // 2, n - 1}:
            proof = inclusion_proof(part, leaf, n)
            assert included_root(leaves[leaf], leaf, n, proof) == part_of(leaves)(0, n)


def test_several_writers_make_one_chain(database):
    def many():
        for _ in range(10):
            write(database, 1)

    threads = [Thread(target=many) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    with database.reading() as connection:
        found = audit(connection)
    assert (found.size, found.fault, found.kinds) == (40, "", {"note": 40})


def test_a_transaction_that_fails_leaves_nothing(database):
    write(database, 1)

    def fail():
        with database.writing() as connection:
            append(connection, [Act("note")])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with database.reading() as connection:
        assert audit(connection).size == 1


CHANGES = {
    "a changed text": (update(event).where(event.c.seq == 300).values(public='{"n":7}'), "event 300 is not", 300),
    "a changed kind": (update(event).where(event.c.seq == 300).values(kind="other"), "event 300 is not", 300),
    "a changed time": (update(event).where(event.c.seq == 3).values(at="2001"), "event 3 is not", 3),
    "a changed seal": (update(event).where(event.c.seq == 2).values(sealed=b"x"), "event 2 is not", 2),
    "a changed hash": (update(event).where(event.c.seq == 2).values(hash=EMPTY), "event 2 is not", 2),
    "text that is no JSON": (update(event).where(event.c.seq == 4).values(public="{"), "event 4 cannot be read", 4),
    "a lost event": (text("delete from event where seq = 5"), "event 5 is missing", 5),
    "a lost end": (text("delete from event where seq >= 299"), "the log ends after 299 events; 301", None),
    "a changed block": (update(tree_block).values(hash=EMPTY), "the kept hash of block 0", 255),
    "a lost block": (text("delete from tree_block"), "the kept hash of block 0", 255),
    "a changed root": (update(checkpoint).values(root=EMPTY), "the checkpoint of 301 events has another root", 300),
    "a changed signature": (update(checkpoint).values(signature=bytes(64)), "is not signed by this service", 300),
    "a changed end": (update(log_head).values(last=EMPTY), "the log ends after 301 events", None),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("change", CHANGES)
def test_audit_names_the_first_bad_event(database, secrets, change):
    write(database, 301)
    with database.writing() as connection:
        sign_head(connection, secrets)
    with database.reading() as connection:
        before = audit(connection, secrets)
    assert (before.size, before.fault, before.checkpoints) == (301, "", 1)
    statement, words, seq = CHANGES[change]
    with database.writing() as connection:
        connection.execute(statement)
    with database.reading() as connection:
        found = audit(connection, secrets)
    assert words in found.fault
    assert found.seq == seq


def test_a_log_that_was_made_anew_does_not_have_the_signed_root(database, secrets):
    write(database, 3)
    with database.writing() as connection:
        signed = sign_head(connection, secrets)
    with database.writing() as connection:
        for name in ("event", "tree_block", "log_head"):
            connection.execute(text(f"delete from {name}"))
        log.begin(connection)
    write(database, 3, kind="forged")
    with database.reading() as connection:
        found = audit(connection)
    assert found.root != signed.root
    assert "has another root" in found.fault


def anew(database, secrets):
    """Let whoever owns database and secret make a whole log again, and sign it."""
    with database.writing() as connection:
        for name in ("event", "tree_block", "log_head", "checkpoint"):
            connection.execute(text(f"delete from {name}"))
        log.begin(connection)
    write(database, 5, kind="forged")
    with database.writing() as connection:
        sign_head(connection, secrets)


def test_a_checkpoint_that_was_kept_elsewhere_shows_a_log_that_was_made_anew(database, secrets):
    kept = []
    for _ in range(2):
        write(database, 2)
        with database.writing() as connection:
            kept.append(sign_head(connection, secrets))
    write(database, 1)
    with database.reading() as connection:
        found = audit(connection, secrets, kept[::-1])
    assert (found.fault, found.checkpoints, found.kept) == ("", 2, 2)
    anew(database, secrets)
    with database.reading() as connection:
        assert audit(connection, secrets).fault == ""  # nothing beside the kept ones can tell
        found = audit(connection, secrets, kept)
    assert found.fault == "the first 2 events are not those of the checkpoint that was kept elsewhere"
    assert (found.kept, found.seq) == (0, None)


def test_a_log_that_was_cut_off_is_shorter_than_a_kept_checkpoint(database, secrets):
    write(database, 7)
    with database.writing() as connection:
        kept = sign_head(connection, secrets)
    anew(database, secrets)
    with database.reading() as connection:
        assert "has 5 events; a checkpoint that was kept elsewhere has 7" in audit(connection, None, [kept]).fault


def test_a_kept_checkpoint_of_another_key_is_none_of_this_service(database, secrets):
    write(database, 2)
    with database.writing() as connection:
        kept = sign_head(connection, secrets)
    with database.reading() as connection:
        found = audit(connection, Secrets(bytes(32)), [kept])
    assert "not signed by this service" in found.fault


@pytest.mark.parametrize("part", [None, "checkpoint"])
def test_a_kept_checkpoint_is_read_from_its_file_or_a_receipt(database, secrets, tmp_path, part):
    write(database, 2)
    with database.writing() as connection:
        kept = sign_head(connection, secrets)
    file, told = tmp_path / "kept.json", kept.to_json()
    file.write_text(json.dumps(told if part is None else {part: told}))
    assert read_checkpoint_file(file) == kept
    for changed, words in (
        (told | {"size": 3}, "not what was signed"),
        ({"size": 2}, "root"),
        ([1], "kept.json"),
    ):
        file.write_text(json.dumps(changed))
        with pytest.raises(AccordantError, match=words):
            read_checkpoint_file(file)
    file.write_text("{")
    with pytest.raises(AccordantError, match="kept.json line 1 is not JSON"):
        read_checkpoint_file(file)


def test_one_is_not_several():
    one = Audit(1, EMPTY, {"client": 1}, 1, 0).words()
    assert one.startswith("1 event holds together, with 1 signed checkpoint: 1 client\n")
    many = Audit(1500, EMPTY, {"client": 1, "outcome": 1499}, 0, 1, "it was cut off").words()
    assert many == (
        "it was cut off\nBefore it, 1,500 events hold together, with 0 signed checkpoints and 1 kept elsewhere: "
        "1 client, 1,499 outcomes"
    )


def test_the_same_end_is_signed_once(database, secrets):
    write(database, 2)
    with database.writing() as connection:
        first, second = sign_head(connection, secrets), sign_head(connection, secrets)
    assert first == second
    assert first.is_signed()


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_audit_reads_a_database_by_its_file(database):
    write(database, 2)
    found = audit_database(str(database.file))
    assert found.to_json() == {
        "decisions": 0, "notes": 2, "events": 2, "root": found.root.hex(), "checkpoints": 0, "kept_checkpoints": 0,
        "holds": True, "fault": None, "event": None,
    }  # fmt: skip
