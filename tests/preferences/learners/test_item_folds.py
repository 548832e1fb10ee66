"""Folds of each user's records that share no item."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.shared_items import item_folds


def records(chosen, rejected, users, **more):
    return Comparisons(np.eye(1 + max(*chosen, *rejected)), chosen, rejected, users, **more)


def folds_of(comparisons, folds, seed=0):
    return item_folds(comparisons, folds, np.random.default_rng(seed))


def items_of(comparisons, rows, user):
    of_user = rows & (comparisons.users == user)
    return set(comparisons.chosen[of_user]) | set(comparisons.rejected[of_user])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 12), st.integers(0, 40))
def test_held_out_and_known_records_of_a_user_share_no_item(seed, folds, n_items, n_records):
    generator = np.random.default_rng(seed)
    users, chosen = generator.integers(3, size=n_records), generator.integers(n_items, size=n_records)
    rejected = (chosen + generator.integers(1, n_items, size=n_records)) % n_items
    comparisons = Comparisons(np.eye(n_items), chosen, rejected, users, tuple("abc"))
    parts = folds_of(comparisons, folds, seed)
    times = np.zeros(n_records)
    for fold in range(folds):
        held_out, known = parts.held_out(fold), parts.known(fold)
        times += held_out
        for user in range(3):
            assert not items_of(comparisons, held_out, user) & items_of(comparisons, known, user)
    assert np.array_equal(times, parts.judged)


def test_records_without_common_items_are_dealt_in_turn_and_copies_stay_together():
    comparisons = records([0, 2, 4, 6, 0, 0, 1], [1, 3, 5, 7, 1, 1, 0], [0, 0, 0, 0, 1, 2, 0])
    parts = folds_of(comparisons, 3)
    assert parts.sides.tolist() == [[0, 1, 2, 0, 1, 2, 0]] * 2
    assert parts.judged.all()


def test_a_few_linked_records_are_dealt_as_one_and_none_is_lost():
    comparisons = records([0, 1, 3, 5, 7], [1, 2, 4, 6, 8], [0] * 5)
    parts = folds_of(comparisons, 3)
    assert parts.sides.tolist() == [[0, 0, 1, 2, 0]] * 2
    half = records([*range(6), *range(7, 19, 2)], [*range(1, 7), *range(8, 20, 2)], [0] * 12)
    assert folds_of(half, 3).sides.tolist() == [[0] * 6 + [1, 2, 0, 1, 2, 0]] * 2


def test_all_pairs_of_rated_items_are_held_out_by_items():
    high, low = np.triu_indices(20, 1)
    comparisons = records(high, low, np.zeros(len(high), dtype=int))
    parts = folds_of(comparisons, 5)
    assert [parts.held_out(fold).sum() for fold in range(5)] == [6] * 5  # 4 items each
    assert [parts.known(fold).sum() for fold in range(5)] == [120] * 5
    assert not np.array_equal(parts.sides, folds_of(comparisons, 5, seed=1).sides)
    assert np.array_equal(parts.sides, folds_of(comparisons, 5).sides)


def test_few_linked_items_make_fewer_folds_so_that_something_is_held_out():
    high, low = np.triu_indices(4, 1)
    parts = folds_of(records(high, low, np.zeros(6, dtype=int)), 5)
    assert parts.judged.sum() == 2
    same_pair = records([0, 1, 0], [1, 0, 1], [0] * 3)
    assert folds_of(same_pair, 5).judged.all()


def test_a_fold_may_be_asked_for_each_record():
    comparisons = records([0, 2, 0, 2], [1, 3, 1, 3], [0, 0, 1, 1])
    parts = folds_of(comparisons, 2)
    assert parts.held_out(comparisons.users % 2).tolist() == [True, False, True, False]
    assert parts.known(comparisons.users % 2).tolist() == [False, True, False, True]


def test_nothing_is_dealt_without_records_and_folds_are_whole_numbers():
    comparisons = Comparisons(np.eye(2), [], [], [])
    assert folds_of(comparisons, 3).sides.shape == (2, 0)
    for wrong in (1, 2.0, True):
        with pytest.raises(InputError, match="allowed: a whole number from 2"):
            folds_of(comparisons, wrong)
