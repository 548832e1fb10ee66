"""Tempering: densities with known moments, hills of known size, and what resampling does."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.preferences.elicitation.sampling import Normal, resample, share_in_effect, tempered_draws


@pytest.mark.long
def test_hills_of_known_size():
    """A quarter around −6 and three quarters around 6, from a start that thinks otherwise."""
    hills = (Normal(np.array([-6.0, 0.0]), np.eye(2)), Normal(np.array([6.0, 0.0]), np.diag([0.5, 1.0])))

    def log_density(states):
        return np.logaddexp(
            np.log(0.25) + hills[0].log_density(states), np.log(0.75) + hills[1].log_density(states)
        )  # fmt: skip

    start = (Normal(np.zeros(2), 3.0 * np.eye(2)), *(Normal(hill.centre, 2.0 * hill.root) for hill in hills))
    shares = [(tempered_draws(start, log_density, 2000, np.random.default_rng(s))[:, 0] > 0).mean() for s in range(6)]
    assert np.mean(shares) == pytest.approx(0.75, abs=0.02)
    assert np.std(shares) < 0.03


def test_a_half_space_keeps_the_moments_of_half_a_normal_distribution():
    def log_density(states):
        return -0.5 * (states**2).sum(axis=1) - 1e6 * np.maximum(-states[:, 0], 0.0)

    drawn = tempered_draws((Normal(np.zeros(3), np.eye(3)),), log_density, 4000, np.random.default_rng(0))
    assert drawn.mean(axis=0) == pytest.approx([np.sqrt(2 / np.pi), 0.0, 0.0], abs=0.06)
    assert drawn.std(axis=0) == pytest.approx([np.sqrt(1 - 2 / np.pi), 1.0, 1.0], abs=0.06)


def test_few_draws_are_some_of_many():
    start = (Normal(np.zeros(1), np.eye(1)),)
    drawn = np.concatenate(
        [tempered_draws(start, start[0].log_density, 3, np.random.default_rng(s)) for s in range(60)]
    )
    assert drawn.shape == (180, 1)
    assert (drawn.mean(), drawn.std()) == (pytest.approx(0.0, abs=0.25), pytest.approx(1.0, abs=0.2))


def test_normal_densities_against_their_formula():
    root = np.array([[2.0, 0.0], [-1.0, 0.5]])
    normal, states = Normal(np.array([1.0, -1.0]), root), np.random.default_rng(0).normal(size=(5, 2))
    away = states - normal.centre
    expected = -0.5 * np.einsum("si,ij,sj->s", away, np.linalg.inv(root @ root.T), away) - np.log(1.0)
    np.testing.assert_allclose(normal.log_density(states), expected)
    wider = Normal(normal.centre, 3.0 * root)
    assert wider.log_density(normal.centre[None])[0] == pytest.approx(-2 * np.log(3.0))
    drawn = normal.draws(40_000, np.random.default_rng(1))
    np.testing.assert_allclose(np.cov(drawn.T), root @ root.T, atol=0.1)


def test_resampling_keeps_counts_within_one_of_their_expectation():
    weights = np.random.default_rng(2).exponential(size=50)
    counts = np.bincount(resample(np.log(weights), np.random.default_rng(3)), minlength=50)
    assert (np.abs(counts - 50 * weights / weights.sum()) < 1).all()
    assert share_in_effect(np.zeros(7)) == pytest.approx(1.0)
    assert share_in_effect(np.array([0.0, -1e9, -1e9, -1e9])) == pytest.approx(0.25)
