"""Constants of the schema against their formulas, against maximisation, and against what they must bound."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from accordant import strategies
from accordant.certificates.schema import constants, family_of, perturbation_set
from accordant.certificates.schema.forms import Growth, LogProduct, Product, SquaredDistance

MU = 0.05


def growth_of(as_rewards, name, parameters, members, n=4, region="tube", **options):
    values = np.random.default_rng(0).uniform(0.2, 0.8, (n, 3, 2))
    expected = as_rewards(values)
    form = family_of(strategies.create(name, parameters), expected, **options)
    coalition = [expected.stakeholders[i] for i in members]
    at = perturbation_set(expected, delta=0.1, coalition=coalition, mu=MU)
    found = form.growth(at, region)
    assert found.slope.shape == found.bend.shape == (2,)
    return found, at


@pytest.mark.parametrize(("name", "parameters", "options", "slope", "bend"), [
    ("utilitarian", {"weights": (1, 2, 3, 4)}, {}, 0.6, 0.0),
    ("nash_social_welfare", {}, {}, 2 / MU, 2 / MU**2),
    ("nash_social_welfare", {"weights": (1, 2, 3, 4)}, {}, 6 / MU, 6 / MU**2),
    ("nash_social_welfare", {}, {"product": True}, 2 * (1 - MU) ** 3, 2 * 2 * 1 * (1 - MU) ** 2),
    ("compromise_programming", {"ideal": 1 - MU, "weights": (1, 2, 3, 4)}, {}, 2 * 6 * (1 - 2 * MU), 2 * 6),
    ("compromise_programming", {"ideal": MU, "two_sided": True}, {}, 2 * 2 * (1 - 2 * MU), 2 * 2),
    ("maximin", {}, {"sigma": 0.1}, 1.0, 10.0),
    ("kalai_smorodinsky", {"disagreement": 0.0, "ideal": (0.9, 0.5, 0.3, 0.8)}, {"sigma": 0.1}, 1 / 0.5, 1 / (0.1 * 0.25)),
])  # fmt: skip
def test_table_of_slopes_and_bends(as_rewards, name, parameters, options, slope, bend):
    """II.2, a coalition of the second and the fourth of four."""
    found, _ = growth_of(as_rewards, name, parameters, (1, 3), **options)
    np.testing.assert_allclose(found.slope, slope, rtol=1e-12)
    np.testing.assert_allclose(found.bend, bend, rtol=1e-12, atol=1e-15)


def test_bargaining_takes_the_smallest_gain_of_the_set(as_rewards):
    points = (0.0, 0.05, 0.3, -0.1)
    found, at = growth_of(as_rewards, "nash_bargaining", {"disagreement": points}, (1, 3))
    smallest = (at.low - np.array(points)[:, None, None])[[1, 3]].min(axis=(0, 1))
    np.testing.assert_allclose(found.slope, 2 / smallest)
    np.testing.assert_allclose(found.bend, 2 / smallest**2)


def test_ideal_inside_the_tube_needs_less(as_rewards):
    found, _ = growth_of(as_rewards, "compromise_programming", {"ideal": 0.5, "two_sided": True}, (1, 3))
    np.testing.assert_allclose(found.slope, 2 * 2 * 0.45)


def test_nobody_moves_nothing(as_rewards, family):
    expected = as_rewards(np.full((3, 2, 4), 0.5))
    at = perturbation_set(expected, delta=0.1, coalition=[], mu=MU)
    for region in ("tube", "box"):
        found = family.form(expected).growth(at, region)
        np.testing.assert_array_equal(found.slope, 0.0)
        np.testing.assert_array_equal(found.bend, 0.0)


def directional(form, at, generator, n=40):
    """Return u and q of random directions at random points of the set by finite differences of slopes."""
    step, members = 1e-6, at.members
    values = generator.uniform(at.low, at.high)
    values = np.clip(values, at.mu + step, 1 - at.mu - step)
    for _ in range(n):
        direction = np.zeros(values.shape)
        drawn = generator.uniform(-1, 1, (len(members), *values.shape[1:]))
        direction[members] = np.where(generator.random(drawn.shape) < 0.7, np.sign(drawn), drawn)
        u = (form.slopes(values) * direction).sum(axis=0)
        rise = form.slopes(values + step * direction) - form.slopes(values - step * direction)
        yield u, (rise * direction).sum(axis=0) / (2 * step)


@pytest.mark.few(15)
@pytest.mark.parametrize("region", ["tube", "box"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_slopes_and_bends_stay_within(family, problem_of, region, size):
    generator = np.random.default_rng(size)
    problem = problem_of(generator, 60, size=size, delta=0.1)
    object.__setattr__(
        problem.expected, "values", 0.2 + 0.6 * problem.expected.values
    )  # gains of the bargaining family stay above 0
    at, form = problem.perturbations, family.form(problem.expected)
    found = form.growth(at, region)
    assert (found.slope <= form.growth(at, "tube").slope + 1e-12).all()
    assert (found.bend <= form.growth(at, "tube").bend + 1e-12).all()
    lowest, highest = np.full(60, 0.0), np.full(60, 0.0)  # 0 belongs to the interval
    for u, q in directional(form, at, generator):
        assert (np.abs(u) <= found.slope + 1e-9).all()
        lowest, highest = np.minimum(lowest, q.min(axis=0)), np.maximum(highest, q.max(axis=0))
    assert (highest - lowest <= found.bend * (1 + 1e-6) + 1e-6).all()


def test_c3():
    assert pytest.approx(0.38490017945975) == constants.C3
    half = 0.5 * (1 - 1 / math.sqrt(3))  # the mass on the upper set that needs all of it
    assert 4 * half * (1 - half) * (1 - 2 * half) == pytest.approx(constants.C3)


def test_c3_bounds_third_moments():
    generator = np.random.default_rng(1)
    theta = generator.integers(0, 2, (5, 60_000)) * 1.0
    u = np.where(
        generator.random(theta.shape) < 0.8,
        generator.choice([-1.0, 1.0], theta.shape),
        generator.uniform(-1, 1, theta.shape),
    )
    policy = generator.dirichlet(np.full(5, 0.5), 60_000).T
    moment = (policy * (theta - (policy * theta).sum(0)) * (u - (policy * u).sum(0)) ** 2).sum(0)
    assert np.abs(moment).max() <= constants.C3
    assert np.abs(moment).max() > 0.384


@pytest.mark.parametrize(("k", "kappa"), [(1, 0.0), (2, 0.27846), (3, 0.46306), (4, 0.60355), (10, 1.10100)])
def test_lambert(k, kappa):
    assert constants.value_kappa(k) == pytest.approx(kappa, abs=5e-6)
    assert constants.value_kappa(k) <= constants.surrogate_kappa(k)


@pytest.mark.parametrize("k", [2, 3, 4, 10])
def test_lambert_is_the_largest_bias(k):
    def bias(x):
        scores = np.append(0.0, -np.abs(x))
        return scores.max() - (constants.softmax(scores[:, None], 1.0)[:, 0] * scores).sum()

    found = minimize(lambda x: -bias(x), np.full(k - 1, 1.5), tol=1e-12)
    assert -found.fun == pytest.approx(constants.value_kappa(k), abs=1e-9)
    np.testing.assert_allclose(np.abs(found.x), 1 + constants.value_kappa(k), atol=1e-4)


def test_biases_of_value_metrics():
    generator = np.random.default_rng(2)
    for k, tau in itertools.product((2, 3, 7), (0.01, 0.3, 5.0)):
        scores = generator.normal(scale=generator.choice([0.01, 1.0, 10.0], 3000), size=(k, 3000))
        mean = (constants.softmax(scores, tau) * scores).sum(axis=0)
        surrogate = constants.soft_maximum(scores, tau).score
        best = scores.max(axis=0)
        assert (best - mean >= -1e-12).all()
        assert (best - mean <= constants.value_kappa(k) * tau + 1e-12).all()
        assert (surrogate - best >= 0).all()
        assert (surrogate - best <= constants.surrogate_kappa(k) * tau + 1e-12).all()


def test_biases_of_decision_metrics():
    generator = np.random.default_rng(3)
    for k, tau in itertools.product((2, 3, 6), (0.01, 0.1, 1.0)):
        scores, theta = generator.uniform(0, 1, (k, 3000)), generator.uniform(-1, 2, (k, 3000))
        ranked = np.sort(scores, axis=0)
        lead, spread = ranked[-1] - ranked[-2], theta.max(axis=0) - theta.min(axis=0)
        sharp = np.take_along_axis(theta, scores.argmax(axis=0)[None], axis=0)[0]
        bias = np.abs(constants.expected_metric(scores, theta, tau).score - sharp)
        bound = constants.exponential_bias(spread, lead, k - 1, tau)
        assert (bias <= bound + 1e-12).all()
        assert (bound <= constants.decision_kappa(spread, lead, k - 1) * tau + 1e-12).all()


def test_bias_at_a_tie_does_not_vanish():
    """Part I, note 1: half the difference of two metric values, at every temperature."""
    for tau in (1e-1, 1e-3, 1e-6):
        smooth = constants.expected_metric(np.array([[0.3], [0.3]]), np.array([[1.0], [0.0]]), tau)
        assert smooth.score[0] == pytest.approx(0.5)
        assert constants.exponential_bias(1.0, 0.0, 1, tau) == 0.5
    assert constants.decision_kappa(1.0, 0.0, 1) == np.inf
    assert constants.decision_kappa(1.0, -0.1, 1) == np.inf
    assert constants.decision_kappa(0.0, 0.0, 1) == 0.0


def test_smoothness_in_the_form_of_the_paper():
    smoothness = constants.decision_smoothness(0.7, 2.0, 3.0, 0.1)
    assert smoothness == pytest.approx(0.7 * (constants.C3 * 400 + 3 / 0.4))
    paper = constants.beta(smoothness, 0.1, MU)
    assert paper == pytest.approx(MU**2 * 0.7 * (constants.C3 * 4 + 0.1 * 3 / 4))
    assert paper / (0.1**2 * MU**2) == pytest.approx(smoothness)
    assert constants.value_smoothness(2.0, 3.0, 0.1) == pytest.approx(43.0)


def test_soft_minimum_is_just_below_the_minimum(as_rewards):
    values = np.random.default_rng(4).uniform(0, 1, (3, 4, 500))
    form = family_of(strategies.create("maximin"), as_rewards(values), sigma=0.05)
    below = values.min(axis=0) - form.scores(values)
    assert below.min() >= 0
    assert below.max() <= 0.05 * math.log(3)


def test_a_lone_stakeholder_has_no_pairs(as_rewards):
    """A product of one is the reward itself; a lone member has no pairs."""
    expected = as_rewards(np.full((1, 2, 3), 0.4))
    at = perturbation_set(expected, delta=0.1, coalition=["a"], mu=MU)
    found = Product("one", np.ones(1)).growth(at, "box")
    assert isinstance(found, Growth)
    np.testing.assert_allclose(found.slope, 1.0)
    np.testing.assert_allclose(found.bend, 0.0)


def test_a_vanishing_gain_leaves_the_score_undefined():
    form = LogProduct("log", np.array([1.0, 0.0]), np.array([0.3, 0.9]))
    values = np.full((2, 2, 3), 0.5)
    values[0, 1, 1] = 0.3
    np.testing.assert_array_equal(form.defined(values), [True, False, True])  # who does not count may lose
    assert np.isfinite(form.scores(values)).all()
    assert np.isfinite(form.slopes(values)).all()


def test_distances_have_their_extremes_at_the_nearest_and_the_farthest_point():
    generator = np.random.default_rng(5)
    low = generator.uniform(0, 0.9, (2, 2, 200))
    high = low + generator.uniform(0, 0.3, low.shape)
    for two_sided in (False, True):
        form = SquaredDistance("distance", np.array([1.0, 2.0]), np.array([0.4, 0.6]), two_sided)
        found = form.extremes(low, high)
        grid = [form.scores(low + share * (high - low)) for share in np.linspace(0, 1, 21)]
        free = [form.scores(generator.uniform(low, high)) for _ in range(200)]
        assert (np.min(grid + free, axis=0) >= found.lowest - 1e-12).all()
        assert (np.max(grid + free, axis=0) <= found.highest + 1e-12).all()
        at = np.clip(form.ideal[:, None, None], low, high)
        np.testing.assert_allclose(form.scores(at), found.highest)
