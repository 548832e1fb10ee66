"""Tasks in forked workers: the same results in order, errors whole, and a worker that ends costs time only."""

from __future__ import annotations

import os
import threading
from functools import partial

import numpy as np
import pytest

from accordant.errors import UnknownNameError
from accordant.learning.tuning import run_all
from accordant.processes import cpu_seconds, forks_here, on_processes, through_pickle


def refuse():
    raise UnknownNameError("colour", "gren", ("green", "red"))


def end_the_worker(parent):
    if os.getpid() != parent:
        os._exit(1)
    return "done here"


def where(_):
    return os.getpid()


def test_results_come_in_order_from_other_processes(monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # what runs the tests may wait in a thread of its own
    assert forks_here()
    tasks = [
        partial(lambda number: (number, os.getpid()), number) for number in range(7)
    ]  # a lambda: nothing is pickled
    numbers, places = zip(*on_processes(tasks, 2), strict=True)
    assert numbers == tuple(range(7)) and os.getpid() not in places


def test_an_error_in_a_worker_is_raised_whole():
    with pytest.raises(UnknownNameError, match="did you mean 'green'"):
        list(on_processes([refuse], 1))


def test_the_task_of_a_worker_that_ended_is_done_here():
    assert list(on_processes([partial(end_the_worker, os.getpid())], 1)) == ["done here"]


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


def test_what_is_one_object_does_not_depend_on_where_it_was_made():
    shared = np.arange(3)
    (forked,) = on_processes([lambda: [shared, shared]], 1)
    here = through_pickle([shared, shared])
    assert forked[0] is forked[1] and here[0] is here[1] and here[0] is not shared


def test_what_cannot_be_pickled_stays_what_it_is():
    function = lambda: 1  # noqa: E731
    assert through_pickle(function) is function
    assert list(on_processes([lambda: function], 1))[0]() == 1


def test_cpu_seconds_count_workers_that_have_ended():
    before = cpu_seconds()
    list(on_processes([lambda: sum(range(3_000_000))], 1))
    assert cpu_seconds() - before > 0.02
