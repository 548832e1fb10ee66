"""The tilted policy, its divergence, and the best of n draws."""

import itertools
import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.policy_optimisation import best_of_n, exponential_tilt, kl_divergence
from accordant.preferences.policy_optimisation.policies import tilt


class TestTilt:
    def test_plain_formula(self):
        rng = np.random.default_rng(0)
        reward, reference = rng.normal(size=(5, 4)), rng.dirichlet(np.ones(5), size=4).T
        for beta in (0.05, 1, 20):
            raw = reference * np.exp(reward / beta)
            policy, best = tilt(reward, reference, beta)
            np.testing.assert_allclose(policy, raw / raw.sum(axis=0), rtol=1e-12)
            np.testing.assert_allclose(best, beta * np.log(raw.sum(axis=0)), rtol=1e-10, atol=1e-12)

    def test_best_value_is_reward_minus_divergence(self):
        rng = np.random.default_rng(1)
        reward, reference = rng.normal(size=(4, 3)), rng.dirichlet(np.ones(4), size=3).T
        policy, best = tilt(reward, reference, 0.7)
        np.testing.assert_allclose(best, (policy * reward).sum(axis=0) - 0.7 * kl_divergence(policy, reference))

    def test_large_beta_keeps_its_digits(self):
        reward, reference = np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]])
        # β log E e^{r/β} = mean + variance / (2 β) + O(β⁻³)
        assert tilt(reward, reference, 1e6)[1][0] - 0.5 == pytest.approx(0.25 / 2e6, rel=1e-8)

    def test_limits(self):
        reward, reference = np.array([[3.0], [3.0], [1.0], [9.0]]), np.array([[0.1], [0.3], [0.6], [0]])
        np.testing.assert_allclose(exponential_tilt(reward, reference, 0)[:, 0], [0.25, 0.75, 0, 0])
        np.testing.assert_allclose(exponential_tilt(reward, reference, 1e-300)[:, 0], [0.25, 0.75, 0, 0])
        np.testing.assert_allclose(exponential_tilt(reward, reference, math.inf), reference)
        np.testing.assert_allclose(exponential_tilt(reward * 1e300, reference, 1.0)[:, 0], [0.25, 0.75, 0, 0])

    def test_wrong_input(self):
        with pytest.raises(InputError, match="reward has shape"):
            exponential_tilt([1.0, 2.0], [[0.5], [0.5]], 1)
        with pytest.raises(InputError, match="beta is -2"):
            exponential_tilt([[1.0]], [[1.0]], -2)


class TestDivergence:
    def test_plain_formula_with_zeros(self):
        policy, reference = np.array([[0.5, 0.0], [0.5, 1.0]]), np.array([[0.25, 0.5], [0.75, 0.5]])
        expected = [0.5 * math.log(2) + 0.5 * math.log(2 / 3), math.log(2)]
        np.testing.assert_allclose(kl_divergence(policy, reference), expected)

    def test_infinite_where_the_reference_excludes(self):
        assert kl_divergence([[0.5], [0.5]], [[1.0], [0.0]])[0] == math.inf

    def test_what_is_no_policy_is_named(self):
        with pytest.raises(InputError, match="policy of context 0 has smallest probability 0.5 and sum 1.5"):
            kl_divergence([[1.0], [0.5]], [[0.5], [0.5]])

    def test_never_broadcasts(self):
        with pytest.raises(InputError, match="reference has shape"):
            kl_divergence(np.full((2, 3), 0.5), np.full((2, 1), 0.5))


class TestBestOfN:
    def enumerated(self, reward, reference, draws):
        """All tuples of draws, one by one."""
        found = [0.0] * len(reward)
        for drawn in itertools.product(range(len(reward)), repeat=draws):
            top = max(reward[y] for y in drawn)
            winners = [y for y in drawn if reward[y] == top]
            for y in winners:
                found[y] += math.prod(reference[y] for y in drawn) / len(winners)
        return found

    @pytest.mark.parametrize("draws", [1, 2, 3, 5])
    def test_all_tuples_of_draws(self, draws):
        rng = np.random.default_rng(draws)
        for _ in range(5):
            reward, reference = rng.integers(0, 3, size=(4, 1)).astype(float), rng.dirichlet(np.ones(4))[:, None]
            found = best_of_n(reward, reference, draws)[:, 0]
            np.testing.assert_allclose(found, self.enumerated(reward[:, 0], reference[:, 0], draws), atol=1e-12)

    def test_ties_share_by_the_reference(self):
        found = best_of_n([[1.0], [1.0], [0.0]], [[0.1], [0.3], [0.6]], 10**6)
        np.testing.assert_allclose(found[:, 0], [0.25, 0.75, 0], atol=1e-12)

    def test_of_enough_draws_one_is_the_best_however_shares_are_rounded(self):
        reference = np.random.default_rng(1).dirichlet(np.ones(40), size=20).T
        reward = np.tile(np.arange(40.0)[:, None], 20)
        found = best_of_n(reward, reference, 10**16)
        np.testing.assert_allclose(found, (reward == 39).astype(float), atol=1e-12)

    def test_contexts_do_not_mix_and_excluded_candidates_stay_out(self):
        reward = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0]])
        reference = np.array([[0.2, 0.5], [0.8, 0.2], [0.0, 0.3]])
        together = best_of_n(reward, reference, 4)
        for x in range(2):
            np.testing.assert_allclose(together[:, [x]], best_of_n(reward[:, [x]], reference[:, [x]], 4))
        assert together[2, 0] == 0
        assert together[1, 0] == pytest.approx(1 - 0.2**4)

    def test_divergence_is_within_its_bound(self):
        rng = np.random.default_rng(3)
        reward, reference = rng.normal(size=(30, 8)), rng.dirichlet(np.ones(30), size=8).T
        previous = np.zeros(8)
        for draws in (1, 2, 4, 16):
            found = kl_divergence(best_of_n(reward, reference, draws), reference)
            assert (found <= math.log(draws) - (draws - 1) / draws + 1e-9).all()
            assert (found >= previous - 1e-9).all()
            previous = found

    @pytest.mark.parametrize("draws", [0, -1, 2.5, True])
    def test_wrong_draws(self, draws):
        with pytest.raises(InputError, match="allowed: a whole number"):
            best_of_n([[1.0]], [[1.0]], draws)
