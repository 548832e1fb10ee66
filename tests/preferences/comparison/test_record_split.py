"""Splits: nothing is learned from what is judged by, within users, by time where there is one, from one seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import DataError, InputError
from accordant.preferences.comparison.record_split import deal_items, split_records


def own_items(pairs):
    """Return two items for each pair that no other pair has."""
    return np.stack([2 * pairs, 2 * pairs + 1])


def rows_of(split):
    return [split.training, split.test, split.first, split.later]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.floats(0.05, 0.95), st.booleans(), st.booleans())
def test_every_row_is_in_at_most_one_part_and_everybody_judged_is_learned_from(seed, n, test, timed, fresh):
    generator = np.random.default_rng(seed)
    users, pairs = generator.integers(0, 5, n), generator.integers(0, 6, n)
    later = generator.random(n) < 0.4 if timed else None
    options = {"test": test, "seed": seed, "later": later, "new_users": 0.3 if fresh else 0.0, "first": 2}
    try:
        split = split_records(users, pairs, own_items(pairs), **options)
    except DataError:
        return
    every = np.concatenate(rows_of(split))
    assert len(every) == len(set(every.tolist())) == n - split.unused
    assert set(users[split.test]) <= set(users[split.training])
    known, new = set(users[np.concatenate([split.training, split.test])]), set(users[split.later])
    assert not known & new
    assert len(new) == (0 if not fresh else len(new)) and (not fresh or new)
    assert np.bincount(users[split.first], minlength=5).max(initial=0) <= 2
    if timed:
        assert later[np.concatenate([split.test, split.later])].all()
    else:
        for user in known:  # two records of a user on one pair stay together
            own = [set(pairs[part[users[part] == user]]) for part in (split.training, split.test)]
            assert not own[0] & own[1]
    assert split.by == ("time" if timed else "random")
    again = split_records(users, pairs, own_items(pairs), **options)
    assert all(np.array_equal(one, other) for one, other in zip(rows_of(split), rows_of(again), strict=True))


def test_shares_are_of_pairs_and_a_user_with_one_pair_is_counted():
    users = np.array([0] * 10 + [1] * 3 + [2])
    pairs = np.array([*range(10), 0, 0, 0, 5])
    split = split_records(users, pairs, own_items(pairs), test=0.3, seed=0)
    assert np.bincount(users[split.test], minlength=3).tolist() == [3, 0, 0]
    assert split.training_only == 2
    assert split.to_json()["training_records"] == 11
    tested = set(pairs[split.test])
    assert split.seen == pytest.approx(len(tested & {0, 5}) / 3)


@pytest.mark.parametrize(("test", "tested"), [(0.05, [1, 1, 1]), (0.5, [1, 2, 5]), (0.95, [1, 2, 9])])
def test_at_least_one_pair_of_a_user_is_for_the_test_and_never_all(test, tested):
    users = np.repeat(np.arange(3), [2, 3, 10])
    split = split_records(users, np.arange(15), own_items(np.arange(15)), test=test, seed=0)
    assert np.bincount(users[split.test], minlength=3).tolist() == tested
    assert split.training_only == 0


def test_a_user_whose_records_are_all_late_is_learned_from():
    users, later = np.array([0, 0, 1, 1]), np.array([False, True, True, True])
    split = split_records(users, np.arange(4), own_items(np.arange(4)), test=0.5, seed=0, later=later)
    assert split.test.tolist() == [1]
    assert split.training.tolist() == [0, 2, 3]


@pytest.mark.parametrize(("share", "n_new"), [(0.01, 1), (0.5, 15), (0.9, 27)])
@pytest.mark.parametrize("first", [0, 3, 100])
def test_new_users_are_the_share_of_those_who_can_be_judged_and_known_by_at_most_their_first_records(
    share, n_new, first
):
    users = np.concatenate([np.repeat(np.arange(30), 10), [30, 31]])  # two with a single record
    pairs = np.arange(302)
    split = split_records(users, pairs, own_items(pairs), test=0.3, seed=4, new_users=share, first=first)
    assert len(set(users[split.later])) == n_new
    assert np.bincount(users[split.later], minlength=32).max() == 3
    known = np.bincount(users[split.first], minlength=32)
    assert sorted(known.tolist()) == [0] * (32 - n_new) + [min(first, 7)] * n_new
    assert split.unused == n_new * (7 - min(first, 7))
    assert len(split.test) == 3 * (30 - n_new) and split.training_only == 2
    content = split.to_json()
    assert content["first_records_of_new_users"] == len(split.first)
    assert content["later_records_of_new_users"] == len(split.later) == 3 * n_new


def test_another_seed_draws_others():
    users, pairs = np.repeat(np.arange(4), 25), np.tile(np.arange(25), 4)
    one, other = (split_records(users, pairs, own_items(pairs), test=0.3, seed=seed).test for seed in (1, 2))
    assert len(one) == len(other) == 32
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    "wrong", [{"test": 0.0}, {"test": 1.0}, {"new_users": 1.0}, {"new_users": -0.1}, {"first": -1}]
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="allowed"):
        split_records(
            np.array([0, 0]), np.array([0, 1]), np.arange(4).reshape(2, 2), **({"test": 0.5, "seed": 0} | wrong)
        )


def test_nobody_to_judge_and_nobody_to_learn_from():
    with pytest.raises(DataError, match="no user has compared two different pairs"):
        split_records(np.array([0, 1, 1]), np.array([0, 1, 1]), own_items(np.array([0, 1, 1])), test=0.5, seed=0)
    with pytest.raises(DataError, match="2 of 2 users would be new"):
        split_records(
            np.array([0, 0, 1, 1]),
            np.array([0, 1, 0, 1]),
            own_items(np.array([0, 1, 0, 1])),
            test=0.5,
            seed=0,
            new_users=0.9,
        )


def pairs_of(items):
    return np.unique(np.sort(items, axis=0), axis=1, return_inverse=True)[1].reshape(-1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(3, 30), st.floats(0.05, 0.95), st.booleans())
def test_no_item_of_a_user_is_on_both_sides_and_every_row_is_counted(seed, n, n_items, test, fresh):
    generator = np.random.default_rng(seed)
    users, items = generator.integers(0, 4, n), np.stack([generator.permutation(n_items)[:2] for _ in range(n)]).T
    try:
        split = split_records(
            users, pairs_of(items), items, test=test, seed=seed, new_users=0.3 if fresh else 0.0, first=3
        )
    except DataError:
        return
    assert sum(map(len, rows_of(split))) + split.unused + split.between == n
    for known, judged in ((split.training, split.test), (split.first, split.later)):
        for user in np.unique(users):
            sides = [set(items[:, part[users[part] == user]].ravel()) for part in (known, judged)]
            assert not sides[0] & sides[1]
            assert split.unused or not sides[1] or sides[0]
    assert split.to_json()["between"] == split.between


def rated(users, per):
    """Return users and items of all pairs of items, each user's own."""
    one, other = np.triu_indices(per, 1)
    who = np.repeat(np.arange(users), len(one))
    return who, np.stack([np.tile(one, users), np.tile(other, users)]) + per * who


@pytest.mark.parametrize(("test", "sizes"), [(0.3, (6, 4)), (0.5, (5, 5)), (0.05, (8, 2)), (0.95, (2, 8))])
def test_all_pairs_of_rated_items_are_parted_by_items(test, sizes):
    users, items = rated(12, 10)
    split = split_records(users, pairs_of(items), items, test=test, seed=0)
    expected = [12 * size * (size - 1) // 2 for size in sizes]
    assert [len(split.training), len(split.test)] == expected
    assert split.between == 12 * 45 - sum(expected)
    assert split.training_only == 0


def test_small_sets_of_linked_records_stay_together():
    users = np.zeros(20, dtype=int)
    items = np.stack([np.arange(20) // 2 * 3, np.arange(20) // 2 * 3 + np.arange(20) % 2 + 1])  # ten items won twice
    split = split_records(users, np.arange(20), items, test=0.3, seed=0)
    assert (len(split.training), len(split.test), split.between) == (14, 6, 0)
    assert not set(split.test // 2) & set(split.training // 2)


def test_a_user_whose_records_all_have_one_item_stays_in_training():
    users = np.array([0] * 5 + [1] * 5)
    items = np.array([[0, 0, 0, 0, 0, 10, 12, 14, 16, 18], [1, 2, 3, 4, 5, 11, 13, 15, 17, 19]])
    split = split_records(users, np.arange(10), items, test=0.4, seed=0)
    assert split.training_only == 1
    assert set(range(5)) <= set(split.training)
    assert len(split.test) == 2
    with pytest.raises(DataError, match="that share none"):
        split_records(users[:5], np.arange(5), items[:, :5], test=0.4, seed=0)


def test_only_users_whose_records_share_an_item_are_dealt():
    users, pairs = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 0, 2, 3])
    items = np.array([[0, 2, 0, 4, 5], [1, 3, 1, 5, 6]])  # one user compares a pair twice, the other one item twice
    found = deal_items(users, pairs, items, 0.5, np.random.default_rng(0))
    assert found.linked.tolist() == [False, False, False, True, True]
    assert not found.judged[:3].any() and not found.between[:3].any()


def test_users_without_shared_items_are_drawn_as_if_nobody_shared_any():
    users, pairs = np.repeat(np.arange(4), 15), np.arange(60)
    plain = own_items(pairs)
    linked = plain.copy()
    linked[:, 45:] = rated(1, 6)[1] + 1000
    one, other = (split_records(users, pairs, items, test=0.3, seed=5) for items in (plain, linked))
    np.testing.assert_array_equal(one.test[one.test < 45], other.test[other.test < 45])
    assert other.between > 0 == one.between
