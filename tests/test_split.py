"""Rows of one person are in one part, the test part is the latest, and nothing changes without groups and times."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

import accordant as ac
from accordant.errors import DataError, InputError
from accordant.split import group_codes, split_rows, time_keys


def test_without_groups_and_times_it_is_that_of_scikit_learn():
    found = split_rows(400, 0.2, 42)
    train, test = train_test_split(np.arange(400), test_size=0.2, random_state=42)
    assert found.train.tolist() == train.tolist() and found.test.tolist() == test.tolist()
    assert len(found.left_out) == 0 and ac.split_rows is split_rows


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("with_times", [False, True])
def test_no_group_is_in_both_parts(seed, with_times):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(30, 300))
    groups = generator.integers(0, n // 2, n)
    times = generator.integers(0, 40, n) if with_times else None
    found = split_rows(n, 0.3, seed, groups=groups, times=times)
    assert not set(groups[found.train]) & set(groups[found.test])
    assert sorted([*found.train, *found.test, *found.left_out]) == list(range(n))
    if times is not None:
        assert times[found.train].max() < times[found.test].min() and len(found.test) >= 0.3 * n
        assert (times[found.left_out] < times[found.test].min()).all()
        assert set(groups[found.left_out]) <= set(groups[found.test])


def test_groups_are_shuffled_as_rows_are():
    found = split_rows(200, 0.5, 1, groups=np.repeat(np.arange(100), 2))
    assert (np.diff(found.train) < 0).any() and len(found.test) == 100


def test_the_latest_rows_are_for_the_test_and_ties_go_together():
    found = split_rows(
        6, 0.2, times=["2024-05-31", "2013-02-01", "2024-05-31T00:00:00Z", "2013-10-01", "2014-02", "2014-10-01"]
    )
    assert found.test.tolist() == [0, 2] and found.train.tolist() == [1, 3, 4, 5]


def test_rows_of_test_persons_before_the_border_are_left_out():
    found = split_rows(5, 0.4, groups=["a", "b", "c", "a", "d"], times=[1, 2, 3, 4, 5])
    assert (found.train.tolist(), found.test.tolist(), found.left_out.tolist()) == ([1, 2], [3, 4], [0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"groups": ["a", None, "b"]}, "row 1: column 'groups': found nothing"),
        ({"groups": [1.0, 2.0, np.nan]}, "row 2: column 'groups'"),
        ({"groups": ["a", "a", "a"]}, "1 groups cannot be split"),
        ({"groups": ["a", "b"]}, "groups have 2 rows; allowed: 3"),
        ({"times": ["2013-02-01", "Oct-20", "2014-01-01"]}, "row 1: column 'times': found 'Oct-20'"),
        ({"times": ["2013-02-01", "", "2014-01-01"]}, "row 1: column 'times': found nothing"),
        ({"times": [1.0, np.nan, 2.0]}, "row 1: column 'times': found nothing"),
        ({"times": [3, 3, 3]}, "no row is earlier"),
        ({"times": [1, 2, 2], "groups": ["a", "a", "b"]}, "is in the test part too"),
    ],
)
def test_what_cannot_be_used_is_named(arguments, said):
    with pytest.raises(DataError, match=said):
        split_rows(3, 0.3, **arguments)


def test_a_share_out_of_range():
    with pytest.raises(InputError, match="test_size"):
        split_rows(10, 1.0)


def test_groups_are_numbered_and_times_ordered():
    assert group_codes(["b", "a", "b"], "who").tolist() == [0, 1, 0]
    assert group_codes(np.array([7, 3, 7]), "who").tolist() == [0, 1, 0]
    dates = np.array(["2024-01-02", "2024-01-01"], dtype="datetime64[D]")
    assert np.argsort(time_keys(dates, "when")).tolist() == [1, 0]
