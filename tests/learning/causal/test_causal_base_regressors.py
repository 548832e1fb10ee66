"""The two regressors written here, against scikit-learn and against the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.linear_model import Ridge, TweedieRegressor

from accordant.learning.causal import BASE_REGRESSORS
from accordant.learning.causal.base_learners import build_regressor
from accordant.learning.causal.base_learners import ExponentialMeanRegressor, _minimise
from accordant.learning.causal.base_learners import NOISE_RATIOS, GaussianProcessGridRegressor


@pytest.fixture(scope="module")
def exponential_data():
    random = np.random.default_rng(1)
    X = random.normal(size=(600, 5))
    mean = np.exp(0.5 + X @ [0.5, -0.3, 0.2, 0.0, 0.0])
    return X, mean, mean + random.normal(size=600)


def test_exponential_mean_agrees_with_scikit_learn_without_penalty(exponential_data):
    X, _, y = exponential_data
    ours = ExponentialMeanRegressor(penalties=(0.0,)).fit(X, y)
    theirs = TweedieRegressor(power=0, link="log", alpha=0.0, tol=1e-8, max_iter=1000).fit(X, y)
    assert ours.shift_ == 0.0
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-3)


def test_exponential_mean_recovers_the_truth_where_a_line_cannot(exponential_data):
    X, mean, y = exponential_data
    train, test = slice(0, 400), slice(400, None)
    error = {
        type(model): np.sqrt(np.mean((model.fit(X[train], y[train]).predict(X[test]) - mean[test]) ** 2))
        for model in (ExponentialMeanRegressor(), Ridge())
    }
    assert error[ExponentialMeanRegressor] < 0.6 * error[Ridge]


@pytest.mark.parametrize("penalty", [0.1, 3.0])
def test_penalised_coefficients_are_those_of_a_search_without_gradients(exponential_data, penalty):
    X, _, y = (part[:60] for part in exponential_data)
    design, target = np.column_stack([np.ones(60), X[:, :2]]), y / y.mean()

    def objective(found):
        lack = np.mean((np.exp(design @ found) - target) ** 2) / np.var(target)
        return lack + penalty * (found[1:] ** 2).sum()

    theirs = minimize(objective, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12})
    assert _minimise(design, target, np.var(target), penalty, np.zeros(3)) == pytest.approx(theirs.x, abs=1e-4)


def test_exponential_mean_stays_finite_far_away(exponential_data):
    X, _, y = exponential_data
    assert np.isfinite(ExponentialMeanRegressor().fit(X, y).predict(1e6 * X)).all()


@pytest.mark.parametrize(("length", "weight"), [(0.5, 0.0), (2.0, 0.3)])
def test_gaussian_process_with_one_kernel_against_a_slow_twin(length, weight):
    """The noise of the highest likelihood, its scale profiled out; then the mean given the training rows."""
    random = np.random.default_rng(5)
    X, new = random.normal(2, 3, size=(25, 2)), random.normal(2, 3, size=(6, 2))
    y = np.sin(X[:, 0]) + 0.2 * X[:, 1] + 0.2 * random.normal(size=25)
    centre, spread = X.mean(axis=0), X.std(axis=0)

    def kernel(one, other):
        a, b = (one - centre) / spread, (other - centre) / spread
        return weight * (a @ b) / 2 + (1 - weight) * np.exp(-((a - b) ** 2).sum() / (2 * 2 * length**2))

    own = np.array([[kernel(one, other) for other in X] for one in X])
    across = np.array([[kernel(one, other) for other in X] for one in new])
    left = y - y.mean()

    def likelihood(noise):
        covariance = own + noise * np.eye(25)
        scale = left @ np.linalg.solve(covariance, left) / 25
        return multivariate_normal(np.zeros(25), scale * covariance).logpdf(left)

    found = GaussianProcessGridRegressor((length,), (weight,)).fit(X, y)
    assert found.noise_ratio_ == max(NOISE_RATIOS, key=likelihood)
    expected = y.mean() + across @ np.linalg.solve(own + found.noise_ratio_ * np.eye(25), left)
    np.testing.assert_allclose(found.predict(new), expected, rtol=1e-7)


@pytest.mark.long
def test_gaussian_process_agrees_with_scikit_learn(exponential_data):
    X, _, y = (part[:80] for part in exponential_data)
    ours = GaussianProcessGridRegressor().fit(X, y)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)

    def twin(length, weight, noise):
        """scikit-learn's process with the same kernel and the scale that maximises its likelihood."""
        length_scale = length * np.sqrt(X.shape[1])
        parts = (1 - weight) * RBF(length_scale)(standard), weight * (standard @ standard.T) / X.shape[1]
        scale = np.mean((y - y.mean()) * np.linalg.solve(sum(parts) + noise * np.eye(80), y - y.mean()))
        kernel = ConstantKernel(scale * max(1 - weight, 1e-12)) * RBF(length_scale) + WhiteKernel(scale * noise)
        kernel += ConstantKernel(scale * max(weight, 1e-12) / X.shape[1]) * DotProduct(0.0, "fixed")
        process = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0)
        return process.fit(standard, y - y.mean())

    chosen = twin(ours.length_scale_, ours.linear_weight_, ours.noise_ratio_)
    np.testing.assert_allclose(ours.predict(X), chosen.predict(standard) + y.mean(), rtol=1e-6, atol=1e-6)
    best = max(
        twin(length, weight, noise).log_marginal_likelihood_value_
        for length in ours.length_scales
        for weight in ours.linear_weights
        for noise in NOISE_RATIOS
    )
    assert chosen.log_marginal_likelihood_value_ == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("name", BASE_REGRESSORS)
def test_every_base_regressor_learns_a_line_and_survives_constant_features(name):
    random = np.random.default_rng(2)
    X = np.column_stack([random.normal(size=(300, 2)), np.ones(300)])
    y = 5.0 + X[:, 0] + 0.1 * random.normal(size=300)
    model = build_regressor(name, random_state=0)
    assert model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.8
    assert clone(model).get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("name", ["ridge", "interactions", "exponential", "gaussian process"])
def test_the_units_of_features_and_outcomes_do_not_matter(name):
    random = np.random.default_rng(4)
    X, new = random.normal(size=(60, 3)), random.normal(size=(20, 3))
    y = np.exp(0.4 * X[:, 0]) + 0.3 * X[:, 1] + 1.0 + 0.1 * random.normal(size=60)
    plain = build_regressor(name, 0).fit(X, y).predict(new)
    units, origins = np.array([1000.0, 1.0, 0.01]), np.array([-40.0, 7.0, 0.5])
    moved = build_regressor(name, 0).fit(X * units + origins, 20.0 * y).predict(new * units + origins)
    np.testing.assert_allclose(moved, 20.0 * plain, rtol=1e-4)


def test_size_limits_are_explained():
    assert BASE_REGRESSORS["gaussian process"].refusal(1501, 3) == "for 0 to 1500 rows, not 1501"
    assert BASE_REGRESSORS["interactions"].refusal(100, 31) == "for at most 30 features, not 31"
    assert BASE_REGRESSORS["ridge"].refusal(10**6, 1000) == ""


@pytest.mark.parametrize("name", ["ridge, scaled", "exponential", "gaussian process"])
def test_columns_in_another_order_are_refused(name):
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(30, 3)), columns=["age", "income", "debt"])
    model = build_regressor(name, 0).fit(frame, frame["age"])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["debt", "age", "income"]])


@pytest.mark.few(2)
@pytest.mark.parametrize("name", BASE_REGRESSORS)
def test_what_a_row_gets_does_not_depend_on_those_beside_it(name):
    generator = np.random.default_rng(0)
    X, rows = generator.normal(size=(80, 12)), generator.normal(size=(70, 12))
    fitted = build_regressor(name, 0).fit(X, np.exp(X[:, 0] / 2) + X[:, 1] ** 2 + generator.normal(size=80) / 9)
    together = fitted.predict(rows)
    assert np.array_equal(together, [fitted.predict(row[np.newaxis])[0] for row in rows])
    assert np.array_equal(together[3:11], fitted.predict(np.asfortranarray(rows)[3:11]))
