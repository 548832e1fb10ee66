"""Exports: all of it for an owner, mine for a person, and never without a line in the log."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from accordant.errors import UnknownNameError
from accordant.service import export
from accordant.service.export import exported, write_export
from accordant.service.schema import decision, event

CONTEXTS = [{"score": round(0.1 * i, 1), "branch": "north"} for i in range(9)]


@pytest.fixture
def told(service, client):
    return service.decider.decide(client, "one", CONTEXTS).decisions


@pytest.mark.parametrize("rows", [2, 1000])
def test_it_is_the_log_whole_and_opened(service, told, monkeypatch, rows):
    monkeypatch.setattr(export, "ROWS", rows)
    with service.database.snapshot() as connection:
        lines = list(exported(connection, service.keys))
        seqs = connection.execute(select(event.c.seq).order_by(event.c.seq)).scalars().all()
    assert [each["seq"] for each in lines] == seqs
    assert [each["private"]["context"] for each in lines if each["kind"] == "decision"] == CONTEXTS
    assert all(each["private"] is None for each in lines if each["kind"] != "decision")


def test_mine_is_about_me_only(service, told, tmp_path):
    with service.database.reading() as connection:
        who = connection.execute(select(decision.c.person).where(decision.c.id == told[3]["id"])).scalar_one()
    assert write_export(service.database, service.keys, tmp_path / "mine.jsonl", who) == 2
    mine, made = (json.loads(line) for line in (tmp_path / "mine.jsonl").read_text().splitlines())
    assert mine["private"]["context"] == CONTEXTS[3]
    assert mine["private"]["answer"]["expected_rewards"] == told[3]["expected_rewards"]
    assert (made["kind"], made["person"], made["public"]["of"]) == ("export", who, "person")


def test_nobody_unknown_is_exported(service, told, tmp_path):
    with pytest.raises(UnknownNameError, match="unknown person 'me'"):
        write_export(service.database, service.keys, tmp_path / "mine.jsonl", "me")
    assert not (tmp_path / "mine.jsonl").exists()
