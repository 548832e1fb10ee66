"""Means and spreads: exact gradients, and lower agreement where a hidden context divides people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.preferences import Comparisons
from accordant.preferences.learners.distributional import (
    Distributional,
    DistributionalReward,
    explained_share,
    loss_and_gradient,
)
from accordant.preferences.learners.learner import learners
from accordant.preferences.synthetic import world

STATES = 20


def hidden_context(mixed, n=8_000, seed=0):
    """States in [0, 1] with reward x; if `mixed`, from .8 on it is 2x or 0 with a probability of one half each."""
    generator = np.random.default_rng(seed)
    places = (np.arange(STATES) + 0.5) / STATES
    first = generator.integers(0, STATES, n)
    second = (first + generator.integers(1, STATES, n)) % STATES

    def drawn(state):
        """Return rewards, each with a hidden context of its own."""
        top = places[state] >= 0.8
        return np.where(top & mixed, 2 * places[state] * generator.integers(0, 2, n), places[state])

    better = drawn(first) > drawn(second)
    chosen, rejected = np.where(better, first, second), np.where(better, second, first)
    return Comparisons(np.eye(STATES), chosen, rejected, np.zeros(n, dtype=int))


@pytest.mark.parametrize("seed", range(4))
def test_gradients_equal_finite_differences(seed):
    generator = np.random.default_rng(seed)
    chosen = generator.integers(0, 8, 50)
    rejected = (chosen + generator.integers(1, 8, 50)) % 8
    records = Comparisons(
        generator.normal(size=(8, 3)), chosen, rejected, np.zeros(50, dtype=int), weights=generator.random(50)
    )
    parameters, step = generator.normal(size=7), 1e-6
    gradient = loss_and_gradient(parameters, records, 0.1)[1]
    for k, unit in enumerate(np.eye(7)):
        ends = [loss_and_gradient(parameters + sign * step * unit, records, 0.1)[0] for sign in (1, -1)]
        assert gradient[k] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)


@pytest.fixture(scope="module")
def fitted():
    """Models of the world without and with a hidden context."""
    learner = learners.create("distributional", {"ridge": 1e-4})
    return tuple(learner.fit(hidden_context(each)) for each in (False, True))


def test_agreement_is_lower_where_a_hidden_context_divides(fitted):
    plain, mixed = fitted
    features = np.eye(STATES)
    assert plain.explained(features) > 0.9
    assert mixed.explained(features) < plain.explained(features) - 0.2
    spreads = mixed.spreads(features)
    assert spreads[-4:].min() > 2 * spreads[:-4].max()


def test_a_careful_choice_avoids_what_divides(fitted):
    model = fitted[1]
    assert model.quantiles(np.eye(STATES), 0.01).argmax() < STATES - 4
    for wrong in (0.0, 1.0):
        with pytest.raises(InputError, match="level is"):
            model.quantiles(np.eye(STATES), wrong)


def test_margins_are_those_of_the_loss_and_r2_does_not_depend_on_scale():
    records = hidden_context(True, n=300)
    model = learners.create("distributional").fit(records)
    loss = np.logaddexp(0, -model.margins(records)).mean()
    parameters = np.concatenate([model.mean, model.spread, [model.spread_at_zero]])
    assert loss_and_gradient(parameters, records, 0.0)[0] == pytest.approx(loss)
    alike = DistributionalReward(np.zeros(3), np.zeros(3), 0.0)
    assert alike.explained(np.eye(3)) == 0.0
    assert np.isnan(alike.explained(np.eye(3)[:1]))


def test_r2_of_the_true_means_and_deviations_of_a_hidden_context():
    state = (np.arange(100_000) + 0.5) / 100_000
    assert explained_share(state, np.where(state >= 0.8, state, 0.0)) == pytest.approx(0.33875, abs=1e-5)
    assert explained_share(3 * state, 3 * np.where(state >= 0.8, state, 0.0)) == pytest.approx(0.33875, abs=1e-5)
    with pytest.raises(InputError, match="means have shape"):
        explained_share(state, state[:, None])


def drawn_from_the_model(deviation, noise=0.0, n=20_000, seed=1):
    """Items at x in [0, 1] whose reward is normal around x, anew for every comparison, and noise of the choice."""
    generator = np.random.default_rng(seed)
    place = generator.random(500)
    first = generator.integers(0, 500, n)
    second = (first + generator.integers(1, 500, n)) % 500
    rewards = [place[each] + deviation(place[each]) * generator.normal(size=n) for each in (first, second)]
    better = rewards[0] - rewards[1] + noise * generator.logistic(size=n) > 0
    features = np.stack([place, np.ones(500)], axis=1)
    chosen, rejected = np.where(better, first, second), np.where(better, second, first)
    return Comparisons(features, chosen, rejected, np.zeros(n, dtype=int)), place


@pytest.mark.parametrize(
    "deviation", [lambda x: 0.3 + 0 * x, lambda x: 0.6 + 0 * x, lambda x: 0.2 + 0.8 * x], ids=["even", "wide", "rising"]
)
def test_r2_and_deviations_are_found_where_rewards_are_normal(deviation):
    records, place = drawn_from_the_model(deviation)
    model = Distributional(ridge=1e-6).fit(records)
    assert model.converged
    true = explained_share(place, deviation(place))
    assert model.explained(records.features) == pytest.approx(true, rel=0.15)
    published = explained_share(model.rewards(records.features), model.spreads(records.features))
    assert published < 0.75 * true  # spreads as published are about π/2 too wide
    scale = np.polyfit(place, model.rewards(records.features), 1)[0]
    found = model.deviations(records.features).mean() / scale
    assert found == pytest.approx(deviation(place).mean(), rel=0.1)
    low = model.quantiles(records.features, 0.05) / scale
    shortfall = model.rewards(records.features) / scale - low
    assert shortfall.mean() == pytest.approx(1.645 * deviation(place).mean(), rel=0.1)


def test_noise_of_choices_lowers_r2_without_any_disagreement():
    found = []
    for noise in (0.05, 0.3):
        records, _ = drawn_from_the_model(lambda x: 0 * x, noise)
        found.append(Distributional().fit(records).explained(records.features))
    assert found[1] < found[0] - 0.3


def test_r2_falls_with_the_ridge_where_users_disagree():
    records = hidden_context(True, n=3_000)
    found = [Distributional(ridge=ridge).fit(records).explained(records.features) for ridge in (1e-2, 1e-3, 1e-4)]
    assert found[0] > 1.2 * found[1] > 1.44 * found[2]


def test_a_fixed_scale_ends_where_a_free_one_does_not():
    records = world("90:10").drawn(np.random.default_rng(0)).training
    fixed = [Distributional(ridge=ridge).fit(records) for ridge in (1e-2, 1e-4, 1e-6)]
    assert all(model.converged and not model.warnings for model in fixed)
    shares = [model.explained(records.features) for model in fixed]
    assert max(shares) - min(shares) < 0.01
    for model in fixed:
        assert model.spreads(np.zeros((1, 12))) == pytest.approx(1.0, abs=1e-5)
    free = Distributional(scale="free", steps=200).fit(records)
    assert not free.converged
    assert free.spreads(np.zeros((1, 12)))[0] != pytest.approx(1.0, abs=1e-2)


def test_an_unfinished_search_is_said():
    model = Distributional(steps=2).fit(hidden_context(True, n=300))
    assert not model.converged
    assert "after 2 iterations the gradient is" in model.warnings[0]


@pytest.mark.parametrize("scale", ["fixed", "free"])
def test_the_gradient_that_is_left_is_that_of_everything_that_may_move(scale):
    whole, largest = hidden_context(True, n=300), set()
    records = replace(whole, features=whole.features[:, [0, STATES - 1]] + whole.features[:, 1:3])
    for steps in range(1, 25):
        learner = Distributional(steps=steps, scale=scale)
        model = learner.fit(records)
        _, gradient = loss_and_gradient(
            np.concatenate([model.mean, model.spread, [model.spread_at_zero]]), records, learner.ridge
        )
        size = np.abs(gradient[: -1 if scale == "fixed" else None])
        assert model.converged == (size.max() <= learner.tolerance)
        assert model.converged or f"the gradient is {size.max():.2g};" in model.warnings[0]
        largest.add(int(size.argmax()))
    assert 3 in largest  # the last of two means and two spreads, which a search may leave too


@pytest.mark.parametrize(
    "wrong", [{"ridge": 0.0}, {"steps": 0}, {"steps": 2.5}, {"tolerance": 0.0}, {"tolerance": np.nan}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError):
        learners.create("distributional", wrong)


def test_an_unknown_scale_is_refused():
    with pytest.raises(UnknownNameError, match="scale"):
        Distributional(scale="wide")
