"""Executors of this machine give what a plain map gives, and tell apart an error, a lost worker and a refused result."""

from __future__ import annotations

import multiprocessing
import operator
import copyreg
import os
import signal
import threading
import time
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from accordant.compute import Failure, LostPartError, compute, in_order, open_executor
from accordant.compute.local import forks_here, through_pickle
from accordant.errors import AccordantError, DataError, InputError, MissingColumnError, UnknownNameError
from accordant.threads import free_cores

pytestmark = pytest.mark.usefixtures("alone")

LOCAL = ["here", "threads:2", "processes:2"]
on_each = pytest.mark.parametrize("address", LOCAL)


class OfTwoError(Exception):
    """Cannot be rebuilt from its message."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class OursOfTwoError(AccordantError):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class WrongOfTwoError(InputError):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class Unreadable:
    """Can be sent, and not be read."""

    def __reduce__(self):
        return _refuse_to_be_read, ()


def _refuse_to_be_read():
    raise EOFError("no")


def mapped(address, function, items, **options):
    with compute(address) as executor:
        return dict(executor.run(function, items, **options))


def raised(error):
    def fail(item):
        raise error

    return fail


def dies_until(folder, times, item):
    """End the process with item 1 as often as asked, and do well otherwise."""
    if item == 1:
        marks = len(list(folder.iterdir()))
        (folder / str(marks)).touch()
        if marks < times:
            os.kill(os.getpid(), signal.SIGKILL)
    return item * 10


@pytest.mark.long
@on_each
@settings(max_examples=6)
@given(
    items=st.lists(
        st.integers() | st.sampled_from(["", "a", "zwölf"]) | st.lists(st.floats(allow_nan=False), max_size=3),
        max_size=6,
    )
)
def test_results_are_those_of_a_map_whoever_makes_them(address, items):
    function = lambda item: [item, item]  # noqa: E731 - a forked worker needs nothing that can be pickled
    with compute(address) as executor:
        arrived = list(executor.run(function, items))
        ordered = list(in_order(executor.run(function, items)))
    assert sorted(position for position, _ in arrived) == list(range(len(items)))
    assert dict(arrived) == dict(enumerate(map(function, items)))
    assert ordered == list(map(function, items))


@pytest.mark.parametrize("address", ["threads:2", "processes:2"])
def test_results_are_given_as_they_come(address):
    slow = lambda item: time.sleep(0.4 if item == 0 else 0.01) or item  # noqa: E731
    with compute(address) as executor:
        positions = [position for position, _ in executor.run(slow, range(4))]
    assert positions[-1] == 0 and sorted(positions) == [0, 1, 2, 3]


@on_each
def test_a_generator_of_results_can_be_empty(address):
    assert mapped(address, raised(ValueError()), []) == {}


def test_work_is_done_where_the_address_says():
    where = lambda item: (os.getpid(), threading.current_thread() is threading.main_thread())  # noqa: E731
    assert set(mapped("here", where, range(3)).values()) == {(os.getpid(), True)}
    assert set(mapped("threads:2", where, range(3)).values()) == {(os.getpid(), False)}
    assert os.getpid() not in {process for process, _ in mapped("processes:2", where, range(3)).values()}


@pytest.mark.few(4)
@on_each
@pytest.mark.parametrize(
    "error",
    [
        ValueError("some", 3), UnknownNameError("colour", "gren", ("green", "red")), KeyError("x"), MemoryError("much"),
        MissingColumnError("age", ["ag"], "people.csv"), DataError("no rows"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_an_error_comes_whole_and_the_others_are_done(address, error):
    one = lambda item: raised(error)(item) if item == 1 else item  # noqa: E731
    found = mapped(address, one, range(3))
    assert {found[0], found[2]} == {0, 2}
    failure = found[1]
    assert isinstance(failure, Failure)
    assert (type(failure.error), failure.error.args, str(failure.error)) == (type(error), error.args, str(error))


@on_each
@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OfTwoError(1, 2), RuntimeError, "OfTwoError: 1 and 2"), (OursOfTwoError(1, 2), AccordantError, "1 and 2"),
        (WrongOfTwoError(1, 2), InputError, "1 and 2"), (ValueError(lambda: 0), RuntimeError, "ValueError: <function"),
    ],
    ids=["foreign", "ours", "of wrong input", "with a function in it"],
)  # fmt: skip
def test_an_error_that_cannot_be_sent_keeps_its_kind_and_its_words(address, error, kind, words, monkeypatch):
    for known in (OfTwoError, OursOfTwoError, WrongOfTwoError):  # Dask, once imported, can send any error
        monkeypatch.delitem(copyreg.dispatch_table, known, raising=False)
    failure = mapped(address, raised(error), [0])[0]
    assert isinstance(failure, Failure)
    assert type(failure.error) is kind and str(failure.error).startswith(words)


def test_a_result_that_cannot_be_sent_is_a_failure_and_no_other():
    one = lambda item: (lambda: 0) if item == 1 else Unreadable() if item == 2 else item  # noqa: E731
    found = mapped("processes:2", one, range(4))
    assert (found[0], found[3]) == (0, 3)
    for position in (1, 2):
        assert isinstance(found[position], Failure)
        assert not isinstance(found[position].error, LostPartError)
        assert "the result cannot be sent" in str(found[position].error)


@pytest.mark.parametrize("address", ["here", "threads:2"])
def test_a_result_that_cannot_be_sent_may_stay_where_it_is(address):
    function = lambda: 0  # noqa: E731
    assert mapped(address, lambda _: function, [0]) == {0: function}


@on_each
def test_what_is_one_object_does_not_depend_on_where_it_was_made(address):
    shared = [1, 2]
    found = mapped(address, lambda _: [shared, shared], [0])[0]
    assert found[0] is found[1] and found[0] is not shared and found == through_pickle([shared, shared])


def test_a_worker_that_ends_once_costs_time_only(tmp_path):
    assert mapped("processes:2", partial(dies_until, tmp_path, 1), range(4)) == {k: 10 * k for k in range(4)}
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("retries", [0, 2])
def test_an_item_that_always_ends_its_worker_is_given_up_and_the_others_are_done(tmp_path, retries):
    found = mapped("processes:2", partial(dies_until, tmp_path, 99), range(4), retries=retries)
    assert {k: found[k] for k in (0, 2, 3)} == {0: 0, 2: 20, 3: 30}
    assert isinstance(found[1], Failure) and isinstance(found[1].error, LostPartError)
    assert f"item 1 ended its worker {retries + 1} times" in str(found[1].error)
    assert len(list(tmp_path.iterdir())) == retries + 1


def test_closing_leaves_no_process_and_begins_nothing_more(tmp_path):
    mark = lambda item: (tmp_path / str(item)).touch() or time.sleep(0.05 if item == 0 else 30)  # noqa: E731
    with compute("processes:2") as executor:
        results = executor.run(mark, range(9))
        assert next(results) == (0, None)
        assert len(multiprocessing.active_children()) == 2
        results.close()
    assert multiprocessing.active_children() == []
    assert {each.name for each in tmp_path.iterdir()} <= {"0", "1", "2"}


def test_threads_begin_nothing_more_once_closed():
    begun = []
    with compute("threads:2") as executor:
        results = executor.run(lambda item: begun.append(item) or time.sleep(0.02), range(9))
        next(results)
        results.close()
    assert 1 <= len(begun) < 5


@pytest.mark.parametrize("address", ["threads:2", "processes:2"])
def test_the_first_error_ends_the_work_and_not_only_its_reader(address, tmp_path):
    mark = lambda item: (tmp_path / str(item)).touch() or raised(DataError("no"))(item)  # noqa: E731
    with compute(address) as executor:
        arriving = executor.run(mark, range(50))
        with pytest.raises(DataError) as held:  # its traceback keeps what it went through alive
            list(in_order(arriving))
        assert next(arriving, "closed") == "closed"
    assert held.value is not None and multiprocessing.active_children() == []
    assert len(list(tmp_path.iterdir())) < 10


@on_each
def test_inner_pools_have_one_thread_and_get_theirs_back(address):
    def threads(_):
        time.sleep(0.02)  # until another task runs beside it
        return free_cores(), sorted(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    with threadpool_limits(2, user_api="blas"):
        before = threads(None)[1]
        assert set(before) == {2}
        found = mapped(address, threads, range(7))
        assert threads(None)[1] == before
    assert {cores for cores, _ in found.values()} == {1}
    assert {count for _, pools in found.values() for count in pools} == {1}


@pytest.mark.few(3)
@on_each
@pytest.mark.parametrize("inner", [*LOCAL, None])
def test_work_within_work_is_done_too(address, inner):
    def outer(item):
        if inner is None:  # nobody else's executor is meant within a task
            from accordant.compute import chosen

            return [item, chosen()]
        return [item, list(in_order(open_executor(inner).run(lambda each: each + item, range(3))))]

    expected = None if inner is None else 0
    found = mapped(address, outer, range(2))
    for item in range(2):
        assert found[item] == [item, expected if inner is None else [item, item + 1, item + 2]]
    assert multiprocessing.active_children() == []


def test_within_a_worker_of_joblib_nothing_is_forked(monkeypatch):
    assert forks_here()
    monkeypatch.setenv("LOKY_WORKER", "1")
    assert not forks_here()


@pytest.mark.long
def test_beside_other_threads_new_interpreters_are_started(monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert not forks_here()
    assert mapped("processes:1", operator.neg, range(3)) == {0: 0, 1: -1, 2: -2}


def test_what_new_interpreters_cannot_be_told_is_refused(monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    with pytest.raises(InputError, match="cannot be sent to another process.*allowed: threads:N"):
        mapped("processes:2", lambda item: item, range(3))
