"""From residuals to quadrature nodes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from accordant.learning.causal import TLearner
from accordant.learning.outcome_models import within_bounds
from accordant.learning.residuals import held_out_residuals, residual_nodes


@pytest.mark.parametrize(("integration", "n_nodes"), [("empirical", 20), ("gauss_hermite", 20), ("plug_in", 20)])
def test_nodes_are_centred_and_weights_sum_to_one(integration, n_nodes):
    residuals = np.random.default_rng(0).exponential(size=400)
    offsets, weights = residual_nodes(residuals, np.arange(400) % 2, 2, integration, n_nodes)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert np.abs(offsets @ weights).max() < 1e-12  # a level is a mean: its residuals must not move it
    assert offsets.shape == (2, 1 if integration == "plug_in" else n_nodes)


@pytest.mark.parametrize("integration", ["empirical", "gauss_hermite"])
def test_nodes_carry_the_spread(integration):
    residuals = np.random.default_rng(1).normal(scale=3.0, size=5000)
    offsets, weights = residual_nodes(residuals, np.zeros(5000, dtype=int), 1, integration, 40)
    assert np.sqrt((offsets[0] ** 2) @ weights) == pytest.approx(3.0, rel=0.03)


def test_each_action_has_its_own_residuals_unless_there_are_few():
    residuals = np.concatenate(
        [np.random.default_rng(2).normal(scale=s, size=n) for s, n in ((1, 200), (5, 200), (99, 9))]
    )
    actions = np.repeat([0, 1, 2], [200, 200, 9])
    offsets, _ = residual_nodes(residuals, actions, 3, "empirical", 10)
    spread = offsets.std(axis=1)
    assert spread[1] > 3 * spread[0]
    everybody, _ = residual_nodes(residuals, np.zeros_like(actions), 1, "empirical", 10)
    assert np.array_equal(offsets[2], everybody[0])


class Memory(BaseEstimator):
    """Predicts 0 and remembers, per fit, the rows it saw (by their only feature)."""

    fits: list = []

    def fit(self, X, actions, outcomes, n_actions):
        self.n, self.seen = n_actions, set(X[:, 0].astype(int))
        Memory.fits.append((self.seen, np.bincount(actions, minlength=n_actions)))
        return self

    def predict_levels(self, X):
        assert not self.seen & set(X[:, 0].astype(int)), "a row was predicted by a fit that saw it"
        return np.zeros((self.n, len(X)))


def test_residuals_are_held_out_and_every_fold_keeps_every_action():
    Memory.fits.clear()
    actions = np.repeat([0, 1], [40, 10])
    outcomes = np.arange(50.0)
    found = held_out_residuals(Memory(), np.arange(50.0)[:, None], actions, outcomes, 2, seed=0)
    assert np.array_equal(found, outcomes)  # every row once, in order
    assert len(Memory.fits) == 5
    assert all(counts[1] == 8 for _, counts in Memory.fits)


def test_an_action_with_the_fewest_rows_a_learner_takes_still_has_residuals():
    generator = np.random.default_rng(0)
    actions = np.repeat([0, 1], [60, 10])
    features, outcomes = generator.normal(size=(70, 2)), generator.normal(size=70)
    learner = TLearner("ridge").fit(features, actions, outcomes, n_actions=2)
    residuals = held_out_residuals(learner, features, actions, outcomes, 2, 0)
    assert np.isfinite(residuals).all()


def test_clipping_keeps_predicted_means():
    generator = np.random.default_rng(0)
    offsets = np.sort(generator.normal(size=20))
    offsets -= offsets.mean()
    means = np.array([[0.0, 0.05, 0.3, 2.0, 9.9, 10.0]])
    weights = np.full(20, 1 / 20)
    nodes = within_bounds(means[:, None, :] + offsets[None, :, None], weights, means, (0.0, 10.0))
    assert nodes.min() >= 0
    assert nodes.max() <= 10
    assert np.allclose(np.tensordot(weights, nodes, axes=(0, 1)), means, atol=1e-9)
    free = within_bounds(means[:, None, :] + offsets[None, :, None], weights, means, (-np.inf, np.inf))
    assert np.array_equal(free, means[:, None, :] + offsets[None, :, None])
