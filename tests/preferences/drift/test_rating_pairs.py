"""Comparisons of ratings that come in one after the other: a plain loop, nothing from the future, no rating twice."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences import Ratings
from accordant.preferences.drift import disjoint_pairs, pairs_with_earlier


def some_ratings(n=80, n_users=5, seed=0):
    generator = np.random.default_rng(seed)
    return Ratings(
        generator.normal(size=(n, 2)), generator.permutation(n), generator.integers(0, n_users, n),
        generator.integers(1, 11, n) / 2, generator.integers(0, 30, n).astype(float),
        tuple(f"u{user}" for user in range(n_users + 1)),
    )  # fmt: skip


def in_order(ratings, user):
    """Rows of a user by time, ties in the given order."""
    return sorted(np.flatnonzero(ratings.users == user).tolist(), key=lambda row: ratings.times[row])


def test_all_earlier_ones_against_a_loop():
    ratings = some_ratings()
    found = pairs_with_earlier(ratings, gap=1.5, most=1000, generator=np.random.default_rng(0))
    expected = set()
    for user in range(5):
        rows = in_order(ratings, user)
        for place, new in enumerate(rows):
            for old in rows[:place]:
                if abs(ratings.ratings[new] - ratings.ratings[old]) >= 1.5:
                    expected.add((new, old, place))
    assert set(zip(found.newer.tolist(), found.older.tolist(), found.place.tolist(), strict=True)) == expected
    assert len(found.newer) == len(expected)
    better = np.where(ratings.ratings[found.newer] > ratings.ratings[found.older], found.newer, found.older)
    np.testing.assert_array_equal(found.comparisons.chosen, ratings.items[better])
    np.testing.assert_array_equal(found.comparisons.users, ratings.users[found.newer])
    gaps = np.abs(ratings.ratings[found.newer] - ratings.ratings[found.older])
    np.testing.assert_array_equal(found.comparisons.margins, gaps)


@pytest.mark.parametrize("most", [1, 3])
def test_a_few_earlier_ones_weigh_one_in_sum(most):
    ratings = some_ratings()
    every = pairs_with_earlier(ratings, most=1000, generator=np.random.default_rng(0))
    found = pairs_with_earlier(ratings, most=most, generator=np.random.default_rng(0))
    chosen, allowed = (set(zip(each.newer.tolist(), each.older.tolist(), strict=True)) for each in (found, every))
    assert chosen <= allowed
    for new in np.unique(every.newer):
        assert (found.newer == new).sum() == min(most, (every.newer == new).sum())
        assert found.comparisons.record_weights[found.newer == new].sum() == pytest.approx(1.0)
    other = pairs_with_earlier(ratings, most=most, generator=np.random.default_rng(1))
    assert (found.older != other.older).any()
    again = pairs_with_earlier(ratings, most=most, generator=np.random.default_rng(0))
    np.testing.assert_array_equal(found.older, again.older)


def test_later_ratings_change_nothing_before():
    ratings = some_ratings()
    rows = np.flatnonzero(ratings.times < 20)
    early = Ratings(ratings.features, ratings.items[rows], ratings.users[rows], ratings.ratings[rows],
                    ratings.times[rows], ratings.user_names)  # fmt: skip
    for make in (lambda r: pairs_with_earlier(r, most=99, generator=np.random.default_rng(0)), disjoint_pairs):
        before, every = make(early), make(ratings)
        kept = ratings.times[every.newer] < 20
        np.testing.assert_array_equal(rows[before.newer], every.newer[kept])
        np.testing.assert_array_equal(rows[before.older], every.older[kept])


def test_disjoint_pairs_against_a_loop():
    ratings = some_ratings(81)
    found = disjoint_pairs(ratings)
    expected = []
    for user in range(5):
        rows = in_order(ratings, user)
        for place in range(0, len(rows) - 1, 2):
            old, new = rows[place : place + 2]
            if abs(ratings.ratings[new] - ratings.ratings[old]) >= 1:
                expected.append((new, old, place + 1))
    assert list(zip(found.newer.tolist(), found.older.tolist(), found.place.tolist(), strict=True)) == expected
    assert len(set(found.newer) | set(found.older)) == 2 * len(expected)
    assert found.comparisons.record_weights.tolist() == [1.0] * len(expected)


def test_users_with_one_rating_or_none_and_ratings_that_never_differ():
    one = Ratings(np.eye(3), [0], [1], [4.0], [9.0], ("a", "b", "c"))
    equal = Ratings(np.eye(3), [0, 1, 2], [0, 0, 0], [4.0, 4.5, 4.0], [9.0, 9.0, 9.0])
    none = Ratings(np.eye(3), np.empty(0, int), np.empty(0, int), [], [])
    for ratings in (one, equal, none):
        assert len(pairs_with_earlier(ratings, generator=np.random.default_rng(0)).comparisons) == 0
        assert len(disjoint_pairs(ratings).comparisons) == 0
    assert pairs_with_earlier(one, generator=np.random.default_rng(0)).comparisons.names == ("a", "b", "c")


def test_wrong_input():
    ratings = some_ratings()
    timeless = Ratings(ratings.features, ratings.items, ratings.users, ratings.ratings)
    with pytest.raises(DataError, match="times"):
        disjoint_pairs(timeless)
    for gap in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="gap"):
            disjoint_pairs(ratings, gap=gap)
    with pytest.raises(InputError, match="most"):
        pairs_with_earlier(ratings, most=0, generator=np.random.default_rng(0))
