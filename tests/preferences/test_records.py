"""Comparisons, rankings and ratings: what they refuse, and what they become."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array
from hypothesis import given
from hypothesis import strategies as st

from accordant.errors import DataError
from accordant.preferences import Comparisons, Rankings, Ratings

FEATURES = np.arange(8.0).reshape(4, 2) ** 2


def comparisons(**changes):
    given = {"features": FEATURES, "chosen": [0, 1, 2], "rejected": [1, 2, 0], "users": [0, 0, 1]} | changes
    return Comparisons(**given)


def test_differences_are_chosen_less_rejected():
    found = comparisons()
    assert np.array_equal(found.differences(), FEATURES[[0, 1, 2]] - FEATURES[[1, 2, 0]])
    assert np.array_equal(found.take(np.array([2])).differences(), FEATURES[[2]] - FEATURES[[0]])
    assert found.names == ("0", "1")
    assert found.counts.tolist() == [2, 1]
    assert found.record_weights.tolist() == [1.0, 1.0, 1.0]


def test_users_without_records_stay():
    found = comparisons(user_names=("ann", "bob", "cem"), groups=("x", "y", "x"))
    assert found.counts.tolist() == [2, 1, 0]
    assert found.of_users([1]).counts.tolist() == [0, 1, 0]
    assert found.with_groups(("y", "y", "y")).groups == ("y", "y", "y")


def test_weights_and_margins_stay_with_their_records():
    found = comparisons(weights=[1.0, 2.0, 0.0], margins=[np.nan, 0.5, 3.0]).take(np.array([2, 1]))
    assert found.weights.tolist() == [0.0, 2.0]
    assert found.margins.tolist() == [3.0, 0.5]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": [1.0, 2.0]}, "features have shape"),
        ({"features": FEATURES * np.nan}, "finite numbers"),
        ({"chosen": [0, 1, 9]}, "chosen goes from 0 to 9; allowed: 0 to 3"),
        ({"rejected": [1, 2]}, "rejected has shape"),
        ({"rejected": [0, 2, 0]}, "record 0 compares item 0 with itself"),
        ({"users": [0, 1, -1]}, "users goes from -1"),
        ({"users": [0, 1, 2], "user_names": ("a", "b")}, "allowed: 0 to 1"),
        ({"user_names": ("a", "a")}, "names of users repeat"),
        ({"user_names": (1, "1")}, "names of users repeat"),
        ({"user_names": ("a", None)}, r"user_names\[1\] is None"),
        ({"user_names": "ab"}, "user_names is the text 'ab'"),
        ({"groups": ("x", None)}, r"groups\[1\] is None; allowed: text or a number, none missing"),
        ({"groups": ("x", float("nan"))}, r"groups\[1\] is nan"),
        ({"groups": ("x", ("y", "z"))}, r"groups\[1\] is \('y', 'z'\)"),
        ({"groups": np.array([["x"], ["y"]])}, r"groups\[0\] is array"),
        ({"groups": "xy"}, "groups is the text 'xy'"),
        ({"groups": ("x",)}, "1 groups were given for 2 users"),
        ({"weights": [[1.0], [1.0], [1.0]]}, "weights has shape"),
        ({"margins": [[1.0], [1.0], [1.0]]}, r"margins has shape \(3, 1\)"),
        ({"margins": [np.inf, 0.0, 0.0]}, "margins must be finite"),
        ({"weights": [-1.0, 1.0, 1.0]}, "weights must be finite and at least 0"),
        ({"weights": [0.0, 0.0, 0.0]}, "not all 0"),
        ({"chosen": [0.5, 1.0, 2.0]}, "whole numbers"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(DataError, match=message):
        comparisons(**changes)


def test_names_and_groups_become_text():
    found = comparisons(user_names=np.array([7, 3]), groups=np.array(["x", "y"]))
    assert found.names == ("7", "3")
    assert found.groups == ("x", "y")
    assert type(found.groups) is tuple
    assert all(type(group) is str for group in found.groups)
    assert comparisons(groups=[1, 2.5]).groups == ("1", "2.5")
    with pytest.raises(DataError, match=r"groups\[0\] is None"):
        found.with_groups((None, "x"))
    assert Rankings(FEATURES, [[0, 1]], [0], groups=np.array([4])).groups == ("4",)
    rated = Ratings(FEATURES, [0], [0], [1.0], user_names=np.array([7, 8]), groups=np.array([4, 5]))
    assert (rated.user_names, rated.groups) == (("7", "8"), ("4", "5"))
    with pytest.raises(DataError, match="2 groups were given for 1 users"):
        Ratings(FEATURES, [0], [0], [1.0], groups=("a", "b"))


def test_nobody_and_nothing():
    empty = np.empty(0, dtype=int)
    assert len(Comparisons(FEATURES, empty, empty, empty)) == 0
    assert Comparisons(FEATURES, empty, empty, empty).n_users == 0


def test_rankings_become_all_their_pairs_and_count_once_each():
    rankings = Rankings(FEATURES, [[2, 0, 3], [1, 3, -1]], [0, 1])
    found = rankings.to_comparisons()
    pairs = list(zip(found.chosen.tolist(), found.rejected.tolist(), found.users.tolist(), strict=True))
    expected = [(a, b, 0) for a, b in itertools.combinations((2, 0, 3), 2)] + [(1, 3, 1)]
    assert sorted(pairs) == sorted(expected)
    assert np.bincount(found.users, found.record_weights).tolist() == pytest.approx([1.0, 1.0])
    assert rankings.lengths.tolist() == [3, 2]


@pytest.mark.parametrize("places", [0, 1, 3])
def test_no_rankings_become_no_comparisons(places):
    nothing = np.empty(0, dtype=int)
    rankings = Rankings(FEATURES, np.empty((0, places), dtype=int), nothing)
    assert len(rankings) == len(rankings.to_comparisons()) == 0


@pytest.mark.parametrize(
    "order", [[[0]], [[0, 0]], [[0, -1, 1]], [[0, 7]], [[0, 1, len(FEATURES)]], [[0, 1, -2]], [0, 1], [[0, 1, 1]]]
)
def test_rankings_that_are_none_are_refused(order):
    with pytest.raises(DataError):
        Rankings(FEATURES, order, [0] * len(order))


def test_ratings_become_comparisons_where_the_gap_is_wide_enough():
    ratings = Ratings(FEATURES, [0, 1, 2, 3], [0, 0, 0, 1], [5.0, 4.5, 3.0, 1.0])
    found = ratings.to_comparisons(gap=1.0)
    assert sorted(zip(found.chosen.tolist(), found.rejected.tolist(), found.margins.tolist(), strict=True)) == [
        (0, 2, 2.0),
        (1, 2, 1.5),
    ]
    assert found.n_users == 2
    assert len(ratings.to_comparisons(gap=0.5)) == 3
    drawn = [ratings.to_comparisons(gap=0.5, most=1, generator=np.random.default_rng(3)) for _ in range(2)]
    assert len(drawn[0]) == 1
    assert drawn[0].chosen.tolist() == drawn[1].chosen.tolist()
    for wrong in ({"gap": 0.0}, {"most": 0, "generator": np.random.default_rng(0)}, {"most": 3}):
        with pytest.raises(DataError):
            ratings.to_comparisons(**wrong)


def test_ratings_weigh_one_less_than_their_number():
    ratings = Ratings(FEATURES, [0, 1, 2, 3, 0, 1, 2, 0, 1], [0, 0, 0, 0, 1, 1, 1, 2, 2], [5, 4, 3, 1, 2, 2, 4, 3, 3.5])
    found = ratings.to_comparisons()
    assert np.bincount(found.users, minlength=3).tolist() == [6, 2, 0]
    assert np.bincount(found.users, found.record_weights, 3) == pytest.approx([3.0, 2.0, 0.0])
    assert set(found.record_weights[found.users == 0]) == {0.5}


def test_few_pairs_drawn_of_many_weigh_at_most_one_each():
    ratings = Ratings(np.eye(20), np.arange(20), [0] * 20, np.arange(20.0))
    for most, total in ((2, 2.0), (150, 19.0)):
        for seed in range(5):
            found = ratings.to_comparisons(most=most, generator=np.random.default_rng(seed))
            pairs = list(zip(found.chosen.tolist(), found.rejected.tolist(), strict=True))
            assert len(set(pairs)) == most
            assert all(better > worse for better, worse in pairs)
            occurring = len(set(found.chosen.tolist()) | set(found.rejected.tolist()))
            assert found.record_weights.sum() == pytest.approx(min(total, occurring - 1))
            assert found.record_weights.max() <= 1
    every = ratings.to_comparisons(most=190, generator=np.random.default_rng(0))
    assert every.chosen.tolist() == ratings.to_comparisons().chosen.tolist()


@given(st.lists(st.integers(0, 8), min_size=2, max_size=9), st.integers(1, 8))
def test_weights_are_those_of_a_connected_comparison(ratings, gap):
    """Pairs a gap apart are connected: they determine one difference less than the ratings in them."""
    found = Ratings(np.eye(9), np.arange(len(ratings)), [0] * len(ratings), ratings).to_comparisons(gap=gap)
    rank = np.linalg.matrix_rank(found.differences()) if len(found) else 0
    assert found.record_weights.sum() == pytest.approx(rank)


def test_an_item_that_was_rated_twice_is_not_compared_with_itself():
    found = Ratings(FEATURES, [0, 0, 1], [0, 0, 0], [5.0, 2.0, 1.0]).to_comparisons()
    assert sorted(zip(found.chosen.tolist(), found.rejected.tolist(), found.margins.tolist(), strict=True)) == [
        (0, 1, 1.0),
        (0, 1, 4.0),
    ]
    assert len(Ratings(FEATURES, [0, 0], [0, 0], [5.0, 2.0]).to_comparisons()) == 0


def test_a_gap_that_rounding_falls_short_of_counts():
    assert 4.1 - 3.1 < 1.0
    assert len(Ratings(FEATURES, [0, 1], [0, 0], [4.1, 3.1]).to_comparisons(gap=1.0)) == 1
    assert len(Ratings(FEATURES, [0, 1], [0, 0], [4.1, 3.1001]).to_comparisons(gap=1.0)) == 0
    assert len(Ratings(FEATURES, [0, 1], [0, 0], [2.0, 2.0]).to_comparisons(gap=1e-300)) == 0


@pytest.mark.parametrize(
    "features", [csr_array(np.eye(3)), np.eye(3) * 1j, np.ma.masked_array(np.eye(3), np.eye(3)), np.full((3, 2), "1")]
)
def test_what_would_silently_lose_something_is_refused(features):
    with pytest.raises(DataError, match="features must be a dense array of real numbers; found a"):
        Comparisons(features, [0, 1], [1, 2], [0, 0])
    with pytest.raises(DataError, match="weights must be a dense array of real numbers"):
        Comparisons(np.eye(3), [0, 1], [1, 2], [0, 0], weights=np.array([1j, 1]))
