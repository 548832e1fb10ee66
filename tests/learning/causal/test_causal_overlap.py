"""Propensities and overlap diagnostics."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.learning.causal import PropensityModel, clip_propensities, overlap_diagnostics


@pytest.mark.long
def test_propensities_are_probabilities_near_the_truth(three_actions):
    model = PropensityModel().fit(three_actions.X, three_actions.actions)
    for estimate in (model.held_out_, model.predict(three_actions.X)):
        np.testing.assert_allclose(estimate.sum(axis=0), 1.0)
        assert np.abs(estimate - three_actions.propensities).mean() < 0.06
    assert model.best_ == min(model.log_losses_, key=model.log_losses_.get)


def test_clipped_propensities_still_sum_to_one():
    clipped = clip_propensities(np.array([[0.0, 0.5], [1.0, 0.5]]), clip=0.1)
    np.testing.assert_allclose(clipped, [[0.1 / 1.1, 0.5], [1.0 / 1.1, 0.5]])


def test_good_overlap_clips_nothing(two_actions):
    found = overlap_diagnostics(two_actions.propensities, two_actions.actions)
    assert found.clipped_shares == (0.0, 0.0)
    assert found.counts == tuple(np.bincount(two_actions.actions))


def test_effective_sample_size_twin():
    propensities = np.array([[0.5, 0.25, 0.9], [0.5, 0.75, 0.1]])
    found = overlap_diagnostics(propensities, np.array([0, 0, 1]))
    assert found.effective_sample_sizes == pytest.approx(((2 + 4) ** 2 / (4 + 16), 1.0))
    assert found.lowest == pytest.approx((0.25, 0.1))
    assert found.highest == pytest.approx((0.9, 0.75))


def test_a_propensity_below_the_limit_counts_as_the_limit_and_one_at_it_is_not_clipped():
    propensities = np.array([[0.9, 0.8, 0.05, 0.2], [0.1, 0.2, 0.95, 0.8], [0.0] * 4])
    found = overlap_diagnostics(propensities, np.array([0, 1, 0, 1]), clip=0.2)
    assert found.counts == (2, 2, 0)
    assert found.clipped_shares == (0.25, 0.25, 1.0)
    first = (1 / 0.9 + 1 / 0.2) ** 2 / (1 / 0.9**2 + 1 / 0.2**2)
    second = (1 / 0.2 + 1 / 0.8) ** 2 / (1 / 0.2**2 + 1 / 0.8**2)
    assert found.effective_sample_sizes == pytest.approx((first, second, 0.0))
    assert found.clip == 0.2


def test_a_separable_world_is_clipped():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    actions = (X[:, 0] > 0).astype(int)
    model = PropensityModel().fit(X, actions)
    found = overlap_diagnostics(model.held_out_, actions)
    assert min(found.clipped_shares) > 0.2
