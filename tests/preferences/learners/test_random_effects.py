"""Rewards under a prior that is learned from all users, and never bolder than held-out records allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences import Comparisons, Ratings
from accordant.preferences.learners import random_effects
from accordant.preferences.learners import user_effects
from accordant.preferences.learners.random_effects import HeldOut
from accordant.preferences.learners.shared_items import ItemFolds
from accordant.preferences.learners.learner import LinearReward, learners
from accordant.preferences.learners.logistic import log_loss
from accordant.preferences.synthetic import world

QUICK = {"types": 2, "folds": 3, "rounds": 10}


def sample(name, seed=0, **changes):
    small = {"users": 24, "features": 5, "records": 16, "test_records": 20}
    return world(name, **{**small, **changes}).drawn(np.random.default_rng(seed))


def fitted(records, **changes):
    return learners.create("random_effects", {**QUICK, **changes}).fit(records)


def accuracy(model, records, group=None):
    rows = np.ones(len(records), dtype=bool)
    if group is not None:
        rows = np.array(records.groups)[records.users] == group
    return (model.margins(records) > 0)[rows].mean()


def correlation(model, truth):
    found = np.stack([model.rewards(np.eye(truth.shape[1]), user) for user in range(len(truth))])
    return np.mean([np.corrcoef(one, other)[0, 1] for one, other in zip(found, truth, strict=True)])


@pytest.fixture(scope="module")
def opposed_world():
    drawn = sample("antipodal")
    return drawn, fitted(drawn.training)


def test_opposed_users_are_told_apart_better_than_alone_or_pooled(opposed_world):
    drawn, model = opposed_world
    pooled = learners.create("pooled", {"context": "given"}).fit(drawn.training)
    alone = learners.create("per_user", {"prior": 1e-2}).fit(drawn.training)
    assert correlation(model, drawn.rewards) > correlation(pooled, drawn.rewards) + 0.3
    assert correlation(model, drawn.rewards) > correlation(alone, drawn.rewards) + 0.03
    for group in ("majority", "minority"):
        assert accuracy(model, drawn.test, group) > accuracy(pooled, drawn.test, group) + 0.1
    assert model.gain.clear
    assert "pooled" not in model.names


def test_new_users_are_known_by_few_records(opposed_world):
    drawn, model = opposed_world
    pooled = learners.create("pooled").fit(drawn.training)
    adapted = model.adapted(drawn.first)
    assert accuracy(adapted, drawn.later) > accuracy(pooled, drawn.later) + 0.15
    assert adapted.names == model.names
    silent = model.adapted(drawn.first.of_users([0]))
    stranger = model.rewards(drawn.later.features)
    without = silent.rewards(drawn.later.features, 5)
    assert np.abs(without).mean() < np.abs(adapted.rewards(drawn.later.features, 5)).mean() / 2
    assert np.abs(stranger).mean() < np.abs(adapted.rewards(drawn.later.features, 5)).mean() / 2


def test_adapting_to_the_records_of_the_training_gives_the_same_rewards(opposed_world):
    drawn, model = opposed_world
    assert model.adapted(drawn.training).margins(drawn.test) == pytest.approx(model.margins(drawn.test), abs=1e-9)


def test_where_nobody_differs_the_reward_is_the_pooled_one():
    records = sample("alike", seed=1, individuality=0.0, records=10).training
    model = fitted(records)
    pooled = learners.create("pooled", {"tolerance": 1e-7}).fit(records)
    assert not model.gain.clear
    assert model.names == ("pooled",)
    assert np.array_equal(model.margins(records), pooled.margins(records))


@pytest.mark.long
def test_given_features_decide_between_types_only_where_they_help():
    drawn = sample("informative", users=40, known=40, records=6, similarity=-0.9)
    used = fitted(drawn.training)
    assert any(name.endswith("given") and name.startswith("types") for name in used.names)
    noise = np.random.default_rng(5).normal(size=drawn.training.user_features.shape)
    blind = fitted(replace(drawn.training, user_features=noise))
    assert not any(name.endswith("given") and name.startswith("types") for name in blind.names)
    newcomers = drawn.first.take(np.arange(0))
    assert accuracy(used.adapted(newcomers), drawn.later) > accuracy(used.adapted(drop(newcomers)), drawn.later) + 0.05


def drop(records):
    return replace(records, user_features=None)


def test_groups_are_never_read(opposed_world):
    drawn, model = opposed_world
    blind = fitted(replace(drawn.training, groups=None))
    assert np.array_equal(blind.margins(drawn.test), model.margins(drawn.test))


def test_a_single_user_gets_the_pooled_reward():
    records = Comparisons(np.eye(2), [0, 0, 1], [1, 1, 0], [0, 0, 0])
    model = fitted(records)
    assert model.names == ("pooled",)
    assert isinstance(model.models[0], LinearReward)
    assert model.rewards(np.eye(2))[0] > model.rewards(np.eye(2))[1]


def test_users_with_one_record_or_none_and_contradictions_are_finite():
    generator = np.random.default_rng(2)
    features, users = generator.normal(size=(12, 2)), np.array([0, 1, 2, 3, 3, 3, 5])
    records = Comparisons(
        features, [0, 1, 2, 3, 4, 3, 5], [6, 7, 8, 4, 3, 4, 9], users, user_names=tuple("abcdefg"),
        weights=[1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 0.0],
    )  # fmt: skip
    model = fitted(records)
    assert np.isfinite(model.margins(records)).all()
    silent, stranger = (model.rewards(features, user) for user in (6, None))
    assert silent == pytest.approx(stranger)
    ones = sample("antipodal", records=1).training
    assert np.isfinite(fitted(ones).margins(ones)).all()


def test_copies_of_records_do_not_make_users_look_different():
    records = sample("alike", seed=2, individuality=0.0, records=4).training
    copied = records.take(np.tile(np.arange(len(records)), 3))
    assert fitted(copied).names == ("pooled",)


def rated(seed, *, users=20, items=10, taste=0.0, own=2.0):
    """Return training and test comparisons of all items that users rated; what a user makes of an item beyond its
    features is as large as `own`."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(2 * users * items, 4))
    rewards = 0.5 + taste * generator.normal(size=(users, 4))
    user = np.repeat(np.arange(users), 2 * items)
    ratings = np.einsum("rf,rf->r", features, rewards[user]) + own * generator.normal(size=len(user))
    later = np.tile(np.repeat([False, True], items), users)
    parts = []
    for rows in (np.flatnonzero(~later), np.flatnonzero(later)):
        some = Ratings(features, rows, user[rows], ratings[rows])
        parts.append(some.to_comparisons(gap=0.01))
    return parts


@pytest.mark.few(1)
@pytest.mark.parametrize("weights", ["of the ratings", "1 each"])
def test_all_pairs_of_a_few_rated_items_do_not_make_users_look_different(weights):
    for seed in range(2):
        training, test = rated(seed)
        if weights == "1 each":
            training = replace(training, weights=None)
        model = fitted(training)
        pooled = learners.create("pooled").fit(training)
        assert log_loss(model.margins(test)).mean() < log_loss(pooled.margins(test)).mean() + 0.005


def test_users_who_differ_are_known_by_their_ratings():
    training, test = rated(0, taste=1.5, own=0.5)
    model, pooled = fitted(training), learners.create("pooled").fit(training)
    assert model.gain.clear
    assert accuracy(model, test) > accuracy(pooled, test) + 0.1
    assert log_loss(model.margins(test)).mean() < log_loss(pooled.margins(test)).mean() - 0.1


def test_where_nothing_can_be_held_out_the_reward_is_the_pooled_one(monkeypatch):
    def between_folds(comparisons, folds, generator):
        return ItemFolds(np.stack([np.zeros(len(comparisons), dtype=int), np.ones(len(comparisons), dtype=int)]))

    monkeypatch.setattr(random_effects, "item_folds", between_folds)
    model = fitted(sample("antipodal").training)
    assert model.names == ("pooled",)
    assert not model.gain.clear
    assert model.gain.standard_error == np.inf


def test_results_repeat():
    records = sample("90:10", users=16, records=8).training
    first, again = (fitted(records) for _ in range(2))
    assert first.names == again.names
    assert np.array_equal(first.weights, again.weights)
    assert np.array_equal(first.margins(records), again.margins(records))


def test_what_cannot_be_learned_is_refused():
    for parameters, said in (({"folds": 1}, "folds is 1"), ({"types": 0}, "types is 0"), ({"ridge": 0}, "ridge is 0")):
        with pytest.raises(InputError, match=said):
            learners.create("random_effects", parameters)
    with pytest.raises(DataError, match="no comparisons"):
        fitted(sample("alike").training.take(np.arange(0)))


@pytest.mark.long
def test_of_many_features_few_directions_are_enough():
    drawn = sample("antipodal", users=20, features=20, records=30, individuality=0.1)
    parameters = {"types": 2, "folds": 2, "rounds": 10, "directions": 3}
    model = learners.create("random_effects", parameters).fit(replace(drawn.training, user_features=None))
    pooled = learners.create("pooled").fit(drawn.training)
    effects = [each for name, each in zip(model.names, model.models, strict=True) if name.startswith("types")]
    assert effects
    assert all(each.directions.shape[1] <= 3 for each in effects)
    assert accuracy(model, drawn.test) > accuracy(pooled, drawn.test) + 0.1
    same = sample("alike", users=12, features=20, records=4, individuality=0.0)
    assert np.isfinite(fitted(same.training, directions=3).margins(same.test)).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["low_rank", "meta_reweighted", "random_effects"])
def test_records_without_weight_are_as_if_they_were_not_there(name):
    records = sample("antipodal", users=12, features=3, records=8).training
    generator, n_items = np.random.default_rng(0), len(records.features)
    features = np.vstack([records.features, 100 * generator.normal(size=(50, 3))])
    chosen, rejected = n_items + 2 * np.arange(25), n_items + 2 * np.arange(25) + 1
    more = replace(
        records, features=features, chosen=np.r_[chosen, records.chosen], rejected=np.r_[rejected, records.rejected],
        users=np.r_[np.zeros(25, dtype=int), records.users], weights=np.r_[np.zeros(25), np.ones(len(records))],
        margins=None,
    )  # fmt: skip
    parameters = QUICK if name == "random_effects" else {}
    with_them, without = (learners.create(name, parameters).fit(each) for each in (more, records))
    assert with_them.margins(records) == pytest.approx(without.margins(records), abs=1e-6)
    assert np.abs(without.margins(records)).max() > 0.5


def test_directions_are_found_where_most_records_have_no_weight(monkeypatch):
    monkeypatch.setattr(user_effects, "SAMPLED", 20)
    records = sample("antipodal", users=12, features=3, records=8).training
    weights = (np.arange(len(records)) % 4 == 1).astype(float)  # every fourth, never the first of four
    some = replace(records, weights=weights)
    found = user_effects.user_directions(some, some.differences(), np.zeros(3), 3)
    kept = some.take(np.flatnonzero(weights))
    assert found == pytest.approx(user_effects.user_directions(kept, kept.differences(), np.zeros(3), 3))


def test_a_better_size_of_pooled_margins_is_no_gain():
    generator = np.random.default_rng(0)
    users = np.repeat(np.arange(20), 20)
    right = generator.random(400) < 0.7
    items = np.arange(400)
    records = Comparisons(np.zeros((800, 1)), items, items + 400, users)
    bold = np.where(right, 3.0, -3.0)
    held_out = HeldOut(("pooled", "types 1"), np.stack([bold, 0.3 * bold], axis=1), np.zeros((20, 2)))
    weights, found = random_effects._chosen(records, np.arange(20) % 4, held_out)
    assert weights.tolist() == [1.0, 0.0]
    assert not found.clear
    knowing = HeldOut(held_out.names, np.stack([bold, np.ones(400)], axis=1), held_out.log_likelihoods)
    weights, found = random_effects._chosen(records, np.arange(20) % 4, knowing)
    assert weights[1] > 0
    assert found.clear
    alone = HeldOut(held_out.names, np.stack([bold, -np.ones(400)], axis=1), held_out.log_likelihoods)
    weights, found = random_effects._chosen(records, np.arange(20) % 4, alone)
    assert weights.tolist() == [1.0, 0.0]
    assert (found.mean, found.standard_error) == (0.0, 0.0)
