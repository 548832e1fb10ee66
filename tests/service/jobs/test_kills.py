"""A worker that is killed at random moments: nothing is decided twice, nothing is lost, the log verifies."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from sqlalchemy import func, select, update

from accordant.service.api import jobs as api
from accordant.service.jobs.kinds import part_key
from accordant.service.jobs.queue import job_of
from accordant.service.record.audit import audit
from accordant.service.record.log import now
from accordant.service.schema import decision, job, job_part, person_key, request

PART = 5
KILLS = int(os.environ.get("ACCORDANT_KILLS", "3"))
ROWS = max(300, 10 * PART * KILLS)  # a worker decides some parts before it is killed
CONTEXTS = [{"score": round(0.01 * i - 1, 2), "branch": ("north", "south")[i % 2]} for i in range(ROWS)]


@pytest.mark.long
def test_a_worker_that_is_killed_over_and_over_decides_everything_once(service, client, address, tmp_path, monkeypatch):
    monkeypatch.setattr(api, "MOST_CONTEXTS", PART)
    upload = api._Upload(service, client, "k", None)
    upload.begin()
    for start in range(0, len(CONTEXTS), PART):
        upload.keep(CONTEXTS[start : start + PART])
    identifier = upload.end().id
    command = [
        sys.executable, "-c", "from accordant.cli.app import main; main()", "work", "--database", address,
        "--keys", f"sqlite:///{tmp_path / 'service.keys.db'}", "--until-idle",
    ]  # fmt: skip
    generator, kills, progress = random.Random(7), 0, [0]
    log = (tmp_path / "worker.log").open("ab")
    while True:
        worker = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=log)
        if kills < KILLS:
            begun = progress[-1]
            while row_of(service, identifier).done == begun and worker.poll() is None:
                time.sleep(0.01)  # until it decides
            time.sleep(generator.uniform(0, 0.15))
            worker.send_signal(signal.SIGKILL)
            kills += worker.wait() == -signal.SIGKILL
        else:
            assert worker.wait() == 0
        progress.append(row_of(service, identifier).done)
        if row_of(service, identifier).state == "done":
            break
        left = row_of(service, identifier)
        assert left.state == "running", f"each kill leaves a lease: {left}"
        with service.database.writing() as connection:  # time passes
            connection.execute(update(job).values(free_at=now()))
    log.close()
    assert kills == KILLS or progress[-1] == len(CONTEXTS)
    assert progress == sorted(progress) and len(set(progress)) > 2
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(decision)).scalar_one() == len(CONTEXTS)
        assert connection.execute(select(func.count()).select_from(request)).scalar_one() == len(CONTEXTS) // PART
        assert connection.execute(select(job_part)).all() == []
        found = audit(connection, service.secrets)
        assert (found.fault, found.kinds["decision"], found.kinds["job_end"]) == ("", len(CONTEXTS), 1)
        told = [
            each for position in range(len(CONTEXTS) // PART)
            for each in service.decider.again(connection, client.id, part_key(identifier, position))
        ]  # fmt: skip
    single = service.decider.decide(client, "single", CONTEXTS).decisions
    assert [each["expected_rewards"] for each in told] == [each["expected_rewards"] for each in single]
    assert [each["action"] for each in told] == [each["action"] for each in single]


def row_of(service, identifier):
    with service.database.reading() as connection:
        return job_of(connection, identifier)


def test_keys_of_parts_are_gone_after_a_kill_between_two_steps(service, client, monkeypatch):
    """The part was decided and its key not destroyed yet: whoever comes next does that."""
    from accordant.service.jobs import kinds, parts
    from accordant.service.jobs.queue import claim

    upload = api._Upload(service, client, "k", None)
    upload.begin()
    upload.keep(CONTEXTS[:3])
    upload.end()
    monkeypatch.setattr(kinds, "forget", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        kinds.decide_parts(kinds.Task(service, claim(service.database, ("decisions",))), kinds.DecisionsWanted())
    with service.database.reading() as connection:
        name = connection.execute(select(job_part.c.key)).scalar_one()
    assert service.keys.key(name)
    assert parts.forget(service.database, service.keys) == 1
    with service.keys.database.reading() as connection:
        assert connection.execute(select(person_key).where(person_key.c.person == name)).one_or_none() is None
