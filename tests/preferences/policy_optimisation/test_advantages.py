"""Advantages from several rewards: worked example, identities, missing rewards, edge rules."""

import math
import statistics

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.policy_optimisation import (
    advantage_combination,
    batch_standardised,
    reward_combination,
    variance_adaptive,
)

EXAMPLE = np.array([[1, 1], [1, 0], [0, 1], [0, 1]], dtype=float)
HALF = (0.5, 0.5)
ALL = [reward_combination, advantage_combination, variance_adaptive]


def batch(rewards, weights, **options):
    return batch_standardised([rewards], weights, **options)[0]


def plain(rewards, weights, ddof=0):
    """RC, AC and DVAO in plain Python, rewards all known and varied."""
    std = statistics.pstdev if ddof == 0 else statistics.stdev
    columns = list(zip(*rewards, strict=True))
    means, stds = [statistics.fmean(c) for c in columns], [std(c) for c in columns]
    sums = [sum(w * r for w, r in zip(weights, row, strict=True)) for row in rewards]
    centre, spread = statistics.fmean(sums), std(sums)
    standard = [[(r - m) / s for r, m, s in zip(row, means, stds, strict=True)] for row in rewards]
    total = sum(w * s for w, s in zip(weights, stds, strict=True))
    adapted = [w * s / total for w, s in zip(weights, stds, strict=True)]
    return (
        [(s - centre) / spread for s in sums],
        [sum(w * a for w, a in zip(weights, row, strict=True)) for row in standard],
        [sum(w * a for w, a in zip(adapted, row, strict=True)) for row in standard],
    )


class TestWorkedExample:
    def test_variance_adaptive(self):
        found = variance_adaptive(EXAMPLE, HALF)
        np.testing.assert_allclose(found.weights, [0.5358984, 0.4641016], atol=1e-7)
        np.testing.assert_allclose(found.values, [0.8038476, -0.2679492, -0.2679492, -0.2679492], atol=1e-7)

    def test_reward_combination(self):
        found = reward_combination(EXAMPLE, HALF)
        np.testing.assert_allclose(found.values, [1.7320508, -0.5773503, -0.5773503, -0.5773503], atol=1e-7)

    def test_advantage_combination(self):
        found = advantage_combination(EXAMPLE, HALF)
        np.testing.assert_allclose(found.values, [0.7886751, -0.3660254, -0.2113249, -0.2113249], atol=1e-7)
        assert (found.values**2).mean() == pytest.approx(0.2113249, abs=1e-7)


class TestIdentities:
    @pytest.mark.long
    def test_on_five_thousand_random_inputs(self):
        rng = np.random.default_rng(0)
        for _ in range(5000):
            rollouts, objectives = rng.integers(2, 17), rng.integers(1, 6)
            rewards = rng.normal(size=(rollouts, objectives)) * 10.0 ** rng.integers(-2, 3, size=objectives)
            weights, ddof = rng.dirichlet(np.ones(objectives)), int(rng.integers(2))
            combined, alone, adapted = (each(rewards, weights, ddof=ddof) for each in ALL)
            total = weights @ adapted.spreads
            spread = (rewards @ weights).std(ddof=ddof)
            direct = (rewards - rewards.mean(axis=0)) @ weights / total
            standard = (rewards - rewards.mean(axis=0)) / rewards.std(axis=0, ddof=ddof)
            assert np.abs(adapted.values - direct).max() < 1e-12
            assert np.abs(adapted.values - standard @ adapted.weights).max() < 1e-12
            assert np.abs(adapted.values - combined.values * spread / total).max() < 1e-12
            assert (np.abs(adapted.values) <= np.abs(combined.values) + 1e-12).all()
            assert adapted.weights.sum() == pytest.approx(1)
            if ddof == 0:
                assert (combined.values**2).mean() == pytest.approx(1)
                square = (alone.values**2).mean()
                correlations = np.atleast_2d(np.corrcoef(rewards.T))
                assert square == pytest.approx(weights @ correlations @ weights, abs=1e-10)
                assert square <= 1 + 1e-12

    @pytest.mark.parametrize("ddof", [0, 1])
    def test_plain_python(self, ddof):
        rng = np.random.default_rng(1)
        for _ in range(50):
            rewards, weights = rng.normal(size=(6, 3)), rng.uniform(0.1, 2, size=3)
            for found, expected in zip(ALL, plain(rewards.tolist(), weights.tolist(), ddof), strict=True):
                np.testing.assert_allclose(found(rewards, weights, ddof=ddof).values, expected, atol=1e-12)

    def test_orders_rollouts_like_the_weighted_sum(self):
        rng = np.random.default_rng(2)
        for _ in range(200):
            rewards, weights = rng.normal(size=(8, 3)) * [1, 10, 0.1], rng.uniform(size=3)
            for epsilon in (0, 1e-4, 0.01):
                found = variance_adaptive(rewards, weights, epsilon=epsilon).values
                np.testing.assert_array_equal(found.argsort(), (rewards @ weights).argsort())

    @pytest.mark.parametrize("ddof", [0, 1])
    def test_one_objective(self, ddof):
        rewards = np.array([[0.2], [0.9], [0.4], [0.4], [0.1]])
        expected = ((rewards - rewards.mean()) / rewards.std(ddof=ddof))[:, 0]
        for each in ALL:
            np.testing.assert_allclose(each(rewards, [1.0], ddof=ddof).values, expected)
        for each in (reward_combination, variance_adaptive):
            np.testing.assert_allclose(each(rewards, [3.0], ddof=ddof).values, expected)


class TestMissing:
    @pytest.mark.parametrize("each", ALL)
    def test_counts_as_the_mean_of_the_others(self, each):
        rewards = EXAMPLE.copy()
        rewards[2, 0] = np.nan
        found = each(rewards, HALF)
        assert found.missing.tolist() == [1, 0]
        assert found.spreads[0] == pytest.approx(np.std([1, 1, 0]))
        assert np.isfinite(found.values).all()
        assert found.values.sum() == pytest.approx(0)
        assert "1 missing rewards" in found.remarks[-1]

    def test_what_a_missing_reward_adds_is_nothing(self):
        rewards = np.array([[1.0, np.nan], [3.0, 0.2], [2.0, 0.8], [5.0, 0.5], [0.0, 0.1]])
        found = variance_adaptive(rewards, (1, 2))
        total = np.std(rewards[:, 0]) + 2 * np.nanstd(rewards[:, 1])
        assert found.values[0] == pytest.approx((1.0 - rewards[:, 0].mean()) / total)
        assert found.values[1] == pytest.approx(((3.0 - 2.2) + 2 * (0.2 - 0.4)) / total)

    def test_identities_hold_with_missing_rewards(self):
        rng = np.random.default_rng(3)
        for _ in range(500):
            rewards, weights, ddof = rng.normal(size=(7, 3)), rng.uniform(0.1, 1, size=3), int(rng.integers(2))
            rewards[rng.uniform(size=rewards.shape) < 0.3] = np.nan
            combined, adapted = (each(rewards, weights, ddof=ddof) for each in (reward_combination, variance_adaptive))
            assert (np.abs(adapted.values) <= np.abs(combined.values) + 1e-12).all()
            assert not np.isnan(adapted.values).any()

    @pytest.mark.parametrize("each", [*ALL, batch])
    def test_nothing_is_known(self, each):
        found = each(np.full((3, 2), np.nan), HALF)
        assert not found.values.any()
        assert found.missing.tolist() == [3, 3]


class TestEdges:
    @pytest.mark.parametrize("each", [*ALL, batch])
    @pytest.mark.parametrize("ddof", [0, 1])
    def test_one_rollout_has_advantage_zero(self, each, ddof):
        assert each([[3.0, 4.0]], HALF, ddof=ddof).values.tolist() == [0]

    @pytest.mark.parametrize("each", ALL)
    def test_a_constant_objective_adds_nothing(self, each):
        rewards = np.column_stack([EXAMPLE[:, 0], np.full(4, 0.1 + 0.2)])
        found = each(rewards, HALF)
        assert found.spreads[1] == 0
        expected = each(rewards[:, :1], [0.5]).values
        np.testing.assert_allclose(found.values, expected)

    @pytest.mark.parametrize("each", [*ALL, batch])
    def test_all_constant(self, each):
        # 0.1 has no exact binary form: the mean of three is not 0.1, which must not pass for a difference
        assert not each(np.full((3, 2), 0.1), HALF).values.any()

    def test_equal_sums_up_to_rounding_have_advantage_zero(self):
        rewards = [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]]
        assert not reward_combination(rewards, [1 / 3] * 3).values.any()

    @pytest.mark.parametrize("each", ALL)
    def test_one_known_reward_of_an_objective(self, each):
        rewards = EXAMPLE.copy()
        rewards[:3, 1] = np.nan
        for ddof in (0, 1):
            found = each(rewards, HALF, ddof=ddof)
            np.testing.assert_allclose(found.values, each(EXAMPLE[:, :1], [0.5], ddof=ddof).values)

    def test_epsilon_is_added_to_what_divides(self):
        spreads, centred = EXAMPLE.std(axis=0, ddof=1), EXAMPLE - EXAMPLE.mean(axis=0)
        combined = centred @ HALF
        options = {"ddof": 1, "epsilon": 1e-4}
        found = [each(EXAMPLE, HALF, **options).values for each in ALL]
        np.testing.assert_allclose(found[0], combined / (combined.std(ddof=1) + 1e-4))
        np.testing.assert_allclose(found[1], centred / (spreads + 1e-4) @ HALF)
        np.testing.assert_allclose(found[2], combined / (spreads @ HALF + 1e-4))

    @pytest.mark.parametrize("each", [*ALL, batch])
    def test_spreads_within_epsilon_give_zero(self, each):
        assert not each(EXAMPLE * 1e-6, HALF, epsilon=1e-4).values.any()
        assert not each(EXAMPLE, (0, 0)).values.any()

    def test_few_rollouts_are_remarked_upon(self):
        assert "4 rollouts" in variance_adaptive(EXAMPLE, HALF).remarks[0]
        assert variance_adaptive(np.vstack([EXAMPLE, EXAMPLE]), HALF).remarks == ()

    def test_large_rewards(self):
        found = variance_adaptive(EXAMPLE * 1e150, HALF).values
        np.testing.assert_allclose(found, variance_adaptive(EXAMPLE, HALF).values)

    @pytest.mark.parametrize("each", [*ALL, batch])
    @pytest.mark.parametrize(
        ("rewards", "weights", "options", "message"),
        [
            (EXAMPLE, (1,), {}, "one finite number ≥ 0 for each of the 2 objectives"),
            (EXAMPLE, ((0.5,), (0.5,)), {}, "one finite number"),
            (EXAMPLE, (1, -1), {}, "one finite number"),
            (EXAMPLE, (1, math.nan), {}, "one finite number"),
            (EXAMPLE[:, 0], (1,), {}, r"rewards have shape \(4,\); allowed: \(rollout, objective\)"),
            (np.zeros((0, 2)), HALF, {}, "none of them empty"),
            (EXAMPLE + math.inf, HALF, {}, "rewards are infinite"),
            (EXAMPLE, HALF, {"ddof": 2}, "ddof is 2"),
            (EXAMPLE, HALF, {"epsilon": -1.0}, "epsilon -1.0"),
        ],
    )
    def test_wrong_input(self, each, rewards, weights, options, message):
        with pytest.raises(InputError, match=message):
            each(rewards, weights, **options)


class TestBatch:
    def test_standardised_over_all_rollouts(self):
        rng = np.random.default_rng(5)
        prompts = [rng.normal(size=(n, 2)) for n in (4, 7, 3)]
        found = batch_standardised(prompts, HALF)
        assert [len(each.values) for each in found] == [4, 7, 3]
        raw = np.concatenate([advantage_combination(each, HALF).values for each in prompts])
        values = np.concatenate([each.values for each in found])
        np.testing.assert_allclose(values, (raw - raw.mean()) / raw.std())
        assert (values**2).mean() == pytest.approx(1)

    def test_ddof_and_epsilon_hold_for_the_batch(self):
        prompts, options = [EXAMPLE, EXAMPLE[:3]], {"ddof": 1, "epsilon": 1e-4}
        raw = np.concatenate([advantage_combination(each, HALF, **options).values for each in prompts])
        values = np.concatenate([each.values for each in batch_standardised(prompts, HALF, **options)])
        np.testing.assert_allclose(values, (raw - raw.mean()) / (raw.std(ddof=1) + 1e-4))

    def test_no_prompts(self):
        with pytest.raises(InputError, match="no prompts"):
            batch_standardised([], HALF)
