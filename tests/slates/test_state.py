"""State: loads of the day, attention since the beginning, and the last slates."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.slates.slates import NOTHING, Slates
from accordant.slates.slates import WINDOW, State


def slates(items):
    items = np.asarray(items)
    return Slates("fixed", ("a", "b", "c"), items, np.zeros(len(items), dtype=bool))


def test_the_beginning():
    state = State.start(3, 2, 4)
    assert state.day == 0 and state.load.tolist() == state.exposure.tolist() == [0.0, 0.0, 0.0]
    assert state.slates.shape == (0, 4) and state.attained.shape == (2, 0)


def test_what_a_batch_leaves_behind():
    lists, attained = slates([[0, 1], [2, NOTHING]]), np.array([[0.5, np.nan]])
    state = State.start(3, 1, 2).after(lists, attained, np.array([1.0, 0.5, 0.0]))
    assert state.load.tolist() == [1.0, 0.5, 0.0]
    assert state.exposure.tolist() == pytest.approx([1.0, 1 / np.log2(3), 1.0])
    assert np.array_equal(state.slates, lists.items) and np.array_equal(state.attained, attained, equal_nan=True)
    again = state.after(lists, attained, np.ones(3))
    assert again.load.tolist() == [2.0, 1.5, 1.0] and len(again.slates) == 4
    assert state.load.tolist() == [1.0, 0.5, 0.0]  # the state before is not changed


def test_a_new_day_has_no_load_and_remembers_the_rest():
    state = State.start(3, 1, 1).after(slates([[1]]), np.array([[1.0]]), np.ones(3))
    same, next_ = state.on(0), state.on(2)
    assert same.load.tolist() == [1, 1, 1] and (next_.day, next_.load.tolist()) == (2, [0, 0, 0])
    assert (
        next_.exposure.tolist() == state.exposure.tolist() and len(next_.slates) == 1 and next_.attained.shape == (1, 1)
    )


def test_only_the_last_slates_are_remembered():
    state, n = State.start(3, 1, 1), WINDOW + 60
    for first in range(0, n, 40):
        part = np.arange(first, first + 40)
        state = state.after(slates((part % 3)[:, None]), part[None] / n, np.zeros(3))
    assert np.array_equal(state.attained[0], np.arange(n - WINDOW, n) / n)
    assert np.array_equal(state.slates[:, 0], np.arange(n - WINDOW, n) % 3)
    assert state.exposure.sum() == n  # attention is not forgotten
