"""Slates: what is shown to whom, in which place, and how parts become a whole."""

from __future__ import annotations

import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.slates.slates import NOTHING, Slates, attention, join_slates

NAMES = ("a", "b", "c", "d")
LISTS = np.array([[2, 0, 1], [3, NOTHING, NOTHING], [NOTHING, NOTHING, NOTHING]])


def slates(items=LISTS, **more):
    return Slates("rule", NAMES, np.asarray(items), np.zeros(len(items), dtype=bool), **more)


def test_what_is_shown():
    found = slates()
    assert (found.k, found.n_users, found.lengths.tolist()) == (3, 3, [3, 1, 0])
    assert [found.names(user) for user in range(3)] == [("c", "a", "b"), ("d",), ()]
    assert found.shown().T.tolist() == [[True, True, True, False], [False, False, False, True], [False] * 4]


def test_attention_falls_with_the_logarithm_of_the_rank():
    assert attention(4).tolist() == pytest.approx([1 / math.log2(1 + rank) for rank in range(1, 5)], abs=1e-15)
    seen = slates().exposure()
    assert seen[:, 0].tolist() == pytest.approx([1 / math.log2(3), 0.5, 1.0, 0.0], abs=1e-15)
    assert seen[:, 1].tolist() == [0, 0, 0, 1.0] and not seen[:, 2].any()


@pytest.mark.parametrize("items", [[[4]], [[-2]], [[0, 9]]])
def test_items_that_are_not_declared(items):
    with pytest.raises(InputError, match="rule shows an item that is not declared"):
        slates(items)


@pytest.mark.parametrize("items", [np.array([1, 2]), np.zeros((2, 2, 2), dtype=int)])
def test_shapes(items):
    with pytest.raises(InputError, match=r"slates of rule have shape .*; allowed: \(user, k\)"):
        slates(items)
    with pytest.raises(InputError, match="allowed"):
        Slates("rule", NAMES, LISTS, np.zeros(2, dtype=bool))


def test_no_users():
    empty = slates(np.empty((0, 3), dtype=int))
    assert (empty.n_users, empty.k) == (0, 3) and empty.shown().shape == empty.exposure().shape == (4, 0)
    assert empty.lengths.shape == (0,)


def test_parts_and_the_whole():
    flags = {"changed": np.array([True, False, True])}
    whole = slates(flags=flags, quantities={"scores": np.arange(12.0).reshape(4, 3)})
    order = np.array([2, 0])
    part = whole.take(order)
    assert np.array_equal(part.items, LISTS[order]) and part.flags["changed"].tolist() == [True, True]
    assert part.quantities["scores"].tolist() == whole.quantities["scores"][:, [2, 0]].tolist()
    again = join_slates([whole.take(slice(0, 1)), whole.take(slice(1, 1)), whole.take(slice(1, 3))])
    assert np.array_equal(again.items, LISTS) and again.flags["changed"].tolist() == [True, False, True]
    assert np.array_equal(again.quantities["scores"], whole.quantities["scores"])


def test_what_only_some_parts_say_is_left_out():
    first = slates(flags={"changed": np.ones(3, dtype=bool), "withheld": np.ones(3, dtype=bool)})
    found = join_slates([first, slates(flags={"changed": np.zeros(3, dtype=bool)})])
    assert set(found.flags) == {"changed"} and found.flags["changed"].tolist() == [True] * 3 + [False] * 3
    assert found.quantities == {} and found.rule == "rule"
