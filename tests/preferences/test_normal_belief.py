"""Normal priors: what they hold, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.elicitation import NormalPrior, ScalePrior


def test_a_population_becomes_its_mean_and_shrunk_covariance():
    rows = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 6.0]])
    prior = NormalPrior.of_population(rows, shrink=0.5)
    sample = np.array([[1.0, 0.0], [0.0, 12.0]])  # by hand: n − 1 in the denominator
    assert prior.mean.tolist() == [2.0, 2.0]
    assert prior.covariance == pytest.approx(0.5 * sample + 0.5 * 6.5 * np.eye(2))
    assert prior.root @ prior.root.T == pytest.approx(prior.covariance)


def test_one_feature_and_fewer_users_than_features():
    assert NormalPrior.of_population([[1.0], [3.0]]).covariance == pytest.approx(np.array([[2.0]]))
    few = NormalPrior.of_population(np.random.default_rng(0).normal(size=(3, 8)))
    assert np.linalg.eigvalsh(few.covariance).min() > 0


def test_isotropic():
    prior = NormalPrior.isotropic(3, 2.0)
    assert prior.mean.tolist() == [0.0] * 3
    assert prior.covariance.tolist() == (2 * np.eye(3)).tolist()


def test_coefficients_that_are_larger_by_a_factor_vary_by_its_square():
    prior = NormalPrior(np.array([0.5, -1.0]), np.array([[4.0, 1.5], [1.5, 2.0]])).scaled(3.0)
    assert prior.mean.tolist() == [1.5, -3.0]
    assert prior.covariance.tolist() == [[36.0, 13.5], [13.5, 18.0]]


def test_scales_are_alike_at_every_order_of_magnitude():
    prior = ScalePrior(0.01, 100.0)
    assert prior.scales(np.array([-9.0, 0.0, 9.0])) == pytest.approx([0.01, 1.0, 100.0])
    shares = np.array([0.25, 0.5, 0.75])
    factors = prior.scales(np.array([prior.standard(share) for share in shares]))
    assert factors == pytest.approx([0.1, 1.0, 10.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NormalPrior(np.zeros(2), np.array([[1.0, 1.0], [1.0, 1.0]])), "not positive definite"),
        (lambda: NormalPrior(np.zeros(2), np.array([[1.0, 0.5], [0.0, 1.0]])), "not symmetric"),
        (lambda: NormalPrior(np.zeros((2, 1)), np.eye(2)), "mean of the prior has shape"),
        (lambda: NormalPrior(np.zeros(2), np.eye(3)), "covariance of the prior has shape"),
        (lambda: NormalPrior(np.zeros(2), np.full((2, 2), np.nan)), "covariance of the prior has shape"),
        (lambda: NormalPrior(np.array([np.nan]), np.eye(1)), "must be finite"),
        (lambda: NormalPrior(np.zeros(0), np.zeros((0, 0))), "at least one feature"),
        (lambda: NormalPrior.isotropic(0), "n_features is 0"),
        (lambda: NormalPrior.isotropic(2, 0.0), "variance 0.0"),
        (lambda: NormalPrior.of_population([[1.0, 2.0]]), "at least 2 users"),
        (lambda: NormalPrior.of_population([[1.0, 2.0], [1.0, 2.0]]), "not positive definite"),
        (lambda: NormalPrior.of_population(np.eye(2), shrink=0.0), "shrink is 0.0"),
        (lambda: NormalPrior.of_population(np.array([1.0, 2.0])), "shape \\(2,\\)"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
