"""Rewards that are combinations of a few shared ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.logistic import log_loss
from accordant.preferences.learners.low_rank import LowRankProblem, softmax
from accordant.preferences.synthetic import world


def sample(name="antipodal", **changes):
    small = {"users": 24, "features": 5, "records": 20, "test_records": 20}
    return world(name, **{**small, **changes}).drawn(np.random.default_rng(3))


def accuracy(model, records):
    return (model.margins(records) > 0).mean()


def correlation(model, truth):
    found = np.stack([model.rewards(np.eye(truth.shape[1]), user) for user in range(len(truth))])
    return np.mean([np.corrcoef(one, other)[0, 1] for one, other in zip(found, truth, strict=True)])


@pytest.mark.parametrize("simplex", [False, True])
def test_the_value_is_that_of_the_formula_and_the_gradient_its_slope(simplex):
    records, generator = sample(users=5, features=3, records=4).training, np.random.default_rng(1)
    weights, centre = generator.random(len(records)), generator.normal(size=3)
    problem = LowRankProblem(
        records.differences(), records.users, weights, 5, 2, ridge=0.1, prior=0.7, centre=centre, simplex=simplex
    )
    flat = generator.normal(size=3 + 6 + 10)
    common, basis, loads = flat[:3], flat[3:9].reshape(3, 2), flat[9:].reshape(5, 2)
    places = np.array([np.exp(row) / np.exp(row).sum() for row in loads]) if simplex else loads
    expected = 0.5 * weights.sum() * 0.1 * common @ common
    size = np.average((records.differences() ** 2).mean(axis=1), weights=weights)
    expected += 0.35 * (size * ((basis - (centre[:, None] if simplex else 0)) ** 2).sum() + (loads**2).sum())
    for weight, x, user in zip(weights, records.differences(), records.users, strict=True):
        theta = basis @ places[user] + (0 if simplex else common)
        expected += weight * np.log1p(np.exp(-x @ theta))
    value, gradient = problem.value_and_gradient(flat)
    assert value == pytest.approx(expected / weights.sum())
    for step, slope in zip(1e-6 * np.eye(len(flat)), gradient, strict=True):
        apart = problem.value_and_gradient(flat + step)[0] - problem.value_and_gradient(flat - step)[0]
        assert apart / 2e-6 == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("simplex", [False, True])
def test_opposed_users_are_told_apart_and_new_ones_by_few_records(simplex):
    drawn = sample()
    model = learners.create("low_rank", {"simplex": simplex, "rank": 2}).fit(drawn.training)
    pooled = learners.create("pooled").fit(drawn.training)
    alone = learners.create("per_user", {"prior": 1e-2}).fit(drawn.training)
    assert accuracy(model, drawn.test) > accuracy(pooled, drawn.test) + 0.15
    assert correlation(model, drawn.rewards) > max(
        correlation(pooled, drawn.rewards) + 0.5, correlation(alone, drawn.rewards)
    )
    assert accuracy(model.adapted(drawn.first), drawn.later) > accuracy(pooled, drawn.later) + 0.15


@pytest.mark.parametrize("simplex", [False, True])
def test_users_of_the_training_are_what_few_shot_fitting_makes_of_their_records(simplex):
    records = sample().training
    model = learners.create("low_rank", {"simplex": simplex}).fit(records)
    assert np.array_equal(model.adapted(records).places, model.places)
    frozen = model.adapted(records.of_users([2]))
    assert frozen.places[2] == pytest.approx(model.places[2], abs=1e-4)
    assert frozen.places[3] == pytest.approx(model.unknown, abs=1e-12)


def test_a_new_users_place_minimises_the_loss_with_shared_rewards_frozen():
    records = sample().training
    model = learners.create("low_rank", {"prior": 2.0}).fit(records)
    rows = np.flatnonzero(records.users == 1)
    x = records.differences(rows)

    def loss(place):
        return log_loss(x @ (model.common + model.directions @ place)).sum() + place @ place

    least = loss(model.places[1])
    for step in 1e-3 * np.vstack([np.eye(2), -np.eye(2)]):
        assert loss(model.places[1] + step) > least


def test_simplex_rewards_are_means_of_the_shared_ones():
    model = learners.create("low_rank", {"simplex": True, "rank": 3}).fit(sample().training)
    assert (model.places > 0).all()
    assert model.places.sum(axis=1) == pytest.approx(np.ones(24))
    assert model.of_user(None) == pytest.approx(model.directions.mean(axis=1))
    assert softmax(np.array([[1000.0, 1000.0]])) == pytest.approx(np.full((1, 2), 0.5))


@pytest.mark.parametrize("simplex", [False, True])
def test_a_strong_prior_gives_one_reward_to_everybody(simplex):
    drawn = sample("informative")
    model = learners.create("low_rank", {"simplex": simplex, "prior": 1e6}).fit(drawn.training)
    pooled = learners.create("pooled").fit(drawn.training)
    assert model.margins(drawn.test) == pytest.approx(pooled.margins(drawn.test), abs=5e-3)


def test_the_same_records_in_another_order_give_the_same_reward():
    records = sample().training
    turned = records.take(np.random.default_rng(0).permutation(len(records)))
    first, again, other = (learners.create("low_rank").fit(each) for each in (records, records, turned))
    assert np.array_equal(first.places, again.places)
    assert first.margins(records) == pytest.approx(other.margins(records), abs=1e-3)


def test_one_user_duplicates_and_contradictions_are_finite():
    single = Comparisons(np.eye(2), [0, 0, 1], [1, 1, 0], [0, 0, 0])
    rewards = learners.create("low_rank", {"rank": 4}).fit(single).rewards(np.eye(2), 0)
    assert np.isfinite(rewards).all()
    assert rewards[0] > rewards[1]
    even = learners.create("low_rank").fit(Comparisons(np.eye(2), [0, 1], [1, 0], [0, 0]))
    assert even.margins(even_records()) == pytest.approx(np.zeros(2), abs=1e-6)


def even_records():
    return Comparisons(np.eye(2), [0, 1], [1, 0], [0, 0])


def test_what_cannot_be_learned_is_refused():
    records = sample().training
    with pytest.raises(InputError, match="rank is 0"):
        learners.create("low_rank", {"rank": 0})
    with pytest.raises(InputError, match="prior is -1"):
        learners.create("low_rank", {"prior": -1})
    with pytest.raises(DataError, match="no comparisons"):
        learners.create("low_rank").fit(records.take(np.arange(0)))
    good = LowRankProblem(
        records.differences(), records.users, records.record_weights, 24, 2, 0.1, 1.0, np.zeros(5), False
    )
    with pytest.raises(InputError, match="weights have shape"):
        replace(good, weights=records.record_weights[:, None])
    with pytest.raises(InputError, match="centre have shape"):
        replace(good, centre=np.zeros((5, 1)))


@pytest.mark.parametrize("simplex", [False, True])
def test_copies_of_records_change_nothing(simplex):
    records = sample(users=8, features=3, records=6).training
    learner = learners.create("low_rank", {"simplex": simplex, "tolerance": 1e-9})
    copied = learner.fit(records.take(np.tile(np.arange(len(records)), 3)))
    assert copied.margins(records) == pytest.approx(learner.fit(records).margins(records), abs=1e-3)


@pytest.mark.parametrize("simplex", [False, True])
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_weights_of_any_size_give_finite_rewards(simplex, scale):
    records = sample(users=6, records=4).training
    model = learners.create("low_rank", {"simplex": simplex}).fit(
        replace(records, weights=np.full(len(records), scale))
    )
    assert np.isfinite(model.margins(records)).all()


@pytest.mark.parametrize("simplex", [False, True])
def test_features_that_never_differ_give_no_margin(simplex):
    records = sample(users=6, records=4).training
    same = replace(records, features=np.zeros_like(records.features))
    assert not learners.create("low_rank", {"simplex": simplex}).fit(same).margins(same).any()
