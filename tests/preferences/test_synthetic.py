"""Worlds have the truth that they say they have."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.synthetic import GROUPS, WORLDS, World, world


def groups_of(records):
    return np.array(records.groups)


@pytest.mark.parametrize("each", WORLDS, ids=lambda each: each.name)
def test_sizes_and_groups_are_as_declared(each):
    sample = each.drawn(np.random.default_rng(0))
    counts = {"training": each.records, "test": each.test_records, "first": each.first_records}
    for name, count in counts.items():
        records = getattr(sample, name)
        assert records.counts.tolist() == [count] * each.users
        assert records.features.shape == (2 * count * each.users, each.features)
        assert records.user_features.shape == (each.users, each.features)
    minority = groups_of(sample.training) == GROUPS[1]
    assert minority.sum() == max(1, round(each.minority * each.users))
    assert sample.training.groups == sample.test.groups
    assert np.linalg.norm(sample.rewards, axis=1) == pytest.approx(each.sharpness)


def test_the_same_state_draws_the_same_bytes_and_another_another():
    first, second, other = (WORLDS[0].drawn(np.random.default_rng(seed)) for seed in (1, 1, 2))
    for name in ("features", "chosen", "user_features"):
        assert getattr(first.training, name).tobytes() == getattr(second.training, name).tobytes()
        assert getattr(first.training, name).tobytes() != getattr(other.training, name).tobytes()


@pytest.mark.parametrize("similarity", [-1.0, -0.5, 0.0, 1.0])
def test_directions_of_the_groups_have_the_cosine_that_was_asked_for(similarity):
    sample = World("any", similarity=similarity, individuality=0.0).drawn(np.random.default_rng(3))
    minority = groups_of(sample.training) == GROUPS[1]
    first, second = sample.rewards[~minority][0], sample.rewards[minority][0]
    assert first @ second / 4.0 == pytest.approx(similarity, abs=1e-12)
    assert np.allclose(sample.rewards[~minority], first)


def test_answers_follow_the_bradley_terry_law():
    sample = World("any", users=40, records=500, individuality=0.0).drawn(np.random.default_rng(4))
    records = sample.training
    margins = np.einsum("rf,rf->r", records.differences(), sample.rewards[records.users])
    sure = np.abs(margins)
    for low, high in ((0.0, 0.5), (0.5, 1.5), (1.5, 3.0), (3.0, 50.0)):
        some = (sure >= low) & (sure < high)
        expected = (1 / (1 + np.exp(-sure[some]))).mean()
        error = np.sqrt(expected * (1 - expected) / some.sum())
        assert (margins[some] > 0).mean() == pytest.approx(expected, abs=4 * error)


def test_the_place_of_the_chosen_item_says_nothing():
    records = World("any", users=40, records=100).drawn(np.random.default_rng(5)).training
    assert (records.chosen < records.rejected).mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(len(records)))


def test_what_is_known_of_users_says_something_or_nothing():
    for known, low, high in ((20, 0.6, 1.0), (0, -0.15, 0.15)):
        sample = World("any", known=known, users=200).drawn(np.random.default_rng(6))
        shown = sample.training.user_features
        cosines = np.einsum("uf,uf->u", shown, sample.rewards) / np.linalg.norm(shown, axis=1) / 2.0
        assert low < cosines.mean() < high


def test_noise_is_of_the_size_of_answers_without_preference():
    said, noise = (
        World("any", known=known, users=400, sharpness=1e-9).drawn(np.random.default_rng(8)).training.user_features
        for known in (12, 0)
    )
    error = 4 * np.sqrt(2 / noise.size) / 6  # of a mean of squares whose variance is 1/6
    assert (noise**2).mean() == pytest.approx(1 / 6, abs=error)
    assert (noise**2).mean() == pytest.approx((said**2).mean(), abs=2 * error)


def test_a_group_has_at_least_one_user():
    for minority in (1e-9, 1 - 1e-9):
        sample = World("any", minority=minority, users=2).drawn(np.random.default_rng(0))
        assert sorted(sample.training.groups) == list(GROUPS)


def test_new_users_are_others_with_the_same_directions():
    sample = World("any", individuality=0.0).drawn(np.random.default_rng(7))
    assert np.allclose(sample.rewards, sample.new_rewards)
    sample = World("any").drawn(np.random.default_rng(7))
    assert not np.allclose(sample.rewards, sample.new_rewards)


def test_worlds_are_found_by_name_and_changed():
    assert world("90:10", records=7) == World("90:10", minority=0.1, similarity=-0.5, records=7)
    with pytest.raises(InputError, match="world is 'flat'"):
        world("flat")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("minority", 1.5), ("minority", 0.0), ("minority", 1.0), ("minority", np.nan), ("similarity", -1.01),
        ("similarity", 1.01),
        ("users", 1), ("features", 1), ("records", 0), ("records", 6.5), ("records", True), ("known", -1),
        ("known", 2.0), ("test_records", 0), ("first_records", 0), ("individuality", -0.1), ("individuality", np.inf),
        ("sharpness", 0.0), ("sharpness", -2.0), ("sharpness", np.nan),
    ],
)  # fmt: skip
def test_wrong_numbers_are_refused(name, wrong):
    with pytest.raises(InputError, match=f"{name} is {wrong}; allowed"):
        world("scarce", **{name: wrong})
