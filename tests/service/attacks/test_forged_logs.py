"""A log that whoever owns the database changes: cut off, reordered, made anew; each is found by what was signed before."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, insert, select, update

from accordant.service.record.audit import audit
from accordant.service.record.checkpoint import sign_head
from accordant.service.record.log import Act, Event, Head, append, begin, read_head
from accordant.service.record.merkle import EMPTY
from accordant.service.schema import checkpoint, decision, event, log_head, tree_block
from accordant.service.secrets import Secrets

CONTEXTS = [{"score": i / 10, "branch": "south"} for i in range(6)]


@pytest.fixture
def signed(service, client):
    """A service whose log was signed after six decisions."""
    service.decider.decide(client, "one", CONTEXTS)
    with service.database.writing() as connection:
        sign_head(connection, service.secrets)
        append(connection, [Act("note", {"n": i}) for i in range(3)])
    return service


def rewrite(connection, events):
    """Make the whole log anew from events, as somebody would who knows how it is made."""
    for table in (event, tree_block, log_head):
        connection.execute(delete(table))
    begin(connection)
    for each in events:
        append(connection, [Act(each["kind"], each["public"], each["person"], id=each["id"])], each["at"])


def cut_the_end(connection):
    last = connection.execute(select(event.c.seq).order_by(event.c.seq.desc())).scalars().first()
    connection.execute(delete(event).where(event.c.seq == last))


def cut_the_end_and_mend_the_head(connection):
    rows = connection.execute(select(event).order_by(event.c.seq)).all()[:-1]
    tree = Head().tree
    for row in rows:
        tree = tree.append(bytes(row.hash))
    connection.execute(delete(event).where(event.c.seq > rows[-1].seq))
    connection.execute(
        update(log_head).values(size=tree.size, last=rows[-1].hash, at=rows[-1].at, frontier=tree.to_bytes())
    )


def cut_behind_what_was_signed(connection):
    size = connection.execute(select(checkpoint.c.size)).scalar_one()
    rows = connection.execute(select(event).order_by(event.c.seq)).all()[: size - 1]
    tree = Head().tree
    for row in rows:
        tree = tree.append(bytes(row.hash))
    connection.execute(delete(event).where(event.c.seq > rows[-1].seq))
    connection.execute(
        update(log_head).values(size=tree.size, last=rows[-1].hash, at=rows[-1].at, frontier=tree.to_bytes())
    )


def empty(connection):
    connection.execute(delete(event))
    connection.execute(update(log_head).values(size=0, last=EMPTY, at="", frontier=b""))


def take_one_out(connection):
    connection.execute(delete(event).where(event.c.seq == 3))


def exchange_two(connection):
    connection.execute(update(event).where(event.c.seq == 3).values(seq=10**6))
    connection.execute(update(event).where(event.c.seq == 4).values(seq=3))
    connection.execute(update(event).where(event.c.seq == 10**6).values(seq=4))


def change_a_text(connection):
    connection.execute(update(event).where(event.c.seq == 4).values(public='{"action":"Deny"}'))


def change_a_text_and_its_hash(connection):
    row = connection.execute(select(event).where(event.c.seq == 4)).one()
    public = row.public.replace('"action":"', '"action":"X')
    line = Event.of(row._replace(public=public) if hasattr(row, "_replace") else row)
    connection.execute(update(event).where(event.c.seq == 4).values(public=public, hash=line.hash))


def change_a_time(connection):
    connection.execute(update(event).where(event.c.seq == 4).values(at="2001-01-01T00:00:00.000000Z"))


def change_what_is_sealed(connection):
    connection.execute(update(event).where(event.c.seq == 5).values(sealed=b"something else"))


def change_whom_it_is_about(connection):
    connection.execute(update(event).where(event.c.seq == 5).values(person="0" * 32))


def change_a_kind(connection):
    connection.execute(update(event).where(event.c.seq == 5).values(kind="note"))


def write_one_more(connection):
    row = connection.execute(select(event).order_by(event.c.seq.desc()).limit(1)).one()
    connection.execute(insert(event).values(dict(row._mapping) | {"seq": row.seq + 1, "id": "f" * 32}))


def make_all_anew(connection):
    import json

    rows = connection.execute(select(event).order_by(event.c.seq)).all()
    events = [
        {"kind": row.kind, "public": json.loads(row.public), "person": row.person, "id": row.id, "at": row.at}
        for row in rows
    ]
    events[4]["public"]["action"] = "Deny"
    rewrite(connection, events)


def take_the_signature(connection):
    connection.execute(update(checkpoint).values(signature=b"0" * 64))


def sign_another_root(connection):
    connection.execute(update(checkpoint).values(root=b"1" * 32))


def change_the_action_beside_the_log(connection):
    connection.execute(update(decision).values(action="Deny"))


def add_a_decision_beside_the_log(connection):
    row = connection.execute(select(decision).limit(1)).one()
    connection.execute(insert(decision).values(dict(row._mapping) | {"id": "f" * 32, "position": 99, "token": b"x"}))


def take_a_decision_away(connection):
    first = connection.execute(select(decision.c.id).limit(1)).scalar_one()
    connection.execute(delete(decision).where(decision.c.id == first))


FORGERIES = [
    cut_the_end, cut_behind_what_was_signed, empty, take_one_out, exchange_two, change_a_text,
    change_a_text_and_its_hash, change_a_time, change_what_is_sealed, change_whom_it_is_about, change_a_kind,
    write_one_more, make_all_anew, take_the_signature, sign_another_root, change_the_action_beside_the_log,
    add_a_decision_beside_the_log, take_a_decision_away,
]  # fmt: skip


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda each: each.__name__)
def test_a_forged_log_is_found(signed, forge):
    with signed.database.reading() as connection:
        assert audit(connection, signed.secrets).fault == ""
    with signed.database.writing() as connection:
        forge(connection)
    with signed.database.reading() as connection:
        assert audit(connection, signed.secrets).fault


def test_what_is_cut_off_behind_the_last_signature_is_found_by_one_that_was_kept_elsewhere(signed):
    """Whoever owns the database can cut what nobody signed; so roots are signed and published often."""
    with signed.database.writing() as connection:
        kept = sign_head(connection, signed.secrets)
        connection.execute(delete(checkpoint).where(checkpoint.c.size == kept.size))
        cut_the_end_and_mend_the_head(connection)
    with signed.database.reading() as connection:
        assert audit(connection, signed.secrets).fault == ""
        assert read_head(connection).tree.size < kept.size


def test_a_checkpoint_of_another_service_is_found(signed):
    with signed.database.reading() as connection:
        assert audit(connection, Secrets(bytes(32))).fault
