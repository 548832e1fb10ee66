"""Work that many threads want is done once for all that wait, each gets its own, and nobody is forgotten."""

from __future__ import annotations

import threading
import time

import pytest

from accordant.service import together
from accordant.service.together import Together


def run(work, items, weight=lambda item: 1):
    """Ask from one thread an item; return results or errors by item, and the batches."""
    batches, found, barrier = [], {}, threading.Barrier(len(items))

    def counted(batch):
        batches.append(list(batch))
        time.sleep(0.005)
        return work(batch)

    shared = Together(counted, weight)

    def ask(item):
        barrier.wait()
        try:
            found[item] = shared(item)
        except BaseException as error:
            found[item] = error

    threads = [threading.Thread(target=ask, args=(item,)) for item in items]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert not any(each.is_alive() for each in threads)
    return found, batches


def test_each_gets_its_own_and_work_is_shared():
    found, batches = run(lambda batch: [item * item for item in batch], list(range(40)))
    assert found == {item: item * item for item in range(40)}
    assert sorted(item for batch in batches for item in batch) == list(range(40))
    assert len(batches) < 40


def test_what_goes_wrong_is_told_to_all_whom_it_met_and_others_go_on():
    def work(batch):
        if 7 in batch:
            raise ZeroDivisionError
        return batch

    found, batches = run(work, list(range(12)))
    met = next(batch for batch in batches if 7 in batch)
    assert {item for item, result in found.items() if isinstance(result, ZeroDivisionError)} == set(met)
    assert all(found[item] == item for item in set(range(12)) - set(met))


def test_one_time_is_no_longer_than_its_weight_allows(monkeypatch):
    monkeypatch.setattr(together, "MOST", 10)
    found, batches = run(lambda batch: list(batch), list(range(1, 13)), weight=lambda item: item)
    assert set(found.values()) == set(range(1, 13))
    assert all(sum(batch) <= 10 or len(batch) == 1 for batch in batches)


def test_a_single_thread_waits_for_nobody():
    shared = Together(lambda batch: [len(batch)] * len(batch), lambda item: 1)
    assert [shared(item) for item in range(5)] == [1] * 5
    with pytest.raises(ValueError, match="zip"):
        Together(lambda batch: [], lambda item: 1)("x")
    assert shared("again") == 1
