"""The worker: runs are carried out and published once, faults are tried again, and it stops where it is told to."""

from __future__ import annotations

import shutil

import pytest
from sqlalchemy import select, update

from accordant.errors import InputError, SpecError, UnknownNameError
from accordant.service.contests import Contestation
from accordant.service.identity import invite, take_up, invitation_of
from accordant.service.jobs import kinds, worker
from accordant.service.jobs.kinds import KINDS, wanted_of
from accordant.service.jobs.parts import receive
from accordant.service.jobs.queue import MOST_TRIES, add, begin_waiting, cancel, job_of
from accordant.service.jobs.worker import Worker, run_worker
from accordant.service.record.audit import audit
from accordant.service.record.log import now
from accordant.service.schema import contest, decision, job, membership, run_content
from accordant.studies.page import render_study
from accordant.studies.result import StudyResult

CONTEXTS = [{"score": round(0.1 * i - 1, 2), "branch": ("north", "south")[i % 2]} for i in range(8)]


@pytest.fixture
def cases(tmp_path, run_of_three):
    """A folder with one case and its data."""
    folder = tmp_path / "cases"
    folder.mkdir()
    for name in ("loans.yaml", "loans.csv"):
        shutil.copy(run_of_three.parent / name, folder / name)
    return folder


def new_job(service, kind="run", payload=None, **named):
    with service.database.writing() as connection:
        return add(
            connection, service.workspace, kind, {"case": "loans", "seed": 3} if payload is None else payload, **named
        )


def row_of(service, identifier):
    with service.database.reading() as connection:
        return job_of(connection, identifier)


def runs_kept(service):
    with service.database.reading() as connection:
        return connection.execute(select(run_content.c.hash)).scalars().all()


@pytest.mark.long
def test_a_run_is_carried_out_and_published(service, cases, run_of_three):
    identifier = new_job(service)
    assert Worker(service, cases).run(until_idle=True) == 1
    row = row_of(service, identifier)
    assert (row.state, row.error) == ("done", None)
    digest = kinds.shown(row)["result"]["run"]
    with service.database.reading() as connection:
        assert digest in connection.execute(select(run_content.c.hash)).scalars().all()
        run = service.decider.runs.run(connection, digest)
    assert run.record.case.name == "loans-of-three"


@pytest.mark.long
def test_a_study_is_carried_out_and_its_page_is_kept(service, cases):
    (cases / "seeds.yaml").write_text("{name: seeds, case: loans.yaml, seeds: [1, 2]}")
    published = runs_kept(service)
    identifier = new_job(service, "study", {"study": "seeds"})
    assert Worker(service, cases).run(until_idle=True) == 1
    row = row_of(service, identifier)
    assert (row.state, row.error) == ("done", None)
    found = StudyResult.read(kinds.shown(row)["result"]["study"])
    assert len(found.cells) == 2 and found.title in render_study(found)
    assert runs_kept(service) == published


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"case": "lones"}, "UnknownNameError: unknown case 'lones'; did you mean 'loans'"),
        ({"case": "../loans"}, "case: String should match"),
        ({"case": "loans", "seed": -1}, "seed: Input should be greater"),
        ({"case": "loans", "data": "/etc/passwd"}, "unknown key 'data'"),
    ],
)
def test_wrong_input_ends_a_job_at_once(service, cases, payload, words):
    identifier = new_job(service, payload=payload)
    Worker(service, cases).run(until_idle=True)
    row = row_of(service, identifier)
    assert (row.state, row.tries) == ("failed", 1)
    assert words in row.error


def test_what_is_wanted_is_checked_before(service):
    assert wanted_of("run", {"case": "story"}).seed == 42
    with pytest.raises(UnknownNameError, match="unknown kind 'runs'; did you mean 'run'"):
        wanted_of("runs", {})
    with pytest.raises(SpecError, match="unknown key 'sede'"):
        wanted_of("run", {"case": "story", "sede": 1})


def test_a_fault_is_tried_again_and_tells_nothing_of_people(service, monkeypatch):
    identifier, tried = new_job(service), []

    def fault(task, wanted):
        tried.append(task.lease.tries)
        raise RuntimeError("Maria, 34, north")

    monkeypatch.setitem(KINDS, "run", (kinds.RunWanted, fault))
    for _ in range(MOST_TRIES):
        Worker(service).run(until_idle=True)
        with service.database.writing() as connection:
            connection.execute(update(job).values(free_at=now()))
    row = row_of(service, identifier)
    assert tried == [1, 2, 3]
    assert (row.state, row.error) == ("failed", "RuntimeError")


def test_a_worker_that_is_told_to_stop_gives_the_job_back(service, monkeypatch):
    identifier = new_job(service)
    here = Worker(service)

    def stops(task, wanted):
        advance = task.begin("fitting models", 3)
        advance()
        assert task.stage == "fitting models: 1 of 3"
        here.stopping.set()
        advance()

    monkeypatch.setitem(KINDS, "run", (kinds.RunWanted, stops))
    assert here.run() == 1
    row = row_of(service, identifier)
    assert (row.state, row.tries) == ("waiting", 0)


def test_a_study_that_is_stopped_in_a_run_is_given_back(service, cases, monkeypatch):
    (cases / "one.yaml").write_text("{name: one, case: loans.yaml, seeds: [1]}")
    identifier = new_job(service, "study", {"study": "one"})
    here = Worker(service, cases)

    def stops(*_):
        here.stopping.set()
        raise kinds.StoppedError

    monkeypatch.setattr("accordant.studies.execution.carry_out", stops)
    assert here.run() == 1
    row = row_of(service, identifier)
    assert (row.state, row.tries, row.result) == ("waiting", 0, None)


def test_heartbeats_show_the_stage_and_notice_the_end(service, monkeypatch):
    identifier, seen = new_job(service), []
    monkeypatch.setattr(worker, "BEAT_SECONDS", 0.02)

    def long(task, wanted):
        advance = task.begin("fitting models", 1000)
        for _ in range(1000):
            task.lost.wait(0.05)
            advance()
            if not seen and row_of(service, identifier).stage is not None:
                seen.append(row_of(service, identifier).stage)
                with service.database.writing() as connection:
                    cancel(connection, identifier)

    monkeypatch.setitem(KINDS, "run", (kinds.RunWanted, long))
    Worker(service).run(until_idle=True)
    assert seen and seen[0].startswith("fitting models: ")
    assert row_of(service, identifier).state == "cancelled"


def test_like_cases_are_changed_once_each(service, client):
    told = service.decider.decide(client, "all", CONTEXTS).decisions
    granted = [each for each in told if each["action"] not in (None, "Deny")]
    contestation = Contestation(service.keys)
    with service.database.writing() as connection:
        link = invite(connection, service.secrets, service.workspace, "reviewer")
        take_up(connection, service.secrets, invitation_of(connection, service.secrets, link.token))
        reviewer = connection.execute(select(membership.c.person)).scalar_one()
        row = connection.execute(select(decision).where(decision.c.id == granted[0]["id"])).one()
        origin = contestation.contest(connection, row, "this is wrong")
        contestation.answer(connection, reviewer, origin, "changed", "it was", "Deny")
    alike = [each["id"] for each in granted[1:]]
    identifier = new_job(
        service, "redecisions", {"origin": origin, "alike": [*alike, "nowhere"]}, person=reviewer, receiving=True
    )
    receive(service.database, service.keys, identifier, 0, [{"reasons": "alike, Maria"}])
    with service.database.writing() as connection:
        begin_waiting(connection, identifier, len(alike) + 1, b"")
    Worker(service).run(until_idle=True)
    row = row_of(service, identifier)
    assert row.state == "done" and "Maria" not in str(row)
    assert kinds.shown(row)["result"] == {"changed": len(alike), "left": 1}
    with service.database.reading() as connection:
        assert len(connection.execute(select(contest).where(contest.c.kind == "like_case")).all()) == len(alike)
        assert audit(connection, service.secrets).fault == ""


def test_a_folder_of_cases_is_one(service, tmp_path):
    with pytest.raises(InputError, match="is no folder"):
        run_worker(service, tmp_path / "nowhere", until_idle=True)
