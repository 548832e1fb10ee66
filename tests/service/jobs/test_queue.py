"""Leases: one worker at a time, nothing twice, nothing under an old fence, an end to tries."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import select, update

from accordant.errors import ConflictError, UnknownNameError
from accordant.service.identity import after
from accordant.service.jobs import queue
from accordant.service.jobs.queue import (
    LEASE_SECONDS,
    MOST_TRIES,
    LeaseLostError,
    add,
    advance,
    cancel,
    claim,
    finish,
    give_up,
    hold,
    job_of,
    jobs_of,
    release,
    retry,
)
from accordant.service.record.audit import audit
from accordant.service.record.log import now
from accordant.service.schema import job

KINDS = ("run",)


def new_job(service, kind="run"):
    with service.database.writing() as connection:
        return add(connection, service.workspace, kind, {"case": "story"})


def row_of(service, identifier):
    with service.database.reading() as connection:
        return job_of(connection, identifier)


def let_lease_end(service):
    with service.database.writing() as connection:
        connection.execute(update(job).values(free_at=now()))


def acting(service, act, *given, **named):
    with service.database.writing() as connection:
        return act(connection, *given, **named)


def test_a_job_is_claimed_once(service):
    identifier = new_job(service)
    lease = claim(service.database, KINDS)
    assert (lease.job, lease.fence, lease.tries, lease.payload) == (identifier, 1, 1, {"case": "story"})
    assert claim(service.database, KINDS) is None
    assert claim(service.database, ("decisions",)) is None


def test_what_waits_longest_comes_first(service):
    jobs = [new_job(service) for _ in range(3)]
    assert [claim(service.database, KINDS).job for _ in jobs] == jobs
    assert claim(service.database, KINDS) is None


def test_many_workers_share_many_jobs(service):
    jobs, taken = {new_job(service) for _ in range(24)}, []

    def work():
        while (lease := claim(service.database, KINDS)) is not None:
            acting(service, finish, lease, {})
            taken.append(lease.job)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(taken) == 24 and set(taken) == jobs
    with service.database.reading() as connection:
        assert audit(connection).kinds["job_end"] == 24


def test_an_older_fence_does_nothing(service):
    identifier = new_job(service)
    old = claim(service.database, KINDS)
    let_lease_end(service)
    new = claim(service.database, KINDS)
    assert new.fence == old.fence + 1
    for act, given in ((hold, ()), (advance, (1,)), (finish, ({},)), (release, ())):
        with pytest.raises(LeaseLostError, match=identifier):
            acting(service, act, old, *given)
    with pytest.raises(LeaseLostError):
        acting(service, give_up, old, "no", again=True)
    acting(service, finish, new, {"run": "a"})
    assert row_of(service, identifier).result == '{"run":"a"}'


def test_a_heartbeat_keeps_the_lease(service):
    identifier = new_job(service)
    lease = claim(service.database, KINDS)
    let_lease_end(service)
    acting(service, hold, lease, stage="fitting models: 1 of 3")
    assert claim(service.database, KINDS) is None
    row = row_of(service, identifier)
    assert row.stage == "fitting models: 1 of 3"
    assert after(seconds=LEASE_SECONDS - 5) < row.free_at <= after(seconds=LEASE_SECONDS)


def test_workers_that_vanish_are_counted_and_the_job_ends(service):
    identifier = new_job(service)
    for tries in range(1, MOST_TRIES + 1):
        assert claim(service.database, KINDS).tries == tries
        let_lease_end(service)
    assert claim(service.database, KINDS) is None
    row = row_of(service, identifier)
    assert (row.state, row.error) == ("failed", f"it was begun {MOST_TRIES} times and never finished")
    assert row.ended_at is not None


def test_progress_counts_tries_anew(service):
    new_job(service)
    for done in range(3 * MOST_TRIES):
        lease = claim(service.database, KINDS)
        assert (lease.done, lease.tries) == (done, 1)
        acting(service, advance, lease, done + 1, {"changed": done})
        let_lease_end(service)
    assert claim(service.database, KINDS).result == {"changed": 3 * MOST_TRIES - 1}


def test_a_failed_try_waits_longer_each_time_and_ends(service):
    identifier, waits = new_job(service), []
    for _ in range(MOST_TRIES - 1):
        acting(service, give_up, claim(service.database, KINDS), "OSError", again=True)
        row = row_of(service, identifier)
        assert (row.state, row.error) == ("waiting", "OSError")
        assert claim(service.database, KINDS) is None
        waits.append(row.free_at)
        let_lease_end(service)
    assert after(seconds=queue.SECONDS_TO_WAIT) < waits[1]
    acting(service, give_up, claim(service.database, KINDS), "OSError", again=True)
    assert row_of(service, identifier).state == "failed"


def test_wrong_input_is_not_tried_again_until_asked_for(service):
    identifier = new_job(service)
    acting(service, give_up, claim(service.database, KINDS), "SpecError: no", again=False)
    assert row_of(service, identifier).state == "failed"
    acting(service, retry, identifier)
    assert claim(service.database, KINDS).tries == 1
    with pytest.raises(ConflictError, match="only one that failed"):
        acting(service, retry, identifier)


def test_a_job_that_is_given_back_loses_no_try(service):
    new_job(service)
    for _ in range(MOST_TRIES + 2):
        lease = claim(service.database, KINDS)
        assert lease.tries == 1
        acting(service, release, lease)


def test_after_a_job_is_cancelled_nothing_happens(service):
    identifier = new_job(service)
    lease = claim(service.database, KINDS)
    acting(service, cancel, identifier, "somebody")
    with pytest.raises(LeaseLostError):
        acting(service, finish, lease, {})
    assert row_of(service, identifier).state == "cancelled"
    with pytest.raises(ConflictError, match="cancelled already"):
        acting(service, cancel, identifier)
    with pytest.raises(UnknownNameError, match="unknown job"):
        acting(service, cancel, "nowhere")


def test_jobs_are_listed_the_newest_first(service):
    jobs = [new_job(service) for _ in range(3)]
    with service.database.reading() as connection:
        kinds = {row_of(service, jobs[0]).kind}
        assert [each.id for each in jobs_of(connection, service.workspace, kinds)] == jobs[::-1]
        assert jobs_of(connection, service.workspace, {"part"}) == []
        assert jobs_of(connection, "elsewhere", kinds) == []
        assert connection.execute(select(job.c.state).distinct()).scalars().all() == ["waiting"]
