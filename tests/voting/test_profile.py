"""Profiles: ranks from any numbers, orders by name, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.voting.ballots import SORTED_FROM, places_above
from accordant.voting import Profile
from accordant.errors import InputError, UnknownNameError


def test_ranks_are_how_many_are_above():
    """Ties share a number, numbers may be left out, the unranked are at the bottom together."""
    profile = Profile([[3, 3, 7, -1, -1], [2, 1, 0, 5, -1], [-1, -1, -1, -1, -1]])
    assert profile.ranks[:, :, 0].tolist() == [[0, 0, 2, 3, 3], [2, 1, 0, 3, 4], [0, 0, 0, 0, 0]]
    assert profile.ranks.dtype == np.int8
    assert profile.weights.tolist() == [1.0, 1.0, 1.0]
    assert profile.alternatives == ("1", "2", "3", "4", "5")
    assert profile.n_contexts == 1


def test_orders_by_name():
    profile = Profile.from_orders([["b", {"c", "a"}], [{"c"}], []], weights=[2, 1, 1], alternatives=["a", "b", "c"])
    assert profile.ranks[:, :, 0].tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 0]]
    found = Profile.from_orders([["y", {"z", "x"}], ["w"]])
    assert found.alternatives == ("y", "x", "z", "w")


def test_many_alternatives_need_wider_ranks():
    profile = Profile(np.arange(200)[None])
    assert profile.ranks[0, :, 0].tolist() == list(range(200))
    assert profile.ranks.dtype == np.int16


def test_arrays_of_any_layout():
    ranks = np.random.default_rng(0).integers(0, 4, (5, 4, 6))
    turned = Profile(np.asfortranarray(ranks)[:, ::-1, ::2], [1, 2, 3, 0, 0.5])
    np.testing.assert_array_equal(turned.ranks, Profile(ranks[:, ::-1, ::2].copy()).ranks)


def test_what_is_given_is_not_changed():
    ranks, weights = np.array([[5, -1]]), np.array([2.0])
    profile = Profile(ranks, weights)
    profile.weights[0] = 9.0
    assert ranks.tolist() == [[5, -1]]
    assert weights.tolist() == [2.0]


@pytest.mark.parametrize(("given", "message"), [
    ({"ranks": [1, 2]}, r"ranks have shape \(2,\); allowed: \(voter, alternative\)"),
    ({"ranks": [[0.5, 1.0]]}, "ranks have type float64; allowed: integers"),
    ({"ranks": np.zeros((0, 3), dtype=int)}, "0 ballots on 3 alternatives; allowed: at least 1 of both"),
    ({"weights": [1.0]}, r"weights have shape \(1,\); allowed: one per voter, \(2,\)"),
    ({"weights": [1.0, -1.0]}, "weights of voters are wrong; allowed: finite numbers of at least 0, not all 0"),
    ({"weights": [0.0, 0.0]}, "not all 0"),
    ({"weights": [np.inf, 1.0]}, "finite"),
    ({"alternatives": ["a"]}, "1 names of alternatives; allowed: 2"),
    ({"alternatives": ["a", "a"]}, "alternative 'a' is named twice"),
    ({"grades": [[1.0, 2.0]]}, r"grades have shape \(1, 2, 1\); allowed: \(2, 2, 1\)"),
    ({"grades": [[1.0, 2.0], [np.nan, 0.0]]}, "a grade is not a finite number"),
    ({"approvals": [[True]]}, "approvals have shape"),
])  # fmt: skip
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        Profile(**{"ranks": [[0, 1], [1, 0]]} | given)


def test_orders_that_are_refused():
    with pytest.raises(UnknownNameError, match="unknown alternative 'Anna'; did you mean 'Anne'"):
        Profile.from_orders([["Anna"]], alternatives=["Anne", "Bob"])
    with pytest.raises(InputError, match="ballot 2 names 'a' twice"):
        Profile.from_orders([["a", "b"], ["a", {"b", "a"}]])


@pytest.mark.parametrize("n_contexts", [1, 3])
def test_many_alternatives_are_placed_as_few_are(n_contexts):
    """Sorting a ballot and comparing every two alternatives on it say the same, with ties and with some left out."""
    ranks = np.random.default_rng(0).integers(-1, 20, (7, SORTED_FROM + 5, n_contexts))
    below = np.where(ranks < 0, 10**6, ranks)
    by_pairs = (below[:, None] < below[:, :, None]).sum(axis=2)
    np.testing.assert_array_equal(places_above(ranks), by_pairs)
