"""Linear rewards around a common one, and how much records say that share items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError
from accordant.preferences import Comparisons, Ratings
from accordant.preferences.learners.user_effects import PlacedReward, records_along
from accordant.preferences.learners.shared_items import independent_weights


def drawn(seed, *, users=3, items=8, records=12):
    generator = np.random.default_rng(seed)
    chosen = generator.integers(items, size=records)
    rejected = (chosen + generator.integers(1, items, size=records)) % items
    weights = np.append(1.0, generator.integers(0, 3, size=records - 1) / 2)
    features = generator.normal(size=(items, 4))
    return Comparisons(features, chosen, rejected, generator.integers(users, size=records), tuple("abc"), None, weights)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_a_users_records_weigh_what_independent_ones_would(seed):
    records = drawn(seed)
    found = independent_weights(records)
    for user in range(3):
        rows = [row for row in range(len(records)) if records.users[row] == user and records.weights[row] > 0]
        total = sum(records.weights[row] for row in rows)
        wins = dict.fromkeys(range(8), 0.0)
        for row in rows:
            wins[records.chosen[row]] += records.weights[row]
            wins[records.rejected[row]] -= records.weights[row]
        if not rows:
            continue
        noise = max(sum(net**2 for net in wins.values()) / 2, sum(records.weights[row] ** 2 for row in rows))
        factor = min(1.0, total**2 / noise / total)
        assert found[rows] == pytest.approx(factor * records.weights[rows])
    assert (found <= records.weights).all()


def test_independent_records_keep_their_weights_and_copies_weigh_one():
    apart = Comparisons(np.eye(6), [0, 2, 4], [1, 3, 5], [0, 0, 0])
    assert independent_weights(apart).tolist() == [1.0] * 3
    twice = Comparisons(np.eye(6), [0, 2, 4], [1, 3, 5], [0, 0, 0], weights=[2.0, 2.0, 2.0])
    assert independent_weights(twice) == pytest.approx([1.0] * 3)
    copies = Comparisons(np.eye(2), [0] * 4, [1] * 4, [0, 0, 0, 1])
    assert independent_weights(copies) == pytest.approx([1 / 3] * 3 + [1.0])
    assert independent_weights(apart.take(np.arange(0))).shape == (0,)


def test_weights_of_rated_items_are_not_lowered_again():
    ratings = Ratings(np.eye(6), np.arange(6), np.zeros(6, dtype=int), np.arange(6.0))
    comparisons = ratings.to_comparisons()
    assert independent_weights(comparisons) == pytest.approx(comparisons.record_weights)
    assert comparisons.record_weights.sum() == pytest.approx(5.0)
    every = replace(comparisons, weights=None)
    assert independent_weights(every).sum() == pytest.approx(2 * 15**2 / (2 * (25 + 9 + 1)))


@pytest.mark.parametrize("items", [8, 40])
def test_records_along_directions_are_in_the_order_of_users(items):
    records, generator = drawn(1, items=items), np.random.default_rng(2)
    common, directions = generator.normal(size=4), generator.normal(size=(4, 2))
    found, order = records_along(records, common, directions), np.argsort(records.users, kind="stable")
    assert found.columns == pytest.approx(records.differences(order) @ directions)
    assert found.offsets == pytest.approx(records.differences(order) @ common)
    assert found.weights == pytest.approx(independent_weights(records)[order])
    assert np.array_equal(found.users, records.users[order])


def test_margins_are_those_of_the_users_places_and_other_features_are_refused():
    records, generator = drawn(3), np.random.default_rng(4)
    common, directions, places = generator.normal(size=4), generator.normal(size=(4, 2)), generator.normal(size=(2, 2))
    model = PlacedReward(common, directions, places, np.array([0.3, -0.2]))
    for row, (x, user) in enumerate(zip(records.differences(), records.users, strict=True)):
        place = places[user] if user < 2 else model.unknown
        assert model.margins(records)[row] == pytest.approx(x @ (common + directions @ place))
    assert model.rewards(np.eye(4), None) == pytest.approx(common + directions @ model.unknown)
    for wrong in (np.eye(3), np.ones(4)):
        with pytest.raises(InputError, match="features have shape"):
            model.rewards(wrong)
