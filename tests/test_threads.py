"""Work on several threads: in order, at the same time, and on no more threads than make sense."""

from __future__ import annotations

import multiprocessing
import os
import threading

import pytest

from accordant.threads import free_cores, on_threads


def test_two_blocks_are_worked_on_at_the_same_time_and_results_keep_their_order():
    both = threading.Barrier(2, timeout=5)

    def work(block):
        both.wait()  # breaks unless two are here at once
        return block, threading.current_thread()

    found = on_threads(work, "abcd", 2)
    assert [block for block, _ in found] == list("abcd")
    assert len({thread for _, thread in found}) == 2


@pytest.mark.parametrize(("blocks", "n_threads"), [("a", 8), ("abc", 1), ("", 4)])
def test_one_block_or_one_thread_is_worked_on_here(blocks, n_threads):
    here = threading.current_thread()
    assert on_threads(lambda block: (block, threading.current_thread()), blocks, n_threads) == [
        (block, here) for block in blocks
    ]


def test_workers_have_one_core_and_others_all(monkeypatch):
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    monkeypatch.delenv("LOKY_WORKER", raising=False)
    assert free_cores() == allowed
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2}, raising=False)
    assert free_cores() == 3
    seen = []
    thread = threading.Thread(target=lambda: seen.append(free_cores()))
    thread.start()
    thread.join()
    assert seen == [1]
    with monkeypatch.context() as patched:
        patched.setenv("LOKY_WORKER", "1")
        assert free_cores() == 1
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    assert free_cores() == 1


@pytest.mark.parametrize(("counted", "cores"), [(6, 6), (None, 1)])
def test_where_affinities_are_unknown_the_machine_is_counted(counted, cores, monkeypatch):
    monkeypatch.delenv("LOKY_WORKER", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert free_cores() == cores
