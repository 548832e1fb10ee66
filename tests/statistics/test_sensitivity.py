"""Bounds under the marginal sensitivity model: against linear programming, and in worlds with a hidden confounder."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from accordant.errors import InputError
from accordant.statistics.sensitivity import (
    GRID,
    OutcomeDistribution,
    SeenOutcomes,
    interpolated_turning_point,
    turning_point,
)

ODDS_RATIOS = (1.0, 1.3, 2.0, 5.0)


def worst(values, probabilities, e, odds_ratio, *, upper):
    """Return the extreme of E[Y(a) | x] over all reweightings that the model allows, by linear programming.

    Y(a) is Y where a was taken (probability e); elsewhere it follows Y reweighted by λ in [1/Λ, Λ] with mean 1.
    """
    sign = -1.0 if upper else 1.0
    found = linprog(
        sign * probabilities * values,
        A_eq=probabilities[None],
        b_eq=[1.0],
        bounds=[(1 / odds_ratio, odds_ratio)] * len(values),
    )
    return e * probabilities @ values + (1 - e) * sign * found.fun


def world(generator, *, contexts=4, actions=3, nodes=5, ties=False):
    values = (
        generator.integers(0, 3, (actions, nodes, contexts)) / 3.0
        if ties
        else generator.random((actions, nodes, contexts))
    )
    weights = generator.dirichlet(np.ones(nodes), (actions, contexts)).transpose(0, 2, 1)
    e = generator.dirichlet(np.ones(actions) * 3, contexts).T
    return values, weights, np.maximum(e, 0.02) / np.maximum(e, 0.02).sum(axis=0)


@pytest.mark.few(2)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_expected_terms_are_the_optimum_of_the_linear_programme(ties, upper):
    """Averaged over what may be seen, with the true distribution, no other reweighting reaches further."""
    generator = np.random.default_rng(3)
    for _ in range(2):
        values, weights, e = world(generator, ties=ties)
        n_actions, n_nodes, n = values.shape
        distribution = OutcomeDistribution.of(values, weights)
        for odds_ratio in ODDS_RATIOS:
            mean = np.zeros((n_actions, n))
            for taken in range(n_actions):
                for node in range(n_nodes):
                    seen = SeenOutcomes(np.full(n, taken), values[taken, node], e, distribution)
                    mean += e[taken] * weights[taken, node] * seen.terms(odds_ratio, upper=upper)
            for action in range(n_actions):
                for t in range(n):
                    exact = worst(values[action, :, t], weights[action, :, t], e[action, t], odds_ratio, upper=upper)
                    assert mean[action, t] == pytest.approx(exact, abs=1e-9)


def test_without_confounding_both_bounds_are_the_doubly_robust_terms():
    generator = np.random.default_rng(0)
    values, weights, e = world(generator, contexts=50)
    actions, outcomes, rows = generator.integers(0, 3, 50), generator.random(50), np.arange(50)
    seen = SeenOutcomes(actions, outcomes, e, OutcomeDistribution.of(values, weights))
    robust = (weights * values).sum(axis=1)
    robust[actions, rows] += (outcomes - robust[actions, rows]) / e[actions, rows]
    for upper in (False, True):
        assert np.allclose(seen.terms(1.0, upper=upper), robust, atol=1e-12)


def test_bounds_widen_with_the_odds_ratio_and_contain_each_other():
    generator = np.random.default_rng(1)
    values, weights, e = world(generator, contexts=30)
    seen = SeenOutcomes(generator.integers(0, 3, 30), generator.random(30), e, OutcomeDistribution.of(values, weights))
    means = [[seen.terms(ratio, upper=upper).mean() for upper in (False, True)] for ratio in ODDS_RATIOS]
    assert all(b[0] <= a[0] and a[1] <= b[1] for a, b in zip(means, means[1:], strict=False))


def test_means_are_moved_where_they_are_wanted():
    generator = np.random.default_rng(2)
    values, weights, _ = world(generator)
    wanted = generator.random((3, 4))
    assert np.allclose(OutcomeDistribution.of(values, weights, wanted).moment[:, -1], wanted, atol=1e-12)


def test_odds_ratios_below_one_are_refused():
    generator = np.random.default_rng(2)
    values, weights, e = world(generator)
    seen = SeenOutcomes(np.zeros(4, dtype=int), np.zeros(4), e, OutcomeDistribution.of(values, weights))
    with pytest.raises(InputError, match="at least 1"):
        seen.terms(0.5, upper=True)


# --- turning points --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [1.0001, 1.37, 2.5, 40.0])
def test_turning_points_are_found(at):
    assert turning_point(lambda ratio: at - ratio) == pytest.approx(at, rel=1e-7)
    limits = np.log(at) - np.log(GRID)
    assert interpolated_turning_point(limits) == pytest.approx(at, rel=1e-7)


def test_open_comparisons_turn_at_one_and_firm_ones_never():
    assert turning_point(lambda ratio: -1e-9) == interpolated_turning_point(-GRID) == 1.0
    assert turning_point(lambda ratio: 1 / ratio) is interpolated_turning_point(1 / GRID) is None


# --- a hidden confounder of known strength ---------------------------------------------------------------------


def hidden(generator, n, odds_ratio):
    """Return SeenOutcomes of one action with the true model given x, and the true value of always taking it.

    U is a fair coin that no model may read. Given x it moves the odds of the action from √-like values so that both
    odds ratios against the marginal propensity stay within the given one, with equality for the larger.
    """
    x = generator.integers(0, 2, n)
    marginal = np.where(x == 1, 0.5, 0.3)
    # U = 1 multiplies the odds by Λ; P(U = 1) is such that propensities average to the marginal with 1/Λ for U = 0
    with_u = marginal * odds_ratio / (1 - marginal + marginal * odds_ratio)
    without_u = marginal / odds_ratio / (1 - marginal + marginal / odds_ratio)
    share = (marginal - without_u) / (with_u - without_u) if odds_ratio > 1 else np.full(n, 0.5)
    u = generator.random(n) < share
    taken = generator.random(n) < np.where(u, with_u, without_u)
    chance = np.where(u, 0.9, 0.1)
    y = (generator.random(n) < chance).astype(float)
    p_u = share * with_u / marginal  # P(U = 1 | x, action taken)
    p_y = p_u * 0.9 + (1 - p_u) * 0.1
    truth = np.mean([s * 0.9 + (1 - s) * 0.1 for s in share])
    values = np.broadcast_to(np.array([0.0, 1.0])[None, :, None], (2, 2, n)).copy()
    weights = np.stack([np.stack([1 - p_y, p_y])] * 2)
    seen = SeenOutcomes(
        np.where(taken, 0, 1), y, np.stack([marginal, 1 - marginal]), OutcomeDistribution.of(values, weights)
    )
    return seen, truth


def interval(seen, odds_ratio):
    low, high = (seen.terms(odds_ratio, upper=upper)[0] for upper in (False, True))
    error = [1.96 * each.std() / np.sqrt(len(each)) for each in (low, high)]
    return low.mean() - error[0], high.mean() + error[1]


def test_the_interval_covers_at_the_true_strength_and_not_without_it():
    covered = {1.0: 0, 2.0: 0}
    for seed in range(200):
        seen, truth = hidden(np.random.default_rng(seed), 800, 2.0)
        for odds_ratio in covered:
            low, high = interval(seen, odds_ratio)
            covered[odds_ratio] += low <= truth <= high
    assert covered[2.0] >= 190
    assert covered[1.0] <= 20
