"""The maximin over groups: worked example, brute force, duality, limits."""

import itertools
import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.policy_optimisation import (
    average_reward,
    equal_regret,
    group_optimum,
    kl_divergence,
    maximin_expectation,
    per_sample_minimum,
)

EXAMPLE = np.array([[1, 0, 0.5], [0, 1, 0.6]])[:, :, None]
UNIFORM = np.full((3, 1), 1 / 3)


def values(policy, rewards, reference, beta):
    """F_u in plain Python."""
    groups, candidates, contexts = rewards.shape
    found = []
    for u in range(groups):
        total = 0.0
        for x in range(contexts):
            for y in range(candidates):
                p = policy[y, x]
                if p > 0:
                    total += p * rewards[u, y, x] - beta * p * math.log(p / reference[y, x])
        found.append(total / contexts)
    return found


def world(seed, groups=None, contexts=None):
    rng = np.random.default_rng(seed)
    shape = (groups or rng.integers(1, 7), rng.integers(1, 9), contexts or rng.integers(1, 5))
    rewards = rng.normal(size=shape)
    if seed % 4 == 1:
        rewards = np.round(rewards)
    if seed % 4 == 2:
        rewards[-1] = rewards[0]
    reference = rng.dirichlet(np.ones(shape[1]) * 0.5, size=shape[2]).T
    if seed % 3 == 0:
        reference = np.where(reference < 0.05, 0, reference)
        reference /= reference.sum(axis=0)
    return rewards, reference


class TestWorkedExample:
    def test_maximin(self):
        found = maximin_expectation(EXAMPLE, UNIFORM, 0.5)
        np.testing.assert_allclose(found.group_weights, [0.527464, 0.472536], atol=1e-6)
        np.testing.assert_allclose(found.policy[:, 0], [0.340560, 0.305130, 0.354310], atol=1e-6)
        np.testing.assert_allclose(found.mean_rewards, [0.517715, 0.517716], atol=1e-6)
        assert found.primal == pytest.approx(0.516739, abs=1e-6)
        assert found.dual == pytest.approx(0.516739, abs=1e-6)
        assert found.converged
        assert found.beta == 0.5
        assert 0 < found.iterations < 100

    @pytest.mark.parametrize(
        ("found", "policy", "means"),
        [
            (average_reward(EXAMPLE, UNIFORM, 0.5), (0.322043, 0.322043, 0.355913), (0.5, 0.535591)),
            (per_sample_minimum(EXAMPLE, UNIFORM, 0.5), (0.211942, 0.211942, 0.576117), (0.5, 0.557612)),
            (group_optimum(EXAMPLE, UNIFORM, 0.5, 0), (0.665241, 0.090031, 0.244728), (0.787605, 0.236868)),
            (group_optimum(EXAMPLE, UNIFORM, 0.5, 1), (0.085403, 0.631049, 0.283548), (0.227177, 0.801178)),
        ],
    )
    def test_simple_policies(self, found, policy, means):
        np.testing.assert_allclose(found.policy[:, 0], policy, atol=1e-6)
        np.testing.assert_allclose(found.mean_rewards, means, atol=1e-6)

    def test_the_worst_value_of_the_average(self):
        assert average_reward(EXAMPLE, UNIFORM, 0.5).values.min() == pytest.approx(0.499433, abs=1e-6)


class TestDuality:
    @pytest.mark.few(3)
    @pytest.mark.parametrize("beta", [0, 1e-5, 1e-3, 0.01, 0.1, 1, 10, 1e4, 1e8, math.inf])
    def test_the_gap_closes_and_active_groups_are_level(self, beta):
        for seed in range(12):
            rewards, reference = world(seed)
            found = maximin_expectation(rewards, reference, beta)
            assert found.converged
            assert 0 <= found.gap < 1e-8
            assert found.primal == pytest.approx(found.dual, abs=1e-8)
            np.testing.assert_allclose(found.policy.sum(axis=0), 1)
            assert found.group_weights.sum() == pytest.approx(1)
            active = found.group_weights > 1e-4
            if not math.isinf(beta):
                assert np.ptp(found.mean_rewards[active]) < 1e-5
            assert (found.mean_rewards[active] <= found.mean_rewards.min() + 1e-5).all()
            assert not found.policy[reference == 0].any()

    def test_values_are_those_of_plain_python(self):
        for seed in range(30):
            rewards, reference = world(seed)
            found = maximin_expectation(rewards, reference, 0.3)
            np.testing.assert_allclose(found.values, values(found.policy, rewards, reference, 0.3), atol=1e-12)
            assert found.primal == pytest.approx(min(found.values), abs=1e-12)
            assert found.charge == pytest.approx(0.3 * kl_divergence(found.policy, reference).mean(), abs=1e-12)

    def test_the_policy_is_the_tilted_reference(self):
        rewards, reference = world(7)
        found = maximin_expectation(rewards, reference, 0.2)
        raw = reference * np.exp(np.einsum("u,uyx->yx", found.group_weights, rewards) / 0.2)
        np.testing.assert_allclose(found.policy, raw / raw.sum(axis=0), atol=1e-12)

    def test_no_other_policy_is_better(self):
        rng = np.random.default_rng(1)
        for seed in range(10):
            rewards, reference = world(seed + 100)
            best = maximin_expectation(rewards, reference, 0.3).primal
            for _ in range(40):
                other = reference * rng.gamma(1.0, size=reference.shape) ** rng.uniform(0, 3)
                other /= other.sum(axis=0)
                assert min(values(other, rewards, reference, 0.3)) <= best + 1e-9

    @pytest.mark.parametrize("candidates", [2, 3])
    def test_brute_force_on_a_grid_of_policies(self, candidates):
        steps = 400 if candidates == 2 else 60
        grid = [np.array(c) / steps for c in itertools.product(range(steps + 1), repeat=candidates) if sum(c) == steps]
        policies = np.array(grid)
        rng = np.random.default_rng(candidates)
        for beta in (0.05, 0.5):
            rewards = rng.normal(size=(3, candidates, 1))
            reference = rng.dirichlet(np.ones(candidates) * 3)[:, None]
            found = maximin_expectation(rewards, reference, beta)
            logs = np.log(np.where(policies > 0, policies / reference[:, 0], 1))
            worst = (policies @ rewards[:, :, 0].T).min(axis=1) - beta * (policies * logs).sum(axis=1)
            assert worst.max() <= found.primal + 1e-12
            assert worst.max() > found.primal - 0.03

    def test_the_average_over_contexts_comes_before_the_minimum(self):
        rewards, reference = world(5, groups=3, contexts=4)
        together = maximin_expectation(rewards, reference, 0.4).primal
        alone = [maximin_expectation(rewards[:, :, [x]], reference[:, [x]], 0.4).primal for x in range(4)]
        assert np.mean(alone) <= together + 1e-9

    def test_per_sample_minimum_is_stricter(self):
        for seed in range(20):
            rewards, reference = world(seed)
            maximin, strict = (f(rewards, reference, 0.5) for f in (maximin_expectation, per_sample_minimum))
            of_minimum = (strict.policy * rewards.min(axis=0)).sum(axis=0).mean()
            assert of_minimum <= strict.mean_rewards.min() + 1e-12
            assert strict.values.min() <= maximin.primal + 1e-9
            assert average_reward(rewards, reference, 0.5).values.min() <= maximin.primal + 1e-9


class TestLimits:
    def test_infinite_beta_returns_the_reference(self):
        rewards, reference = world(4)
        found = maximin_expectation(rewards, reference, math.inf)
        np.testing.assert_allclose(found.policy, reference, rtol=1e-14)
        assert (found.charge, found.gap, found.iterations) == (0, 0, 0)
        assert found.primal == pytest.approx(found.mean_rewards.min())
        assert maximin_expectation(rewards, reference, 1e9).primal == pytest.approx(found.primal, abs=1e-8)

    def test_beta_zero_is_the_linear_program(self):
        opposed = np.array([[1.0, 0, 0.4], [0, 1.0, 0.4]])[:, :, None]
        found = maximin_expectation(opposed, UNIFORM, 0)
        assert found.primal == pytest.approx(0.5)
        np.testing.assert_allclose(found.policy[:, 0], [0.5, 0.5, 0], atol=1e-9)
        assert (found.charge, found.iterations) == (0, 0)

    @pytest.mark.long
    def test_small_beta_approaches_beta_zero(self):
        for seed in range(6):
            rewards, reference = world(seed)
            limit = maximin_expectation(rewards, reference, 0).primal
            previous = -math.inf
            for beta in (1, 1e-2, 1e-4, 1e-12):
                found = maximin_expectation(rewards, reference, beta)
                assert previous <= found.primal + 1e-9 <= limit + 2e-9
                previous = found.primal
            assert previous == pytest.approx(limit, abs=1e-9)

    @pytest.mark.long
    def test_where_rounding_stops_the_solver_it_says_so(self):
        # at 10⁻⁸ of the rewards' scale a policy moves by 10⁻⁸ if a weight moves by rounding
        found = [maximin_expectation(*world(seed), 1e-8) for seed in range(8)]
        assert all(each.gap < 1e-7 for each in found)
        scales = [np.ptp(world(seed)[0]) for seed in range(8)]
        assert all(each.gap < 1e-10 * scale * 1.01 for each, scale in zip(found, scales, strict=True) if each.converged)

    def test_the_scale_of_rewards_does_not_matter(self):
        rewards, reference = world(8)
        plain = maximin_expectation(rewards, reference, 0.1)
        for scale in (1e-9, 1e9):
            scaled = maximin_expectation(rewards * scale, reference, 0.1 * scale)
            np.testing.assert_allclose(scaled.policy, plain.policy, atol=1e-7)
            assert scaled.primal / scale == pytest.approx(plain.primal, abs=1e-9)

    @pytest.mark.parametrize("unit", [1e-300, 1.5e308])
    @pytest.mark.parametrize("beta", [0.0, 0.5, math.inf])
    def test_nor_do_units_at_the_ends_of_what_numbers_can_hold(self, unit, beta):
        found, usual = (maximin_expectation(EXAMPLE * u, UNIFORM, beta * u) for u in (unit, 1.0))
        assert found.converged
        np.testing.assert_allclose(found.policy, usual.policy, atol=1e-9)
        assert found.primal == pytest.approx(usual.primal * unit, rel=1e-9)

    def test_a_number_added_to_all_groups_moves_only_the_level(self):
        rewards, reference = world(8)
        plain, moved = (maximin_expectation(rewards + c, reference, 0.1) for c in (0, 1000))
        np.testing.assert_allclose(moved.policy, plain.policy, atol=1e-7)
        assert moved.primal == pytest.approx(plain.primal + 1000)

    def test_constant_rewards_keep_the_reference_and_weigh_the_worst(self):
        rewards = np.array([0.2, 0.7])[:, None, None] * np.ones((2, 3, 2))
        reference = np.array([[0.5, 0], [0.2, 0.3], [0.3, 0.7]])
        found = maximin_expectation(rewards, reference, 0.1)
        np.testing.assert_allclose(found.policy, reference)
        np.testing.assert_allclose(found.group_weights, [1, 0], atol=1e-9)
        level = maximin_expectation(np.full((2, 3, 2), 0.4), reference, 0.1)
        assert (level.primal, level.gap) == (pytest.approx(0.4), 0)

    def test_one_group_one_candidate(self):
        single = group_optimum(EXAMPLE, UNIFORM, 0.5, 0)
        np.testing.assert_allclose(maximin_expectation(EXAMPLE[:1], UNIFORM, 0.5).policy, single.policy)
        assert maximin_expectation([[[0.3]], [[0.1]]], [[1.0]], 1).primal == pytest.approx(0.1)

    def test_what_the_reference_excludes_plays_no_part(self):
        rewards = np.concatenate([EXAMPLE, np.full((2, 1, 1), 1e12)], axis=1)
        reference = np.concatenate([UNIFORM, np.zeros((1, 1))])
        found = maximin_expectation(rewards, reference, 0.5)
        assert found.primal == pytest.approx(0.516739, abs=1e-6)
        assert found.policy[3, 0] == 0


class TestEqualRegret:
    def test_a_number_added_to_one_group_changes_nothing(self):
        for seed in range(10):
            rewards, reference = world(seed, groups=3)
            plain = equal_regret(rewards, reference, 0.3)
            moved = equal_regret(rewards + np.array([5.0, -1000, 0])[:, None, None], reference, 0.3)
            np.testing.assert_allclose(moved.policy, plain.policy, atol=1e-6)
            assert moved.largest_regret == pytest.approx(plain.largest_regret, abs=1e-8)
            np.testing.assert_allclose(moved.mean_rewards - plain.mean_rewards, [5, -1000, 0], atol=1e-6)

    @pytest.mark.few(3)
    @pytest.mark.parametrize("beta", [0, 0.01, 0.3, 5, math.inf])
    def test_regrets_are_those_against_the_own_optimum(self, beta):
        for seed in range(8):
            rewards, reference = world(seed)
            found = equal_regret(rewards, reference, beta)
            own = [group_optimum(rewards, reference, beta, u).values[u] for u in range(len(rewards))]
            np.testing.assert_allclose(found.optima, own, atol=1e-10)
            assert found.regrets.min() > -1e-9
            assert found.regrets.max() == pytest.approx(found.largest_regret, abs=1e-9)
            assert found.converged
            assert 0 <= found.gap < 1e-8
            assert found.bound <= found.largest_regret + 1e-12
            active = found.group_weights > 1e-4
            assert found.regrets[active].min() > found.largest_regret - 1e-5

    def test_no_policy_on_a_grid_has_a_smaller_largest_regret(self):
        found = equal_regret(EXAMPLE, UNIFORM, 0.5)
        own = [group_optimum(EXAMPLE, UNIFORM, 0.5, u).values[u] for u in range(2)]
        grid = [np.array(c) / 40 for c in itertools.product(range(41), repeat=3) if sum(c) == 40]
        worst = [max(np.subtract(own, values(p[:, None], EXAMPLE, UNIFORM, 0.5))) for p in grid]
        assert found.largest_regret - 1e-12 <= min(worst) < found.largest_regret + 0.01


@pytest.mark.parametrize("solve", [maximin_expectation, equal_regret, average_reward, per_sample_minimum])
class TestInput:
    @pytest.mark.parametrize(
        ("rewards", "reference", "beta", "message"),
        [
            (EXAMPLE[:, :, 0], UNIFORM, 1, r"rewards has shape \(2, 3\); allowed: \(group, candidate, context\)"),
            (EXAMPLE, UNIFORM[:, 0], 1, r"reference has shape \(3,\)"),
            (EXAMPLE, np.full((1, 3), 1.0), 1, r"reference has shape \(1, 3\); .* here \(3, 1\)"),
            (EXAMPLE, UNIFORM * 2, 1, "sum 2; allowed: probabilities"),
            (EXAMPLE, np.array([[1.5], [-0.5], [0]]), 1, "smallest probability -0.5"),
            (EXAMPLE * np.nan, UNIFORM, 1, "6 numbers that are NaN"),
            (EXAMPLE, UNIFORM, -1, "beta is -1; allowed"),
            (EXAMPLE, UNIFORM, math.nan, "beta is nan"),
            (np.zeros((2, 3, 0)), np.zeros((3, 0)), 1, "none of them empty"),
            (np.zeros((0, 3, 1)), UNIFORM, 1, "none of them empty"),
            ([["a"]], UNIFORM, 1, "no array of numbers"),
        ],
    )
    def test_wrong_input_is_named(self, solve, rewards, reference, beta, message):
        with pytest.raises(InputError, match=message):
            solve(rewards, reference, beta)


def test_a_group_that_is_not_there():
    with pytest.raises(InputError, match="group is 2; allowed: 0 to 1"):
        group_optimum(EXAMPLE, UNIFORM, 1, 2)
