"""Beliefs: the mode, the covariance and the samples, against sums over a fine grid and against simulated truths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from accordant.errors import InputError
from accordant.preferences.elicitation import Posterior, NormalPrior
from accordant.preferences.elicitation.posterior import chance


def belief_of(rows, prior=None, lapse=0.0):
    rows = np.asarray(rows, dtype=float)
    found = Posterior(prior or NormalPrior.isotropic(rows.shape[1], 4.0), lapse)
    for row in rows:
        found = found.updated(row)
    return found


def grid_moments(belief, half=14.0, n=561):
    """Mean and covariance of a posterior over two features, by summing over a grid."""
    axis = np.linspace(-half, half, n)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    away = points - belief.prior.mean
    precision = np.linalg.inv(belief.prior.covariance)
    log = -0.5 * np.einsum("pi,ij,pj->p", away, precision, away)
    for row in belief.differences:
        log += np.log((1 - belief.lapse) / (1 + np.exp(-points @ row)) + belief.lapse / 2)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    mean = weights @ points
    return mean, (points - mean).T @ ((points - mean) * weights[:, None])


def correlated():
    return NormalPrior(np.array([0.5, -1.0]), np.array([[4.0, 1.5], [1.5, 2.0]]))


ROWS = np.array([[1.0, 0.2], [0.5, -1.0], [-0.3, 0.8], [1.5, 1.0], [1.0, 0.0]])


def test_without_answers_it_is_the_prior():
    belief = Posterior(correlated())
    assert belief.mean == pytest.approx(belief.prior.mean)
    assert belief.covariance == pytest.approx(belief.prior.covariance)
    drawn = belief.samples(40_000, np.random.default_rng(0))
    assert drawn.mean(axis=0) == pytest.approx(belief.prior.mean, abs=0.04)
    assert np.cov(drawn.T) == pytest.approx(belief.prior.covariance, abs=0.12)


@pytest.mark.parametrize("lapse", [0.0, 0.1])
def test_the_mode_and_the_curvature_are_those_of_the_written_density(lapse):
    prior = correlated()
    belief = belief_of(np.vstack([ROWS, [[-2.0, 1.0]]]), prior, lapse)
    precision = np.linalg.inv(prior.covariance)

    def loss(theta):
        likely = (1 - lapse) / (1 + np.exp(-belief.differences @ theta)) + lapse / 2
        return -np.log(likely).sum() + 0.5 * (theta - prior.mean) @ precision @ (theta - prior.mean)

    best = minimize(loss, belief.mean, tol=1e-14, options={"gtol": 1e-9})
    assert belief.mean == pytest.approx(best.x, abs=1e-5)
    expected = precision.copy()
    for row in belief.differences:
        inside = 1 / (1 + np.exp(-row @ belief.mean))
        likely, slope = (1 - lapse) * inside + lapse / 2, (1 - lapse) * inside * (1 - inside)
        expected += slope**2 / (likely * (1 - likely)) * np.outer(row, row)
    assert np.linalg.inv(belief.covariance) == pytest.approx(expected, rel=1e-8)


@pytest.mark.few(1)
@pytest.mark.parametrize("lapse", [0.0, 0.2])
@pytest.mark.parametrize("rows", [ROWS, ROWS[:1] * 5, np.vstack([ROWS, -ROWS[:2] * 3])], ids=["some", "steep", "mixed"])
def test_samples_have_the_moments_of_the_exact_posterior(rows, lapse):
    belief = belief_of(rows, correlated(), lapse)
    mean, covariance = grid_moments(belief)
    drawn = belief.samples(20_000, np.random.default_rng(1))
    error = np.sqrt(np.diag(covariance) / len(drawn))
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * error + 0.02).all()
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.05 * np.trace(covariance))


@pytest.mark.few(1)
@pytest.mark.parametrize("lapse", [0.0, 0.2])
def test_samples_made_of_earlier_ones_have_the_same_moments(lapse):
    """After eight answers taken one by one, two of them contradicting others, and one that hardly any sample expects."""
    generator = np.random.default_rng(6)
    belief = Posterior(correlated(), lapse)
    drawn = belief.samples(10_000, generator)
    for row in [*ROWS, *(-ROWS[:2] * 3), [9.0, 0.0]]:
        belief = belief.updated(row)
        drawn = belief.samples_from(drawn, 1, generator)
        assert drawn.shape == (10_000, 2)
    mean, covariance = grid_moments(belief)
    assert (np.abs(drawn.mean(axis=0) - mean) < 0.08 * np.sqrt(np.diag(covariance))).all()
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.08 * np.trace(covariance))
    assert len(np.unique(drawn[:, 0])) > 9000


def test_hopeless_samples_are_drawn_afresh():
    belief = belief_of([[1.0, 0.0]])
    far = np.tile([-50.0, 0.0], (2000, 1))
    far[0] = [50.0, 0.0]
    assert belief.samples_from(far, 1, np.random.default_rng(0)).std(axis=0) == pytest.approx([1.4, 2.0], abs=0.3)


def test_samples_are_nearer_to_the_posterior_than_the_normal_approximation():
    """One steep answer makes a skewed posterior: its mean lies far from its mode."""
    belief = belief_of([[6.0, 0.0]])
    mean, _ = grid_moments(belief)
    drawn = belief.samples(20_000, np.random.default_rng(2)).mean(axis=0)
    assert abs(belief.mean[0] - mean[0]) > 0.3
    assert abs(drawn[0] - mean[0]) < 0.05


@pytest.mark.long
def test_true_rewards_fall_anywhere_among_the_samples():
    """Ranks of truths drawn from the prior are uniform if the posterior is right (Talts et al. 2018)."""
    generator, ranks = np.random.default_rng(3), []
    prior, n_samples = NormalPrior.isotropic(3, 4.0), 31
    for _ in range(120):
        truth = 2.0 * generator.standard_normal(3)
        belief = Posterior(prior, 0.1)
        for row in generator.standard_normal((8, 3)):
            belief = belief.updated(row if generator.random() < chance(np.asarray(row @ truth), 0.1) else -row)
        ranks.append((belief.samples(n_samples, generator) < truth).sum(axis=0))
    counts = np.stack([np.bincount(rank // 4, minlength=8) for rank in np.array(ranks).T])
    statistic = ((counts - 15) ** 2 / 15).sum(axis=1)
    assert (statistic < 24.3).all()  # chi-squared with 7 degrees of freedom exceeds it once in a thousand


def test_a_lapse_bounds_what_one_answer_can_do():
    against = np.array([[1.0, 0.0]] * 8 + [[-4.0, 0.0]])
    plain, forgiving = belief_of(against), belief_of(against, lapse=0.1)
    assert plain.mean[0] < 0.5 < 2.0 < forgiving.mean[0]


def test_equal_is_one_answer_each_way_and_pulls_the_margin_to_nought():
    prior = NormalPrior(np.array([2.0, 0.0]), np.eye(2))
    row = np.array([1.0, 0.0])
    once = Posterior(prior).updated(row).updated(-row)
    assert 0.5 < once.mean[0] < 2.0
    assert once.mean[1] == 0.0
    assert once.covariance[0, 0] < 1.0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([0.0, 0.05]))
def test_answers_only_narrow_a_belief_without_lapses_and_their_order_does_not_matter(seed, n, lapse):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n, 4)) * 2
    belief, turned = belief_of(rows, lapse=lapse), belief_of(rows[::-1], lapse=lapse)
    assert belief.mean == pytest.approx(turned.mean, abs=1e-6)
    assert (np.diag(belief.covariance) <= 4.0 + 1e-9).all()


def test_beliefs_do_not_change_and_samples_repeat():
    first = Posterior(NormalPrior.isotropic(2))
    second = first.updated([1.0, 0.0])
    assert (first.n_answers, second.n_answers) == (0, 1)
    draws = [second.samples(50, np.random.default_rng(4)) for _ in range(2)]
    assert np.array_equal(*draws)
    ratio = second.log_density(draws[0]) - first.log_density(draws[0])
    assert ratio == pytest.approx(-np.logaddexp(0, -draws[0][:, 0]))


def test_steep_and_contradicting_answers_stay_finite():
    for lapse in (0.0, 0.02):
        belief = belief_of([[1e4, 0.0], [-1e4, 0.0], [1e-9, 1e4]], lapse=lapse)
        drawn = belief.samples(200, np.random.default_rng(5))
        assert np.isfinite(belief.mean).all() and np.isfinite(drawn).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Posterior(NormalPrior.isotropic(2), 1.0), "lapse is 1.0"),
        (lambda: Posterior(NormalPrior.isotropic(2), -0.1), "lapse is -0.1"),
        (lambda: Posterior(NormalPrior.isotropic(2), 0.0, np.zeros((3, 1))), "differences have shape"),
        (lambda: Posterior(NormalPrior.isotropic(2)).updated(np.zeros((2, 1))), "difference has shape"),
        (lambda: Posterior(NormalPrior.isotropic(2)).updated([np.nan, 0.0]), "must be finite"),
        (
            lambda: Posterior(NormalPrior.isotropic(2)).samples_from(np.zeros((3, 2)), 1, np.random.default_rng(0)),
            "1 answers ago",
        ),
        (
            lambda: Posterior(NormalPrior.isotropic(2)).samples_from(np.zeros(3), 0, np.random.default_rng(0)),
            "shape \\(3,\\)",
        ),
        (lambda: Posterior(NormalPrior.isotropic(2)).samples(0, np.random.default_rng(0)), "0 samples"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def contradicted():
    """Five answers against a sure prior: either they were slips, or the prior is wrong."""
    return belief_of([[-1.0, 0.0]] * 5, NormalPrior(np.array([12.0, 0.0]), np.diag([9.0, 1.0])), 0.02)


def wide():
    """Ten answers about rewards whose prior has a standard deviation of 14, some of them at odds with the others."""
    rows = [
        [-0.29, -0.93],
        [-0.01, -1.18],
        [0.41, -0.46],
        [1.0, -0.34],
        [-0.71, 1.16],
        [-1.71, 0.8],
        [0.57, -0.35],
        [-2.34, 0.07],
        [0.22, -2.24],
        [0.92, -0.31],
    ]
    return belief_of(rows, NormalPrior.isotropic(2, 196.0), 0.1)


@pytest.mark.few(1)
@pytest.mark.parametrize("make", [contradicted, wide])
@pytest.mark.parametrize("seed", [0, 1])
def test_samples_of_wide_and_of_contradicted_priors(make, seed):
    """Means, spreads and the probability of a decision against sums over a grid, with as many samples as usual."""
    belief, half = make(), 60.0
    mean, covariance = grid_moments(belief, half, 601)
    axis = np.linspace(-half, half, 601)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    log = belief.log_density(points)
    weights = np.exp(log - log.max()) / np.exp(log - log.max()).sum()
    drawn = belief.samples(2000, np.random.default_rng(seed))
    spread = np.sqrt(np.diag(covariance))
    assert (np.abs(drawn.mean(axis=0) - mean) < 0.1 * spread).all()
    assert drawn.std(axis=0) == pytest.approx(spread, rel=0.1)
    for direction in ([1.0, 1.0], [1.0, -1.0], [0.0, 1.0]):
        exact = weights[points @ direction < 0].sum() + 0.5 * weights[points @ direction == 0].sum()
        assert (drawn @ direction < 0).mean() == pytest.approx(exact, abs=0.04)


@pytest.mark.parametrize("make", [contradicted, wide])
def test_the_mode_is_the_densest_hill(make):
    belief = make()
    axis = np.linspace(-60.0, 60.0, 601)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    found = belief.log_density(np.vstack([belief.mean, points]))
    assert found[0] >= found[1:].max() - 1e-3


def test_a_hill_that_was_left_out_of_the_start_is_found_by_the_prior():
    """Without the second hill among the starts, draws of the prior still lead there, if less surely."""
    belief = belief_of([[-1.0, 0.0]] * 3, NormalPrior(np.array([4.0, 0.0]), np.diag([9.0, 1.0])), 0.02)
    mean, _ = grid_moments(belief, 30.0, 601)
    belief.__dict__["_modes"] = (np.zeros(2),)
    assert belief.samples(4000, np.random.default_rng(0)).mean(axis=0) == pytest.approx(mean, abs=0.3)
