"""The commands of operations: receipts checked offline, backup, restore, export and work, with wrong input too."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from accordant.cli.app import add_commands, app
from accordant.errors import AccordantError
from accordant.service.clients import client_of
from accordant.service.jobs.queue import add
from accordant.service.record.receipt import make_receipt
from accordant.service.schema import decision, event

CONTEXTS = [{"score": 0.4, "branch": "north"}, {"score": 1.2, "branch": "south"}]


@pytest.fixture(scope="module", autouse=True)
def commands():
    if not app.registered_commands:
        add_commands()


def call(*words):
    """Return exit code and output, as `main` gives them; errors of ours are its business."""
    result = CliRunner().invoke(app, [str(each) for each in words])
    if isinstance(result.exception, AccordantError):
        return 2, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout + result.stderr


@pytest.fixture
def told(service, client):
    return service.decider.decide(client, "one", CONTEXTS).decisions


@pytest.fixture
def receipt(service, told, tmp_path):
    with service.database.writing() as connection:
        row = connection.execute(select(decision).where(decision.c.id == told[0]["id"])).one()
        identifier = connection.execute(select(event.c.id).where(event.c.seq == row.seq)).scalar_one()
        made = make_receipt(connection, service.secrets, identifier, service.keys.key(row.person))
    (tmp_path / "receipt.json").write_text(made.model_dump_json())
    return tmp_path / "receipt.json"


def test_a_receipt_says_what_was_decided_by_what_and_when(receipt, service, told):
    code, text = call("verify", receipt, "--key", service.secrets.public.hex())
    assert code == 0
    for words in (told[0]["id"], "in the log", "loans-of-three v1", "score 0.4", service.secrets.public.hex()):
        assert words in text
    assert "Whoever makes a receipt can make a key" not in text
    code, text = call("verify", receipt)
    assert code == 0 and "Whoever makes a receipt can make a key" in text
    code, text = call("verify", receipt, "--json")
    shown = json.loads(text)
    assert (shown["holds"], shown["pinned"], shown["public"]["decision"]) == (True, False, told[0]["id"])
    assert shown["private"]["context"] == CONTEXTS[0]


def test_a_key_may_stand_in_a_file(receipt, service, tmp_path):
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    pem = service.secrets.signing.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key.pem").write_bytes(pem)
    assert call("verify", receipt, "--by", tmp_path / "key.pem")[0] == 0


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r["event"]["public"].update(action="Deny2"), "not in the log whose root was signed"),
        (lambda r: r["event"].update(at="2020-01-01T00:00:00.000000Z"), "not in the log"),
        (lambda r: r["event"].update(seq=0), "proof does not fit|not in the log"),
        (lambda r: r["checkpoint"].update(root="00" * 32), "not what was signed"),
        (lambda r: r["checkpoint"].update(size=10**6), "not what was signed"),
        (lambda r: r["checkpoint"].update(public_key="00" * 32), "not what was signed"),
        (lambda r: r.update(proof=r["proof"][:-1]), "too short"),
        (lambda r: r.update(proof=[*r["proof"], "00" * 32]), "too long"),
        (lambda r: r.update(key="00" * 32), "was changed, or belongs to another key"),
    ],
)  # fmt: skip
def test_a_receipt_that_does_not_hold_is_named_and_ends_with_1(receipt, change, words):
    import re

    content = json.loads(receipt.read_text())
    change(content)
    receipt.write_text(json.dumps(content))
    code, text = call("verify", receipt)
    assert code == 1 and re.search(words, text), text
    code, text = call("verify", receipt, "--json")
    assert (code, json.loads(text)["holds"]) == (1, False)


@pytest.mark.long
def test_another_key_does_not_hold_and_what_is_no_receipt_or_key_is_wrong_input(receipt, tmp_path):
    code, text = call("verify", receipt, "--key", "ab" * 32)
    assert code == 1 and "another key than the service's" in text
    code, text = call("verify", receipt, "--key", "abc")
    assert code == 2 and "the key abc cannot be read" in text
    for content, words in (("{}", "is missing"), ("hello", "line 1 is not JSON"), ("[1]", "receipt")):
        (tmp_path / "wrong.json").write_text(content)
        code, text = call("verify", tmp_path / "wrong.json")
        assert code == 2 and words in text
    assert call("verify", tmp_path / "nowhere")[0] == 2


def database_of(service):
    return service.database.url.render_as_string(hide_password=False)


@pytest.mark.long
def test_backup_restore_and_audit(service, told, tmp_path):
    code, text = call("backup", database_of(service), "--out", tmp_path / "b.jsonl", "--json")
    made = json.loads(text)
    assert code == 0 and made["events"] > 2
    again = ["--database", f"sqlite:///{tmp_path / 'again.db'}", "--keys", f"sqlite:///{tmp_path / 'service.keys.db'}"]
    code, text = call("restore", tmp_path / "b.jsonl", *again)
    assert code == 0 and made["root"] in text
    code, text = call("audit", tmp_path / "again.db", "--json")
    assert code == 0 and json.loads(text)["root"] == made["root"] and json.loads(text)["decisions"] == 2
    code, text = call("restore", tmp_path / "b.jsonl", *again)
    assert code == 2 and "holds a record already" in text


def test_a_program_is_admitted_by_a_key_that_is_shown_once_and_refused_from_then_on(service, tmp_path):
    place = ["--database", database_of(service), "--keys", f"sqlite:///{tmp_path / 'service.keys.db'}"]

    def admitted(key):
        with service.database.reading() as connection:
            return client_of(connection, service.secrets, key) is not None

    code, text = call("client", "add", "clinic", *place)
    key, note = text.splitlines()
    assert code == 0 and note == "This key of clinic is not kept and not shown again." and admitted(key)
    code, text = call("client", "add", "office", *place, "--json")
    other = json.loads(text)
    assert (code, other["client"]) == (0, "office") and admitted(other["key"])
    code, text = call("client", "revoke", "clinic", *place)
    assert (code, text) == (0, "the key of clinic is refused from now on\n")
    assert not admitted(key) and admitted(other["key"])
    code, text = call("client", "revoke", "office", *place, "--json")
    assert json.loads(text) == {"client": "office", "key": None} and not admitted(other["key"])
    code, text = call("client", "drop", "office", *place)
    assert code == 2 and "client 'drop' is not known; allowed: add, revoke" in text


def test_export_of_all_and_of_one(service, told, tmp_path):
    keys = ["--keys", f"sqlite:///{tmp_path / 'service.keys.db'}"]
    code, text = call("export", database_of(service), "--out", tmp_path / "all.jsonl", *keys)
    assert code == 0 and "events" in text
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    who = next(each["person"] for each in lines if each["kind"] == "decision")
    code, text = call("export", database_of(service), "--out", tmp_path / "one.jsonl", "--person", who, *keys, "--json")
    assert (code, json.loads(text)) == (0, {"events": 2})
    code, text = call("export", database_of(service), "--out", tmp_path / "x.jsonl", "--person", "me", *keys)
    assert code == 2 and "unknown person 'me'" in text


def test_places_that_are_wrong(tmp_path):
    for command in ("backup", "export"):
        code, text = call(command, tmp_path / "nowhere.db", "--out", tmp_path / "b.jsonl")
        assert code == 2 and "is not there; allowed: the file of a service" in text
        assert not (tmp_path / "nowhere.db").exists()
    code, text = call("backup", "mysql://a/b", "--out", tmp_path / "b.jsonl")
    assert code == 2 and "allowed: sqlite:///FILE" in text


def test_the_database_is_not_written_over(service, told, tmp_path):
    if service.database.file is not None:
        code, text = call("backup", service.database.file, "--out", service.database.file)
        assert code == 2 and "is an input of this command" in text
    assert call("audit", database_of(service))[0] == 0


def test_work_until_idle(service, tmp_path, monkeypatch):
    import accordant.service.logs as logs

    monkeypatch.setattr(logs, "log_as_json", lambda: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    with service.database.writing() as connection:
        add(connection, service.workspace, "run", {"case": "nowhere"})
    keys = ["--keys", f"sqlite:///{tmp_path / 'service.keys.db'}"]
    code, text = call("work", "--database", database_of(service), *keys, "--until-idle")
    assert code == 0 and "1 job begun" in text
