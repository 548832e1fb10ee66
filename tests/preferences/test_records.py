"""Comparisons, rankings and ratings: what they refuse, and what they become."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

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


@pytest.mark.parametrize("order", [[[0]], [[0, 0]], [[0, -1, 1]], [[0, 7]], [0, 1], [[0, 1, 1]]])
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
