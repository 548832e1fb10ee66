"""The shared convex problem: exact gradients and curvature, and the same optimum as scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from accordant.errors import InputError
from accordant.preferences.learners.logistic import LogisticProblem, Pull, log_loss, right, sigmoid


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


def bent_along(found, theta):
    """The second derivative times each unit vector."""
    product = found.curvature(found.predictions(theta))
    return np.stack([product(each)[0] for each in np.eye(len(theta))])


def test_a_product_also_tells_how_margins_change():
    found, theta = contextual()
    predictions = found.predictions(theta)
    _, change = found.curvature(predictions)(theta)
    assert found.predictions(2 * theta) == pytest.approx(predictions + change)


def test_a_tie_is_half_right():
    assert right(np.array([-2.0, 0.0, 1e-300])).tolist() == [0.0, 0.5, 1.0]


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
        assert bent_along(found, theta)[k] == pytest.approx(bent, abs=1e-7)


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


def contextual(seed=0, n=40, d=3, k=3):
    """Every term at once, for coefficients that depend on a context."""
    generator = np.random.default_rng(seed)
    return LogisticProblem(
        generator.normal(size=(n, d)), generator.random(n), generator.random(n), generator.normal(size=n),
        generator.random(k * d), generator.normal(size=k * d), generator.normal(size=(n, k)),
        Pull(generator.normal(size=n), generator.random(n)),
    ), generator.normal(size=k * d)  # fmt: skip


def slow_value(found, theta):
    """The sentence at the top of logistic.py, record by record."""
    n, d = found.differences.shape
    total = 0.0
    for r in range(n):
        margin = found.offsets[r]
        for j in range(found.scales.shape[1]):
            margin += found.scales[r, j] * sum(theta[j * d + i] * found.differences[r, i] for i in range(d))
        likely = 1 / (1 + np.exp(-margin))
        cross = -found.targets[r] * np.log(likely) - (1 - found.targets[r]) * np.log(1 - likely)
        total += found.weights[r] / sum(found.weights) * cross
        total += found.pull.weights[r] * (margin - found.pull.margins[r]) ** 2
    return total + 0.5 * sum(found.ridge[i] * (theta[i] - found.centre[i]) ** 2 for i in range(len(theta)))


@pytest.mark.parametrize("seed", range(3))
def test_every_term_at_once_equals_the_slow_value_and_its_differences(seed):
    found, theta = contextual(seed)
    assert found.value(theta, found.predictions(theta)) == pytest.approx(slow_value(found, theta))
    gradient, step = found.gradient(theta, found.predictions(theta)), 1e-6
    for k in range(len(theta)):
        move = step * np.eye(len(theta))[k]
        slope = (slow_value(found, theta + move) - slow_value(found, theta - move)) / (2 * step)
        assert gradient[k] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_products_diagonal_and_blocks_are_those_of_the_dense_second_derivative(seed):
    found, theta = contextual(seed)
    predictions, d = found.predictions(theta), found.differences.shape[1]
    likely = sigmoid(predictions)
    bent = found.weights / found.weights.sum() * likely * (1 - likely) + 2 * found.pull.weights
    rows = np.einsum("rj,rf->rjf", found.scales, found.differences).reshape(len(predictions), -1)
    dense = (rows * bent[:, None]).T @ rows + np.diag(found.ridge)
    assert bent_along(found, theta) == pytest.approx(dense)
    assert found.curvature_diagonal(predictions) == pytest.approx(np.diag(dense))
    blocks = [dense[j : j + d, j : j + d] for j in range(0, len(theta), d)]
    assert found.curvature_blocks(predictions) == pytest.approx(np.stack(blocks))


def test_the_solution_has_no_slope_and_nothing_near_is_lower():
    found, _ = contextual()
    solution = found.solve(tolerance=1e-9)
    assert solution.converged
    generator = np.random.default_rng(1)
    lowest = slow_value(found, solution.coefficients)
    assert lowest == pytest.approx(solution.loss)
    for _ in range(20):
        away = solution.coefficients + 0.05 * generator.normal(size=len(solution.coefficients))
        assert slow_value(found, away) > lowest


def test_one_scale_of_ones_is_no_scale():
    found, theta = problem()
    scaled, _ = problem(scales=np.ones((60, 1)))
    assert scaled.value(theta, scaled.predictions(theta)) == pytest.approx(found.value(theta, found.predictions(theta)))
    assert scaled.solve().coefficients == pytest.approx(found.solve().coefficients, abs=1e-6)


def test_a_strong_pull_reaches_its_margins():
    generator = np.random.default_rng(4)
    X, wanted = generator.normal(size=(50, 4)), generator.normal(size=4)
    found = LogisticProblem(X, ridge=1e-9, pull=Pull(X @ wanted, np.full(50, 1e4))).solve()
    assert found.coefficients == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scales": np.ones((59, 2)), "centre": None}, "scales have shape"),
        ({"centre": np.zeros((5, 1))}, "centre have shape"),
        ({"weights": np.ones((60, 1))}, "weights have shape"),
        ({"targets": np.ones((60, 1))}, "targets have shape"),
        ({"pull": Pull(np.zeros((60, 1)), np.zeros(60))}, "pull.margins have shape"),
        ({"pull": Pull(np.zeros(60), np.zeros((60, 1)))}, "pull.weights have shape"),
        ({"ridge": np.array([1.0, 1.0, 1.0, 1.0, np.nan])}, "ridge is"),
    ],
)
def test_columns_where_rows_belong_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        problem(**changes)
