"""Tasks that a fit hands out: the same results in order, errors whole, and a worker that ends costs time only."""

from __future__ import annotations

import os
import threading
from functools import partial

import joblib
import numpy as np
import pytest
from joblib._parallel_backends import ThreadingBackend

from accordant.compute import compute
from accordant.compute.local import cpu_seconds, forks_here, through_pickle
from accordant.errors import InputError, UnknownNameError
from accordant.compute.fan_out import run_all, users_backend


def refuse():
    raise UnknownNameError("colour", "gren", ("green", "red"))


def end_the_worker(parent):
    if os.getpid() != parent:
        os._exit(1)
    return "done here"


def where(_):
    return os.getpid()


def numbered(number):
    return number, os.getpid()


@pytest.mark.usefixtures("alone")
def test_results_come_in_order_from_other_processes():
    assert forks_here()
    tasks = [partial(lambda number: numbered(number), number) for number in range(7)]  # a lambda: nothing is pickled
    numbers, places = zip(*run_all(tasks, 2, "testing"), strict=True)
    assert numbers == tuple(range(7)) and os.getpid() not in places


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_worker_is_raised_whole(n_jobs):
    with pytest.raises(UnknownNameError, match="did you mean 'green'"):
        run_all([refuse, refuse], n_jobs, "testing")


@pytest.mark.usefixtures("alone")
def test_the_task_of_a_worker_that_ended_is_done_here():
    assert run_all([partial(end_the_worker, os.getpid())] * 2, 2, "testing") == ["done here"] * 2


def test_beside_another_thread_nothing_is_forked():
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait)
    thread.start()
    try:
        assert not forks_here()
        assert run_all([partial(where, 0), partial(where, 1)], 2, "testing") == [os.getpid()] * 2
    finally:
        waiting.set()
        thread.join()


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_one_object_does_not_depend_on_where_it_was_made(n_jobs):
    shared = np.arange(3)
    one, other = run_all([lambda: [shared, shared]] * 2, n_jobs, "testing")
    assert one[0] is one[1] and other[0] is other[1]
    assert one[0] is not shared and one[0] is not other[0]


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_cannot_be_pickled_stays_what_it_is(n_jobs):
    function = lambda: 1  # noqa: E731
    assert through_pickle(function) is function
    assert run_all([lambda: function] * 2, n_jobs, "testing") == [function] * 2


@pytest.mark.usefixtures("alone")
def test_cpu_seconds_count_workers_that_have_ended():
    before = cpu_seconds()
    run_all([lambda: sum(range(3_000_000))] * 2, 2, "testing")
    assert cpu_seconds() - before > 0.04


@pytest.mark.usefixtures("alone")
def test_inside_compute_the_executor_carries_tasks_out():
    with compute("processes:1"):
        assert os.getpid() not in run_all([partial(where, 0), partial(where, 1)], 1, "testing")
        with pytest.raises(UnknownNameError, match="did you mean 'green'"):
            run_all([refuse], 1, "testing")
    assert run_all([partial(where, 0)], 1, "testing") == [os.getpid()]


def test_a_backend_that_a_user_chose_for_joblib_carries_tasks_out():
    class Own(ThreadingBackend):
        """Counts who asks it for workers."""

        asked = 0

        def configure(self, *args, **options):
            Own.asked += 1
            return super().configure(*args, **options)

    joblib.register_parallel_backend("own", Own)
    with joblib.parallel_config(backend="own"):
        assert users_backend()
        assert run_all([partial(where, 0), partial(where, 1)], 2, "testing") == [os.getpid()] * 2
    assert Own.asked == 1
    assert not users_backend()


def test_no_jobs_are_refused():
    with pytest.raises(InputError, match="n_jobs is 0"):
        run_all([partial(where, 0)], 0, "testing")
