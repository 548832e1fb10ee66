"""Splits: nothing is learned from what is judged by, within users, by time where there is one, from one seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import DataError, InputError
from accordant.preferences.comparing.splitting import split_records


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
        split = split_records(users, pairs, **options)
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
    again = split_records(users, pairs, **options)
    assert all(np.array_equal(one, other) for one, other in zip(rows_of(split), rows_of(again), strict=True))


def test_shares_are_of_pairs_and_a_user_with_one_pair_is_counted():
    users = np.array([0] * 10 + [1] * 3 + [2])
    pairs = np.array([*range(10), 0, 0, 0, 5])
    split = split_records(users, pairs, test=0.3, seed=0)
    assert np.bincount(users[split.test], minlength=3).tolist() == [3, 0, 0]
    assert split.training_only == 2
    assert split.to_json()["training_records"] == 11
    tested = set(pairs[split.test])
    assert split.seen == pytest.approx(len(tested & {0, 5}) / 3)


def test_a_user_whose_records_are_all_late_is_learned_from():
    users, later = np.array([0, 0, 1, 1]), np.array([False, True, True, True])
    split = split_records(users, np.arange(4), test=0.5, seed=0, later=later)
    assert split.test.tolist() == [1]
    assert split.training.tolist() == [0, 2, 3]


def test_another_seed_draws_others():
    users, pairs = np.repeat(np.arange(4), 25), np.tile(np.arange(25), 4)
    one, other = (split_records(users, pairs, test=0.3, seed=seed).test for seed in (1, 2))
    assert len(one) == len(other) == 32
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    "wrong", [{"test": 0.0}, {"test": 1.0}, {"new_users": 1.0}, {"new_users": -0.1}, {"first": -1}]
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="allowed"):
        split_records(np.array([0, 0]), np.array([0, 1]), **({"test": 0.5, "seed": 0} | wrong))


def test_nobody_to_judge_and_nobody_to_learn_from():
    with pytest.raises(DataError, match="no user has compared two different pairs"):
        split_records(np.array([0, 1, 1]), np.array([0, 1, 1]), test=0.5, seed=0)
    with pytest.raises(DataError, match="2 of 2 users would be new"):
        split_records(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), test=0.5, seed=0, new_users=0.9)
