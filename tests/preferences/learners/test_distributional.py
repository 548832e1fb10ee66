"""Means and spreads: exact gradients, and lower agreement where a hidden context divides people."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.distributional import DistributionalReward, loss_and_gradient
from accordant.preferences.learners.learner import learners

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


@pytest.mark.parametrize("wrong", [{"ridge": 0.0}, {"steps": 0}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError):
        learners.create("distributional", wrong)
