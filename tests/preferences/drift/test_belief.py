"""Beliefs: the mode and the curvature against a general optimiser, limits of forgetting, extreme records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from accordant.errors import InputError
from accordant.preferences.drift import Belief, TasteChange, update


def some_belief(generator, d):
    root = generator.normal(size=(d, d))
    return Belief(generator.normal(size=d), root @ root.T + 0.1 * np.eye(d))


def posterior(belief, x, w):
    """What the mode minimises, its gradient and its second derivative, written out."""
    precision = np.linalg.inv(belief.covariance)

    def value(theta):
        away = theta - belief.mean
        return w @ np.logaddexp(0, -x @ theta) + 0.5 * away @ precision @ away

    def gradient(theta):
        return precision @ (theta - belief.mean) - (w / (1 + np.exp(x @ theta))) @ x

    def curvature(theta):
        likely = 1 / (1 + np.exp(-x @ theta))
        return precision + sum(wr * p * (1 - p) * np.outer(xr, xr) for wr, p, xr in zip(w, likely, x, strict=True))

    return value, gradient, curvature


@pytest.mark.parametrize("n", [1, 2, 4, 5, 16, 17, 200])  # one unknown per record up to 16, per feature above
def test_mode_and_curvature_against_a_general_optimiser(n):
    generator = np.random.default_rng(n)
    belief, x, w = some_belief(generator, 4), 2 * generator.normal(size=(n, 4)), generator.random(n) + 0.1
    found = update(belief, x, w)
    value, gradient, curvature = posterior(belief, x, w)
    peer = minimize(value, belief.mean, jac=gradient, method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(found.mean, peer, atol=1e-6)
    assert np.abs(gradient(found.mean)).max() < 1e-7 * n
    np.testing.assert_allclose(found.covariance, np.linalg.inv(curvature(found.mean)), atol=1e-8)
    np.testing.assert_array_equal(found.covariance, found.covariance.T)


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-3, 1.0, 30.0, 1000.0]), n=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_every_block_ends_at_the_mode_and_knows_more(seed, scale, n):
    generator = np.random.default_rng(seed)
    belief, x = some_belief(generator, 3), scale * generator.normal(size=(n, 3))
    found = update(belief, x)
    precision = np.linalg.inv(belief.covariance)
    weighed = precision @ (found.mean - belief.mean)
    pull = np.exp(-np.logaddexp(0, x @ found.mean)) @ x
    np.testing.assert_allclose(weighed, pull, atol=1e-6 * scale * n)
    assert (np.linalg.eigvalsh(belief.covariance - found.covariance) > -1e-8 * np.trace(belief.covariance)).all()
    assert (found.covariance.diagonal() > 0).all()


def test_a_record_against_a_sure_belief():
    belief = Belief(np.array([1.0]), np.array([[100.0]]))
    found = update(belief, np.array([[-1000.0]]))  # margin −1000, standard deviation 10,000
    assert -1000 * found.mean[0] > 0 and np.isfinite(found.mean).all()
    stubborn = update(Belief(np.array([1.0]), np.array([[1e-9]])), np.array([[-1000.0]]))
    assert stubborn.mean[0] == pytest.approx(1.0 - 1e-6)  # the multiplier is at most the weight


def test_weights_are_repeats_and_zero_weights_nothing():
    generator = np.random.default_rng(0)
    belief, x = some_belief(generator, 3), generator.normal(size=(2, 3))
    weighted, repeated = update(belief, x, np.array([3.0, 0.0])), update(belief, x[[0, 0, 0]])
    np.testing.assert_allclose(weighted.mean, repeated.mean, atol=1e-10)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, atol=1e-10)
    assert update(belief, x, np.zeros(2)) is belief
    assert update(belief, np.empty((0, 3))) is belief


def test_margins_of_opposite_records_are_opposite_and_wide_beliefs_hesitate():
    belief = Belief(np.array([1.0, -2.0]), np.diag([0.5, 4.0]))
    x = np.array([[1.0, 0.3], [0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(belief.margins(-x), -belief.margins(x))
    expected = [(xr @ belief.mean) / np.sqrt(1 + np.pi / 8 * xr @ belief.covariance @ xr) for xr in x]
    np.testing.assert_allclose(belief.margins(x), expected)
    draws = np.random.default_rng(0).multivariate_normal(belief.mean, belief.covariance, 200_000) @ x.T
    averaged = (1 / (1 + np.exp(-draws))).mean(axis=0)
    np.testing.assert_allclose(1 / (1 + np.exp(-belief.margins(x))), averaged, atol=0.02)


def test_time_returns_to_the_prior():
    generator = np.random.default_rng(1)
    prior = some_belief(generator, 3)
    belief = update(prior, generator.normal(size=(5, 3)))
    same = TasteChange(0.5).after(belief, prior, 0.0)
    np.testing.assert_array_equal(same.mean, belief.mean)
    for elapsed in (50.0, 5000.0):
        gone = TasteChange(0.5).after(belief, prior, elapsed)
        np.testing.assert_allclose(gone.mean, prior.mean, atol=1e-10)
        np.testing.assert_allclose(gone.covariance, prior.covariance, atol=1e-10)
    half = TasteChange(0.25).after(belief, prior, 0.5)  # a half of the evidence is left
    precision = 0.5 * np.linalg.inv(belief.covariance) + 0.5 * np.linalg.inv(prior.covariance)
    np.testing.assert_allclose(np.linalg.inv(half.covariance), precision, rtol=1e-8)
    two_steps = TasteChange(0.9).after(TasteChange(0.9).after(belief, prior, 1.0), prior, 2.0)
    once = TasteChange(0.9).after(belief, prior, 3.0)
    np.testing.assert_allclose(two_steps.mean, once.mean, atol=1e-10)
    np.testing.assert_allclose(two_steps.covariance, once.covariance, atol=1e-10)


def test_random_walk_widens_and_keeps_the_mean():
    belief = some_belief(np.random.default_rng(2), 3)
    wider = TasteChange(drift=0.2).after(belief, belief, 4.0)
    np.testing.assert_array_equal(wider.mean, belief.mean)
    np.testing.assert_allclose(wider.covariance, belief.covariance + 0.8 * np.eye(3))


def test_wrong_input():
    good = Belief(np.zeros(2), np.eye(2))
    for mean, covariance in [
        (np.zeros((2, 1)), np.eye(2)), (np.zeros(2), np.eye(3)), (np.zeros(2), np.array([[1.0, 0.5], [0.0, 1.0]])),
        (np.array([0.0, np.nan]), np.eye(2)), (np.zeros(2), -np.eye(2)), (np.zeros(2), np.full((2, 2), np.inf)),
    ]:  # fmt: skip
        with pytest.raises(InputError):
            Belief(mean, covariance)
    for x, w in [(np.zeros(2), None), (np.zeros((1, 3)), None), (np.zeros((2, 2)), np.ones((2, 1))),
                 (np.zeros((1, 2)), np.array([-1.0])), (np.full((1, 2), np.nan), None)]:  # fmt: skip
        with pytest.raises(InputError):
            update(good, x, w)
    for kept, drift in [(0.0, 0.0), (1.1, 0.0), (1.0, -0.1), (np.nan, 0.0)]:
        with pytest.raises(InputError):
            TasteChange(kept, drift)
    for elapsed in (-1.0, np.nan):
        with pytest.raises(InputError):
            TasteChange(0.9).after(good, good, elapsed)
    with pytest.raises(InputError):
        Belief.around(np.zeros(2), 0.0)


@pytest.mark.parametrize("change", [TasteChange(), TasteChange(0.7), TasteChange(drift=0.3)])
def test_one_long_wait_is_two_short_ones(change):
    generator = np.random.default_rng(3)
    prior = some_belief(generator, 3)
    belief = update(prior, generator.normal(size=(5, 3)))
    once, twice = change.after(belief, prior, 3.5), change.after(change.after(belief, prior, 1.25), prior, 2.25)
    np.testing.assert_allclose(once.mean, twice.mean, atol=1e-10)
    np.testing.assert_allclose(once.covariance, twice.covariance, atol=1e-10)


def test_forgetting_and_drift_together_are_refused():
    with pytest.raises(InputError, match="kept is 0.9 and drift 0.1"):
        TasteChange(0.9, 0.1)


@pytest.mark.parametrize("size", [1e4, 1e5, 1e6, 1e7, 1e8])
@pytest.mark.parametrize("repeats", [1, 3])
def test_a_record_far_against_the_belief_ends_at_the_mode(size, repeats):
    found = update(Belief(np.array([size]), np.array([[size]])), np.full((repeats, 1), -1.0))

    def slope(theta):
        return (theta - size) / size + repeats / (1 + np.exp(-theta))

    low, high = -50.0, 50.0
    for _ in range(200):
        low, high = ((low + high) / 2, high) if slope((low + high) / 2) < 0 else (low, (low + high) / 2)
    assert found.mean[0] == pytest.approx(low, abs=1e-6)


def test_what_is_no_covariance():
    for matrix in ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]):
        with pytest.raises(InputError, match="positive definite"):
            Belief(np.zeros(2), np.array(matrix))
