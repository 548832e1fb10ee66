"""What a user's records are worth together, and what they say without those that share an item with a record."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.preferences import Comparisons, Rankings
from accordant.preferences.learners.shared_items import SharedItems


def drawn(seed, n_records, n_items, n_users, weighing="one"):
    """Records of few items, so that many share some; the last user has none."""
    generator = np.random.default_rng(seed)
    chosen = generator.integers(0, n_items, n_records)
    weights = {
        "one": None,
        "some": generator.integers(0, 3, n_records).astype(float) + (np.arange(n_records) == 0),
        "any": generator.uniform(0.01, 5.0, n_records),
    }
    return Comparisons(
        generator.normal(size=(n_items, 3)), chosen, (chosen + generator.integers(1, n_items, n_records)) % n_items,
        generator.integers(0, n_users, n_records), user_names=tuple(map(str, range(n_users + 1))),
        weights=weights[weighing],
    )  # fmt: skip


def by_hand(records, rows):
    """Mean and worth of some records, item by item."""
    net, total, squares, mean = {}, 0.0, 0.0, np.zeros(3)
    for row in rows:
        weight, winner, loser = records.record_weights[row], int(records.chosen[row]), int(records.rejected[row])
        net[winner], net[loser] = net.get(winner, 0.0) + weight, net.get(loser, 0.0) - weight
        total, squares = total + weight, squares + weight**2
        mean += weight * (records.features[winner] - records.features[loser])
    if not total:
        return mean, 0.0
    wins = sum(each**2 for each in net.values())
    return mean / total, min(total**2 / squares, 2 * total**2 / wins if wins else np.inf)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 50), st.integers(2, 12), st.integers(1, 4), st.sampled_from(["one", "some", "any"])
)  # fmt: skip
def test_sums_equal_those_record_by_record(seed, n_records, n_items, n_users, weighing):
    records = drawn(seed, n_records, n_items, n_users, weighing)
    shared = SharedItems(records)
    everybody, others = shared.of_users(records.differences()), shared.of_others(records.differences())
    for user in range(n_users + 1):
        mean, worth = by_hand(records, np.flatnonzero(records.users == user))
        assert everybody.means[user] == pytest.approx(mean)
        assert everybody.counted[user] == pytest.approx(worth)
    items = [{int(a), int(b)} for a, b in zip(records.chosen, records.rejected, strict=True)]
    for record in range(n_records):
        apart = [
            each for each in range(n_records)
            if records.users[each] == records.users[record] and not items[each] & items[record]
        ]  # fmt: skip
        mean, worth = by_hand(records, apart)
        assert others.means[record] == pytest.approx(mean, abs=1e-9)
        assert others.counted[record] == pytest.approx(worth, abs=1e-9)


def test_common_opponents_are_found_part_by_part(monkeypatch):
    records = drawn(3, 60, 8, 2)
    whole = SharedItems(records).of_others(records.differences())
    monkeypatch.setattr("accordant.preferences.learners.shared_items.STEPS", 5)
    parts = SharedItems(records).of_others(records.differences())
    assert parts.counted == pytest.approx(whole.counted)


def worth(chosen, rejected, weights=None):
    records = Comparisons(np.eye(12), chosen, rejected, [0] * len(chosen), weights=weights)
    return SharedItems(records).of_users(records.differences()).counted[0]


def test_records_that_share_no_item_count_one_each_and_copies_count_once():
    assert worth([0, 2, 4], [1, 3, 5]) == pytest.approx(3.0)
    assert worth([0, 0, 0], [1, 1, 1]) == pytest.approx(1.0)
    assert worth([0, 1], [1, 0]) == pytest.approx(2.0)  # they contradict each other
    assert worth([0, 2, 4], [1, 3, 5], [1.0, 1.0, 0.0]) == pytest.approx(2.0)
    star = worth([0] * 11, range(1, 12))
    assert star == pytest.approx(2 * 11**2 / (11**2 + 11)) and star < 2


def test_all_pairs_of_a_ranking_are_worth_less_than_their_number():
    pairs = Rankings(np.eye(9), [list(range(9))], [0]).to_comparisons()
    counted = SharedItems(pairs).of_users(pairs.differences()).counted[0]
    assert counted == pytest.approx(1.5 * 9 * 8 / 10)  # of 36


@pytest.mark.parametrize("scale", [1e-200, 0.01, 7.0, 1e200])
def test_the_scale_of_weights_says_nothing(scale):
    assert worth([0, 1, 4], [1, 2, 5], np.array([1.0, 2.0, 0.5]) * scale) == pytest.approx(
        worth([0, 1, 4], [1, 2, 5], [1.0, 2.0, 0.5])
    )


def test_worth_is_the_inverse_variance_of_means_of_features_without_meaning():
    generator = np.random.default_rng(0)
    order = generator.permutation(8)
    pairs = [(a, b) for place, a in enumerate(order) for b in order[place + 1 :]][::2]
    chosen, rejected = np.array(pairs).T
    variances = []
    for _ in range(400):
        records = Comparisons(generator.normal(size=(8, 20)), chosen, rejected, [0] * len(pairs))
        variances.append((records.differences().mean(axis=0) ** 2).mean() / 2.0)  # one record has the variance 2
    counted = SharedItems(records).of_users(records.differences()).counted[0]
    assert np.mean(variances) == pytest.approx(1 / counted, rel=0.05)
    assert counted < len(pairs)


def test_users_whose_records_share_items():
    records = Comparisons(
        np.eye(6), [0, 2, 0, 1, 0, 0], [1, 3, 1, 2, 1, 2], [0, 0, 1, 1, 2, 2], weights=[1, 1, 1, 1, 1, 0]
    )
    assert SharedItems(records).sharing.tolist() == [False, True, False]


@pytest.mark.parametrize("kind", ["clique", "star", "few items"])
def test_many_records_of_one_user_take_little_time(kind):
    generator, n_records = np.random.default_rng(0), 40_000
    n_items = {"clique": 300, "star": n_records + 1, "few items": 20}[kind]
    if kind == "star":
        chosen, rejected = np.zeros(n_records, dtype=int), np.arange(1, n_records + 1)
    else:
        chosen = generator.integers(0, n_items, n_records)
        rejected = (chosen + generator.integers(1, n_items, n_records)) % n_items
    records = Comparisons(generator.normal(size=(n_items, 2)), chosen, rejected, np.zeros(n_records, dtype=int))
    start = time.process_time()
    others = SharedItems(records).of_others(records.differences())
    assert time.process_time() - start < 10  # records² would be 1.6 billion steps
    assert (others.counted > 0).all() == (kind != "star")


def test_nothing_is_worth_nothing():
    records = drawn(0, 5, 4, 2).take(slice(0, 0))
    shared = SharedItems(records)
    assert shared.of_users(records.differences()).counted.tolist() == [0.0] * 3
    assert shared.of_others(records.differences()).means.shape == (0, 3)


def test_users_of_very_different_weight_are_each_told_their_own():
    weights = np.array([1.0, 1.0, 1e-200, 1e-200, 0.0])
    records = Comparisons(np.eye(10), [0, 2, 4, 6, 8], [1, 3, 5, 7, 9], [0, 0, 1, 1, 2], weights=weights)
    everybody = SharedItems(records).of_users(records.differences())
    assert everybody.counted == pytest.approx([2.0, 2.0, 0.0])
    assert everybody.means[1] == pytest.approx([0, 0, 0, 0, 0.5, -0.5, 0.5, -0.5, 0, 0])
    assert SharedItems(records).of_others(records.differences()).counted == pytest.approx([1.0] * 4 + [0.0])
