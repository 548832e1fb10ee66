"""Candidates: what may be shown, weights, categories, and users in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.slates.rule import rules
from accordant.strategies.block import BLOCK_SIZE

E = np.random.default_rng(0).random((3, 4, 5))


def test_defaults(make_candidates):
    found = make_candidates(E)
    assert found.available.shape == (4, 5) and found.available.all()
    assert found.weights.tolist() == [1.0, 1.0, 1.0] and found.categories.tolist() == [-1] * 4 and found.user is None
    assert found.stakeholders == ("guest", "town", "inn") and found.items == ("c0", "c1", "c2", "c3")
    assert found.n_users == 5 and np.array_equal(found.values, E)


def test_one_mask_for_all_users(make_candidates):
    mask = np.array([True, False, True, True])
    assert np.array_equal(make_candidates(E, mask).available, np.repeat(mask[:, None], 5, axis=1))
    assert np.array_equal(make_candidates(E, mask[:, None]).available, make_candidates(E, mask).available)


@pytest.mark.parametrize(
    "mask",
    [np.ones(3, bool), np.ones((4, 4), bool), np.ones((5, 4), bool), np.ones((4, 5)), np.ones((1, 4, 5), bool), True],
)
def test_wrong_masks(make_candidates, mask):
    with pytest.raises(
        InputError, match=r"available has shape .*; allowed: booleans of shape \(4, 5\), \(item, user\)"
    ):
        make_candidates(E, mask)


@pytest.mark.parametrize("weights", [[1, 1], [1, -1, 1], [0, 0, 0], [1, np.nan, 1], [1, np.inf, 1]])
def test_wrong_weights(make_candidates, weights):
    with pytest.raises(InputError):
        make_candidates(E, None, weights)


@pytest.mark.parametrize(
    "codes", [[0, 1, 2], [0.0, 1.0, 1.0, 2.0], [0, 1, -2, 0], ["a", "b", "c", "d"], [[0, 1, 2, 3]]]
)
def test_wrong_categories(make_candidates, codes):
    with pytest.raises(InputError, match="allowed: 4 codes of at least -1"):
        make_candidates(E, categories=codes)


def test_the_user_is_a_stakeholder(make_candidates):
    assert make_candidates(E, user="inn").user == "inn"
    with pytest.raises(UnknownNameError, match="did you mean 'guest'"):
        make_candidates(E, user="gust")


def test_whoever_has_no_weight_has_no_say_in_ties(make_candidates):
    assert np.allclose(make_candidates(E, None, [1, 0, 5]).totals, E[0] + E[2], rtol=0, atol=0)
    assert np.allclose(make_candidates(E).totals, E.sum(axis=0), rtol=0, atol=0)


def test_single_precision_is_wider(make_candidates):
    single = make_candidates(E, dtype=np.float32)
    assert (make_candidates(E).tolerance, single.tolerance) == (1e-12, 1e-6)
    assert single.values.dtype == np.float64 and single.values.flags.c_contiguous


@pytest.mark.parametrize("users", [slice(1, 3), np.array([4, 0, 0])])
def test_taking_users_keeps_everything_else(make_candidates, users):
    mask = np.random.default_rng(1).random((4, 5)) < 0.6
    found = make_candidates(E, mask, [1, 2, 3], [0, 1, 1, -1], "town").take(users)
    assert np.array_equal(found.values, E[:, :, users]) and np.array_equal(found.available, mask[:, users])
    assert found.weights.tolist() == [1, 2, 3] and found.categories.tolist() == [0, 1, 1, -1] and found.user == "town"


def test_changing_one_thing_keeps_the_others(make_candidates):
    given = make_candidates(E, np.array([True, True, False, True]), [1, 2, 3], [0, 1, 1, -1], "town")
    other = given.but(weights=np.array([0.0, 1.0, 0.0]))
    assert other.weights.tolist() == [0, 1, 0] and np.array_equal(other.available, given.available)
    assert other.expected is given.expected and other.user == "town" and other.categories is not None
    closed = given.but(available=np.zeros((4, 5), dtype=bool))
    assert not closed.available.any() and closed.weights.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("items", "users"), [(1, 1), (7, 0), (3, 40_000), (5000, 20), (BLOCK_SIZE + 1, 2)])
def test_blocks_hold_every_user_once(make_candidates, items, users):
    parts = make_candidates(np.broadcast_to(np.float32(0.5), (2, items, users)), dtype=np.float32).slices()
    assert [u for part in parts for u in range(part.start, part.stop)] == list(range(users))
    assert all(part.stop - part.start == 1 or (part.stop - part.start) * 2 * items <= BLOCK_SIZE for part in parts)


@pytest.mark.parametrize("name", ["utilitarian_slate", "nash_slate", "seq_pav", "per_item", "mmr"])
def test_blocks_and_threads_change_nothing(make_candidates, monkeypatch, name):
    draw = np.random.default_rng(3)
    values = draw.integers(0, 4, (3, 6, 31)) / 4
    given = make_candidates(values, draw.random((6, 31)) < 0.7, [1, 2, 0], [0, 0, 1, 1, -1, 2], "guest")
    rule = rules.create(name, {"strategy": {"name": "maximin"}} if name == "per_item" else {})
    whole = rule(given, 3, threads=1)
    monkeypatch.setattr("accordant.slates.candidates.BLOCK_SIZE", 3 * 6 * 4)
    assert len(given.slices()) == 8
    for threads in (1, 3):
        parts = rule(given, 3, threads=threads)
        assert np.array_equal(parts.items, whole.items) and np.array_equal(parts.tied, whole.tied)
    each = [rule(given.take(slice(u, u + 1)), 3, threads=1) for u in range(31)]
    assert np.array_equal(np.concatenate([one.items for one in each]), whole.items)


@pytest.mark.parametrize("name", ["utilitarian_slate", "nash_slate", "maximin_slate", "seq_pav", "seq_cc", "mmr"])
def test_whoever_has_no_weight_is_as_if_absent(make_candidates, name):
    draw = np.random.default_rng(4)
    values = draw.integers(0, 3, (3, 6, 40)) / 3
    mask = draw.random((6, 40)) < 0.8
    rule = rules.create(name)
    with_all = rule(make_candidates(values, mask, [2, 1, 0]), 3)
    without = rule(make_candidates(values[:2], mask, [2, 1]), 3)
    assert np.array_equal(with_all.items, without.items) and np.array_equal(with_all.tied, without.tied)
