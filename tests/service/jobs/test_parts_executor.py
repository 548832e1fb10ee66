"""Parts of larger work in the queue of a service: done once each by whoever comes, with the results of a plain map."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pandas as pd
import pytest
from sqlalchemy import select, update

from accordant.compute import Failure, LostPartError, open_executor
from accordant.compute.tasks import Task, tasks
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.runs.datasets.parts import Job
from accordant.runs.datasets.recommendation import recommend_dataset
from accordant.service.jobs import parts_executor, worker
from accordant.service.jobs.kinds import PART
from accordant.service.jobs.queue import MOST_TRIES
from accordant.service.jobs.worker import Worker
from accordant.service.record.log import now
from accordant.service.schema import job


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Nobody waits long for what is ready."""
    monkeypatch.setattr(parts_executor, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.01)


@pytest.fixture
def begun(monkeypatch):
    """Registers the task ``triple``, and returns what it was asked for."""
    asked = []

    def triple(options, item):
        asked.append(item["number"])
        if item["number"] == options.get("wrong"):
            raise DataError(f"rows.csv, row 3: found {item['number']}")
        if item["number"] == options.get("unknown"):
            raise UnknownNameError("colour", "gren", ("green", "red"))
        if item["number"] == options.get("fault"):
            raise RuntimeError("Maria, 34, north")
        time.sleep(options.get("seconds", 0))
        return {"tripled": 3 * item["number"]}

    monkeypatch.setitem(tasks._factories, "triple", triple)
    return asked


@pytest.fixture
def queue(service, address):
    """The executor of the service's database; the service stands there."""
    made = open_executor(f"queue://{address}")
    yield made
    made.close()


@contextmanager
def workers(open_again, count=1, *, parts=True):
    """Let some workers run beside the block."""
    team = [Worker(open_again(), parts=parts) for _ in range(count)]
    threads = [threading.Thread(target=each.run) for each in team]
    for thread in threads:
        thread.start()
    try:
        yield team
    finally:
        for each in team:
            each.stopping.set()
        for thread in threads:
            thread.join(10)
        assert not any(thread.is_alive() for thread in threads)


def items(count):
    return [{"number": number} for number in range(count)]


def states(service):
    with service.database.reading() as connection:
        return connection.execute(select(job.c.state).where(job.c.kind == PART)).scalars().all()


@pytest.mark.parametrize("count", [1, 2])
def test_results_are_those_of_a_map(service, open_again, queue, begun, count):
    with workers(open_again, count):
        found = dict(queue.run(Task("triple", {"seconds": 0.02}), items(9)))
    assert found == {number: {"tripled": 3 * number} for number in range(9)}
    assert sorted(begun) == list(range(9)) and states(service) == ["done"] * 9


def test_more_parts_than_may_wait_are_asked_for_as_others_end(service, open_again, queue, begun, monkeypatch):
    monkeypatch.setattr(parts_executor, "IN_FLIGHT", 2)
    arriving = queue.run(Task("triple", {}), items(5))
    with workers(open_again):
        first = next(arriving)
    assert first[1] == {"tripled": 3 * first[0]}
    assert len(states(service)) <= 3
    with workers(open_again):
        found = dict([first, *arriving])
    assert found == {number: {"tripled": 3 * number} for number in range(5)}


def test_a_part_that_is_wrong_is_told_and_the_others_are_done(service, open_again, queue, begun):
    with workers(open_again):
        found = dict(queue.run(Task("triple", {"wrong": 1, "unknown": 2}), items(4)))
    assert found[0] == {"tripled": 0} and found[3] == {"tripled": 9}
    assert isinstance(found[1], Failure) and isinstance(found[1].error, InputError)
    assert str(found[1].error) == "rows.csv, row 3: found 1"
    assert str(found[2].error).startswith("unknown colour 'gren'; did you mean 'green'")
    assert sorted(begun) == [0, 1, 2, 3] and sorted(states(service)) == ["done", "done", "failed", "failed"]


def test_a_fault_is_tried_again_as_often_as_any_job_and_keeps_its_words_to_itself(service, open_again, queue, begun):
    arriving = queue.run(Task("triple", {"fault": 0}), items(1))
    found = []
    reader = threading.Thread(target=lambda: found.extend(arriving))
    reader.start()
    with workers(open_again):
        while reader.is_alive():
            time.sleep(0.02)
            with service.database.writing() as connection:  # time passes
                connection.execute(update(job).where(job.c.state == "waiting").values(free_at=now()))
    ((position, failure),) = found
    assert (position, begun) == (0, [0] * MOST_TRIES)
    assert isinstance(failure.error, LostPartError) and str(failure.error) == "the part ended as failed: RuntimeError"


def test_an_unknown_task_is_told(open_again, queue):
    with workers(open_again):
        ((_, failure),) = queue.run(Task("tripel", {}), items(1))
    assert isinstance(failure.error, InputError) and "unknown task 'tripel'" in str(failure.error)


def test_closing_cancels_what_is_not_done(service, open_again, queue, begun):
    arriving = queue.run(Task("triple", {"seconds": 0.05}), items(20))
    with workers(open_again):
        assert next(arriving)[1]["tripled"] in range(0, 60, 3)
        arriving.close()
        left = states(service)
    assert set(left) == {"done", "cancelled"} and left.count("cancelled") >= 15
    assert len(begun) < 6


def test_a_worker_that_is_not_told_so_takes_no_parts(service, open_again, queue, begun):
    arriving = queue.run(Task("triple", {}), items(2))
    reader = threading.Thread(target=lambda: list(arriving))
    reader.start()
    with workers(open_again, parts=False):
        time.sleep(0.2)
        assert begun == [] and set(states(service)) == {"waiting"}
    with workers(open_again):
        reader.join(10)
    assert sorted(begun) == [0, 1] and set(states(service)) == {"done"}


def test_what_cannot_be_told_in_json_is_refused(service, queue):
    with pytest.raises(InputError, match="a queue takes what can be told in JSON.*allowed for others: processes:N"):
        list(queue.run(lambda item: item, items(1)))
    assert states(service) == []


def test_recommendations_are_the_same_bytes_as_in_one_process(
    run_of_three, open_again, address, finished, tmp_path, service
):
    table = pd.concat([pd.read_csv(run_of_three.parent / "new.csv")] * 4, ignore_index=True)
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=5)
    job_here = Job(finished, str(tmp_path / "rows.parquet"), tmp_path / "here", "here", 5)
    job_queue = Job(finished, str(tmp_path / "rows.parquet"), tmp_path / "queue", f"queue://{address}", 5)
    counts = recommend_dataset(job_here)
    with workers(open_again, 2):
        assert recommend_dataset(job_queue) == counts and counts.rows == 20
    folders = [{each.name: each.read_bytes() for each in folder.iterdir()} for folder in (job_here.out, job_queue.out)]
    assert folders[0] == folders[1] and len(folders[0]) == 6
