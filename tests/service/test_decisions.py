"""Decisions of a service: as of the command, once a key, and on record before they are told."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from sqlalchemy import func, select, update

from accordant.errors import ConflictError, DataError, InputError, MissingColumnError, UnknownNameError
from accordant.runs import read_run
from accordant.runs.recommendation import recommendations_as_json
from accordant.service.deployments import activate, all_deployments, deploy, retire
from accordant.service.erasure import erase, finish_erasures
from accordant.service.outcomes import record_outcomes
from accordant.service.record.audit import audit
from accordant.service.record.receipt import make_receipt, read_receipt, verify_receipt
from accordant.service.publication import OpenRuns
from accordant.service.schema import decision, deployment, event, run_content
from accordant.tables.scratch import ScratchFolder
from accordant.service.secrets import Erased

CONTEXTS = [
    {"score": 0.4, "branch": "north"}, {"score": 1.2, "branch": "south"}, {"score": 0.1, "branch": "abroad"},
    {"score": 99.0, "branch": "south"}, {"score": -0.5, "branch": "north"},
]  # fmt: skip


def decide(service, client, key="one", contexts=CONTEXTS, name=None):
    return service.decider.decide(client, key, contexts, name)


def events_of(service):
    with service.database.reading() as connection:
        return audit(connection, service.secrets)


def test_it_decides_as_the_command_does_to_the_last_bit(service, client, finished):
    told = decide(service, client)
    rows, _ = recommendations_as_json(finished, finished.path.parent / "new.csv", None)
    assert told.version == finished.head
    for mine, row in zip(told.decisions, rows, strict=True):
        for name in ("action", "runner_up", "margin", "expected_rewards"):
            assert mine[name] == row[name]
        assert row["unusual"] in mine["remarks"] or not row["unusual"]
    assert [each["action"] is None for each in told.decisions] == [row["referred"] for row in rows]


def test_one_question_gives_the_same_as_many_to_the_last_bit(service, client):
    together = decide(service, client, "all").decisions
    for i, (one, context) in enumerate(zip(together, CONTEXTS, strict=True)):
        (alone,) = decide(service, client, f"k{i}", [context]).decisions
        assert {**alone, "id": "", "link": ""} == {**one, "id": "", "link": ""}


CASES = ["lending", "health", "story", "education-tutoring", "triage"]


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_command_python_and_service_give_the_same_bits(case, tmp_path):
    """On every built-in case: a file of rows, a frame, one question of all rows, and a question a row."""
    import pandas as pd

    from accordant.cases.files import read_case
    from accordant.cases.loaders import simulated_table
    from accordant.runs import RunOptions, carry_out, write_run
    from accordant.service.answers import Asked, answered, recommended

    run = read_run(
        write_run(carry_out(case, RunOptions(seed=1, rows=300, resamples=100, effort="quick")), tmp_path / "run")
    )
    spec, _ = read_case(case)
    frame = simulated_table(spec, 3, 60).iloc[:40]
    frame.to_csv(tmp_path / "new.csv", index=False)
    rows, _ = recommendations_as_json(run, tmp_path / "new.csv", None)
    contexts = json.loads(pd.read_csv(tmp_path / "new.csv").to_json(orient="records", double_precision=15))
    many = recommended(run, run.policy.selected_, contexts)
    alone = [recommended(run, run.policy.selected_, [context])[0] for context in contexts]
    grouped = answered([Asked(run, run.policy.selected_, [context]) for context in contexts])
    assert many == alone == [each[0] for each in grouped]
    for told, row in zip(many, rows, strict=True):
        for name in ("action", "runner_up", "margin", "expected_rewards"):
            assert told[name] == row[name]
    python = run.recommend(pd.read_csv(tmp_path / "new.csv"))
    assert [each["action"] for each in many] == [action or None for action in python.decisions.actions]
    assert np.array_equal(
        python.expected.values,
        np.moveaxis([[list(of.values()) for of in each["expected_rewards"].values()] for each in many], 0, -1),
    )


def test_the_same_key_gives_the_same_answer_again(service, client):
    first = decide(service, client)
    assert decide(service, client) == first
    assert events_of(service).kinds["decision"] == len(CONTEXTS)


def test_the_same_key_for_another_question_is_refused(service, client):
    decide(service, client)
    with pytest.raises(ConflictError, match="this Idempotency-Key was used for another question"):
        decide(service, client, contexts=CONTEXTS[:1])
    with pytest.raises(ConflictError, match="was used for another"):
        decide(service, client, name="loans-of-three")


@pytest.mark.parametrize(
    ("context", "error", "words"),
    [
        ({"score": 1.0}, MissingColumnError, "branch"),
        ({"score": "much", "branch": "north"}, DataError, "context 0: column 'score': found 'much'"),
    ],
)
def test_what_cannot_be_used_is_refused_and_leaves_nothing(service, client, context, error, words):
    before = events_of(service).size
    with pytest.raises(error, match=words):
        decide(service, client, contexts=[context])
    assert events_of(service).size == before


def test_contexts_have_the_same_columns(service, client):
    with pytest.raises(DataError, match="column 'branch' is not in all contexts"):
        decide(service, client, contexts=[CONTEXTS[0], {"score": 1.0}])


def test_a_column_holds_values_of_one_kind(service, client):
    with pytest.raises(DataError, match="column 'score' holds values of several kinds"):
        decide(service, client, contexts=[CONTEXTS[0], {"score": True, "branch": "north"}])
    with pytest.raises(DataError, match="context 0: column 'score': found '0.4'; allowed: a number, or null"):
        decide(service, client, contexts=[{"score": "0.4", "branch": "north"}])
    with pytest.raises(DataError, match="context 0: column 'branch': found 1.0; allowed: a text, or null"):
        decide(service, client, contexts=[{"score": 0.4, "branch": 1}])


def test_an_unknown_deployment_is_refused(service, client):
    with pytest.raises(UnknownNameError, match="'loans-of-tree'; did you mean 'loans-of-three'"):
        decide(service, client, name="loans-of-tree")


def test_receipts_hold_offline_and_changed_ones_do_not(service, client):
    told = decide(service, client).decisions[0]
    with service.database.writing() as connection:
        row = connection.execute(select(decision).where(decision.c.id == told["id"])).one()
        identifier = connection.execute(select(event.c.id).where(event.c.seq == row.seq)).scalar_one()
        made = make_receipt(connection, service.secrets, identifier, service.keys.key(row.person))
    content = json.loads(made.model_dump_json())
    shown = verify_receipt(read_receipt(content), service.secrets.public.hex())
    assert shown.public["action"] == told["action"]
    assert shown.public["run"] == service.decider.runs.run(None, shown.public["run"]).head
    assert shown.private["context"] == CONTEXTS[0]
    assert shown.private["answer"]["expected_rewards"] == told["expected_rewards"]
    forged = json.loads(json.dumps(content))
    forged["event"]["public"]["action"] = "Deny"
    with pytest.raises(InputError, match="not in the log"):
        verify_receipt(read_receipt(forged))
    with pytest.raises(InputError, match="another key"):
        verify_receipt(read_receipt(content), "00" * 32)
    late = json.loads(json.dumps(content))
    late["checkpoint"]["at"] = "2099-01-01T00:00:00.000000Z"
    with pytest.raises(InputError, match="not what was signed"):
        verify_receipt(read_receipt(late))
    with pytest.raises(InputError, match="unknown key 'more'"):
        read_receipt({**content, "more": 1})


def test_an_erased_person_cannot_be_read_anywhere_and_the_log_holds(service, client, tmp_path):
    told = decide(service, client, contexts=[{"score": 0.123456789, "branch": "north"}])
    with service.database.reading() as connection:
        row = connection.execute(select(decision)).one()
    assert erase(service.database, service.keys, row.person)
    with pytest.raises(Erased):
        decide(service, client, contexts=[{"score": 0.123456789, "branch": "north"}])
    assert events_of(service).fault == ""
    assert events_of(service).kinds["erasure"] == 1
    with service.database.reading() as connection:
        assert connection.execute(select(decision.c.action)).scalar() == told.decisions[0]["action"]
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert b"0.123456789" not in content
        assert np.float64(0.123456789).tobytes() not in content
    assert not erase(service.database, service.keys, row.person)


def test_an_erasure_that_was_cut_short_is_finished(service, client, monkeypatch):
    decide(service, client, contexts=CONTEXTS[:1])
    with service.database.reading() as connection:
        who = connection.execute(select(decision.c.person)).scalar_one()
    monkeypatch.setattr(type(service.keys), "erase", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        erase(service.database, service.keys, who)
    monkeypatch.undo()
    assert service.keys.key(who)
    assert finish_erasures(service.database, service.keys) == 1
    with pytest.raises(Erased):
        service.keys.key(who)


def test_a_decision_that_was_changed_beside_the_log_is_found(service, client):
    told = decide(service, client).decisions[1]
    with service.database.writing() as connection:
        connection.execute(update(decision).where(decision.c.id == told["id"]).values(action="Deny!"))
    found = events_of(service)
    assert told["id"] in found.fault
    assert found.seq is not None


def test_a_new_version_decides_and_the_earlier_one_comes_back(service, client, finished):
    with service.database.writing() as connection:
        second = deploy(connection, finished, service.workspace, "loans-of-three", "stakeholder:Bank")
        assert (second.version, second.state) == (2, "active")
        states = {each.version: each.state for each in all_deployments(connection, service.workspace)}
        assert states == {1: "retired", 2: "active"}
    told = decide(service, client, "two")
    with service.database.reading() as connection:
        used = connection.execute(select(func.distinct(decision.c.deployment))).scalars().all()
    assert used == [second.id]
    with service.database.writing() as connection:
        first = next(each for each in all_deployments(connection, service.workspace) if each.version == 1)
        assert activate(connection, first.id).state == "active"
        assert activate(connection, first.id).state == "active"
    assert decide(service, client, "two") == told
    assert events_of(service).kinds["activation"] == 1


def test_a_shadow_decides_silently(service, client, finished):
    alone = decide(service, client, "before")
    with service.database.writing() as connection:
        deploy(connection, finished, service.workspace, "loans-of-three", "stakeholder:Bank", shadow=True)
    beside = decide(service, client, "after")
    strip = lambda told: [{**each, "id": "", "link": ""} for each in told.decisions]  # noqa: E731
    assert strip(beside) == strip(alone)
    with service.database.reading() as connection:
        silent = (
            connection.execute(select(decision.c.shadow_action).where(decision.c.shadow_action.is_not(None)))
            .scalars()
            .all()
        )
    rows, _ = recommendations_as_json(finished, finished.path.parent / "new.csv", "stakeholder:Bank")
    assert silent == [row["action"] for row in rows if row["action"] is not None]


def test_nothing_decides_where_all_is_retired(service, client):
    with service.database.writing() as connection:
        for each in all_deployments(connection, service.workspace):
            retire(connection, each.id)
            retire(connection, each.id)
    with pytest.raises(InputError, match="none is active"):
        decide(service, client)
    assert events_of(service).kinds["retirement"] == 1


def test_the_same_run_is_deployed_once(service, finished):
    again = service.deploy(finished)
    assert again.version == 1
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(deployment)).scalar() == 1
        assert connection.execute(select(func.count()).select_from(run_content)).scalar() == 1


def test_a_run_with_a_section_more_is_another_version(service, finished, tmp_path):
    from accordant.runs.sections.weight_change import reweigh

    shutil.copytree(finished.path, tmp_path / "later")
    shutil.copy(finished.path.parent / "loans.csv", tmp_path)
    later = read_run(tmp_path / "later")
    from accordant.runs.chain import add_section

    add_section(later.manifest, reweigh(later, {"Worst_Off": 1.0}, str(tmp_path / "loans.csv")))
    assert service.deploy(read_run(tmp_path / "later")).version == 2


def test_outcomes_are_told_once(service, client):
    told = decide(service, client).decisions
    with service.database.writing() as connection:
        pairs = [(told[0]["id"], "Repaid"), (told[1]["id"], "Default")]
        assert record_outcomes(connection, service.decider.runs, service.workspace, pairs) == 2
        assert record_outcomes(connection, service.decider.runs, service.workspace, pairs) == 0
        with pytest.raises(ConflictError, match="another outcome on record"):
            record_outcomes(connection, service.decider.runs, service.workspace, [(told[0]["id"], "Default")])
        for outcome, error in (("Ann repaid", UnknownNameError), (3.5, DataError)):
            with pytest.raises(error, match="outcome"):
                record_outcomes(connection, service.decider.runs, service.workspace, [(told[2]["id"], outcome)])
        with pytest.raises(UnknownNameError, match="decision 'nobody'"):
            record_outcomes(connection, service.decider.runs, service.workspace, [("nobody", "Default")])
        with pytest.raises(UnknownNameError, match="unknown decision"):
            record_outcomes(connection, service.decider.runs, "another workspace", [(told[2]["id"], "Default")])
    assert events_of(service).kinds["outcome"] == 2


def test_runs_that_were_closed_open_again_in_a_folder_that_is_held(service, tmp_path, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    runs = OpenRuns()
    with service.database.reading() as connection:
        digest = connection.execute(select(run_content.c.hash)).scalar()
        for _ in range(2):
            run = runs.run(connection, digest)
            with ScratchFolder():  # removes what nobody holds
                assert run.path.is_dir()
            runs.close()
            assert not list(place.iterdir())
