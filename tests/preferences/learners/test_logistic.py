"""The shared convex problem: exact gradients and curvature, and the same optimum as scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from accordant.errors import InputError
from accordant.preferences.learners.logistic import LogisticProblem, log_loss, sigmoid


def problem(seed=0, n=60, d=5, **changes):
    generator = np.random.default_rng(seed)
    given = {
        "differences": generator.normal(size=(n, d)),
        "targets": generator.random(n),
        "weights": generator.random(n),
        "offsets": generator.normal(size=n),
        "ridge": generator.random(d),
        "centre": generator.normal(size=d),
    } | changes
    return LogisticProblem(**given), generator.normal(size=d)


@pytest.mark.parametrize("seed", range(5))
def test_gradient_and_curvature_equal_finite_differences(seed):
    found, theta = problem(seed)
    gradient, step = found.gradient(theta, found.predictions(theta)), 1e-6
    for k in range(len(theta)):
        there, here = theta.copy(), theta.copy()
        there[k] += step
        here[k] -= step
        slope = (found.value(there, found.predictions(there)) - found.value(here, found.predictions(here))) / (2 * step)
        assert gradient[k] == pytest.approx(slope, abs=1e-8)
        bent = (found.gradient(there, found.predictions(there)) - found.gradient(here, found.predictions(here))) / (
            2 * step
        )
        assert found.curvature(found.predictions(theta))(np.eye(len(theta))[k]) == pytest.approx(bent, abs=1e-7)


def test_the_optimum_is_that_of_scikit_learn():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(400, 6))
    labels = generator.random(400) < sigmoid(X @ generator.normal(size=6))
    ours = LogisticProblem(np.where(labels[:, None], X, -X), ridge=0.01).solve(tolerance=1e-10)
    theirs = LogisticRegression(C=1 / (0.01 * 400), fit_intercept=False, tol=1e-12, max_iter=5000).fit(X, labels)
    assert ours.converged
    assert ours.coefficients == pytest.approx(theirs.coef_[0], abs=1e-6)


def test_weights_are_repeated_records():
    found, _ = problem(weights=None, n=40)
    counts = np.random.default_rng(2).integers(0, 4, 40)
    weighted = LogisticProblem(found.differences, found.targets, counts.astype(float), found.offsets, 0.1)
    repeated = LogisticProblem(
        np.repeat(found.differences, counts, axis=0), np.repeat(found.targets, counts), None,
        np.repeat(found.offsets, counts), 0.1,
    )  # fmt: skip
    assert weighted.solve().coefficients == pytest.approx(repeated.solve().coefficients, abs=1e-8)


def test_separable_records_and_badly_scaled_ones_have_a_solution():
    X = np.abs(np.random.default_rng(3).normal(size=(50, 3))) * np.array([1e-3, 1.0, 1e3])
    found = LogisticProblem(X, ridge=1e-4).solve()
    assert found.converged
    assert (found.coefficients >= 0).all()


def test_margins_of_a_thousand_do_not_overflow():
    assert log_loss(np.array([1000.0, -1000.0])).tolist() == [0.0, 1000.0]
    assert sigmoid(np.array([1000.0, -1000.0])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": np.zeros((60, 1))}, "offsets have shape"),
        ({"targets": np.zeros(3)}, "targets have shape"),
        ({"ridge": -1.0}, "ridge is"),
        ({"ridge": np.ones(2)}, "ridge is"),
        ({"weights": np.zeros(60)}, "weights are all 0"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        problem(**changes)
