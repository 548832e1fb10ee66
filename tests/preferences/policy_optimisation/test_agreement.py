"""Agreement with false stances: drift, penalty, tilt, by user and over time."""

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.policy_optimisation import (
    agreement_drift,
    agreement_penalty,
    exponential_tilt,
    fraction_positive_tilt,
    penalised_rewards,
    reward_tilt,
    tilt_over_time,
    tilt_report,
)

REFERENCE = np.array([0.3, 0.2, 0.4, 0.1])[:, None]
AGREES = np.array([1, 1, 0, 0])[None, :, None]
REWARDS = np.array([1.2, 0.4, 0.5, 0.9])[None, :, None]


def world(seed, users=3, candidates=5, contexts=6):
    rng = np.random.default_rng(seed)
    shape = (users, candidates, contexts)
    reference = rng.dirichlet(np.ones(candidates), size=contexts).T
    return rng.normal(size=shape), (rng.uniform(size=shape) < 0.5).astype(int), reference


def agreement_rate(rewards, agrees, reference, strength):
    """E_π[A] through the policy itself, user by user."""
    rates = []
    for own, flags in zip(rewards, agrees, strict=True):
        rates.append((exponential_tilt(own, reference, 1 / strength) * flags).sum(axis=0))
    return np.array(rates)


class TestWorkedExample:
    def test_drift(self):
        found = agreement_drift(REWARDS, AGREES, REFERENCE, 1.0)
        assert found.base[0, 0] == pytest.approx(0.5)
        assert found.optimised[0, 0] == pytest.approx(0.588404, abs=1e-6)
        assert found.drift[0, 0] == pytest.approx(0.088404, abs=1e-6)

    def test_tilt_and_penalty(self):
        assert reward_tilt(REWARDS, AGREES, REFERENCE)[0, 0] == pytest.approx(0.30)
        penalty = agreement_penalty(REWARDS, AGREES, REFERENCE, 1.0)
        assert penalty[0, 0] == pytest.approx(0.357372, abs=1e-6)
        after = agreement_drift(penalised_rewards(REWARDS, AGREES, penalty), AGREES, REFERENCE, 1.0)
        assert after.optimised[0, 0] == pytest.approx(0.5, abs=1e-12)


class TestDrift:
    @pytest.mark.parametrize("strength", [1e-3, 0.5, 2, 50])
    def test_both_sides_of_the_formula(self, strength):
        for seed in range(20):
            rewards, agrees, reference = world(seed)
            found = agreement_drift(rewards, agrees, reference, strength)
            np.testing.assert_allclose(found.optimised, agreement_rate(rewards, agrees, reference, strength), atol=1e-9)
            np.testing.assert_allclose(found.drift, found.optimised - found.base, atol=1e-12)

    def test_the_tilt_is_its_sign_for_small_strengths(self):
        for seed in range(20):
            rewards, agrees, reference = world(seed)
            tilt = reward_tilt(rewards, agrees, reference)
            base = agreement_drift(rewards, agrees, reference, 1e-6).base
            slope = agreement_drift(rewards, agrees, reference, 1e-6).drift / 1e-6
            expected = np.where(np.isnan(tilt), 0, tilt * base * (1 - base))
            np.testing.assert_allclose(slope, expected, atol=1e-4)

    def test_large_rewards_do_not_overflow(self):
        found = agreement_drift(REWARDS * 1e5, AGREES, REFERENCE, 1.0)
        assert found.optimised[0, 0] == pytest.approx(1)
        penalty = agreement_penalty(REWARDS * 1e5, AGREES, REFERENCE, 1.0)
        assert penalty[0, 0] == pytest.approx(0.3e5 + np.log(0.6 / 0.2), rel=1e-9)


class TestPenalty:
    @pytest.mark.parametrize("strength", [0.01, 1, 30])
    def test_restores_the_base_rate_and_is_never_negative(self, strength):
        for seed in range(20):
            rewards, agrees, reference = world(seed)
            before = agreement_drift(rewards, agrees, reference, strength)
            penalty = agreement_penalty(rewards, agrees, reference, strength)
            after = agreement_drift(penalised_rewards(rewards, agrees, penalty), agrees, reference, strength)
            assert (penalty >= 0).all()
            rose = before.drift > 1e-9
            assert rose.any()
            np.testing.assert_allclose(after.optimised[rose], after.base[rose], atol=1e-9)
            assert not penalty[before.drift < -1e-9].any()

    def test_no_smaller_penalty_suffices_and_larger_ones_do(self):
        rewards, agrees, reference = world(3)
        penalty = agreement_penalty(rewards, agrees, reference, 1.0)
        needed = penalty > 1e-6
        for factor in (0.9, 1.1):
            moved = penalised_rewards(rewards, agrees, penalty * factor)
            drift = agreement_drift(moved, agrees, reference, 1.0).drift[needed]
            assert (drift > 0).all() if factor < 1 else (drift < 0).all()

    def test_nothing_to_penalise(self):
        for flags in (np.zeros((1, 4, 1)), np.ones((1, 4, 1))):
            assert agreement_penalty(REWARDS, flags, REFERENCE, 1.0)[0, 0] == 0
            assert agreement_drift(REWARDS, flags, REFERENCE, 1.0).drift[0, 0] == pytest.approx(0, abs=1e-15)
            assert np.isnan(reward_tilt(REWARDS, flags, REFERENCE)[0, 0])

    def test_candidates_that_the_reference_excludes_play_no_part(self):
        rewards = np.concatenate([REWARDS, [[[1e6]]]], axis=1)
        agrees = np.concatenate([AGREES, [[[1]]]], axis=1)
        reference = np.concatenate([REFERENCE, [[0.0]]])
        assert agreement_penalty(rewards, agrees, reference, 1.0)[0, 0] == pytest.approx(0.357372, abs=1e-6)
        assert agreement_drift(rewards, agrees, reference, 1.0).drift[0, 0] == pytest.approx(0.088404, abs=1e-6)
        assert reward_tilt(rewards, agrees, reference)[0, 0] == pytest.approx(0.3)


class TestTilt:
    def test_plain_python(self):
        rewards, agrees, reference = world(9)
        found = reward_tilt(rewards, agrees, reference)
        for u, x in np.ndindex(found.shape):
            sums, masses = [0.0, 0.0], [0.0, 0.0]
            for y in range(5):
                sums[agrees[u, y, x]] += reference[y, x] * rewards[u, y, x]
                masses[agrees[u, y, x]] += reference[y, x]
            if min(masses) == 0:
                assert np.isnan(found[u, x])
            else:
                assert found[u, x] == pytest.approx(sums[1] / masses[1] - sums[0] / masses[0])

    def test_rounding_is_no_tilt(self):
        tilt = reward_tilt(np.full((1, 4, 1), 0.1 + 0.2), AGREES, REFERENCE)
        assert tilt[0, 0] == 0
        assert fraction_positive_tilt(tilt)[0] == 0

    def test_fraction_leaves_out_what_is_not_defined(self):
        found = fraction_positive_tilt([[0.1, -0.1, np.nan, 0.2, 0.0], [np.nan] * 5])
        assert found[0] == 0.5
        assert np.isnan(found[1])

    def test_report(self):
        rewards, agrees, reference = world(4)
        agrees[0, :, 0] = 0  # this user has no false stance in the first prompt
        pooled = rewards.mean(axis=0)
        found = tilt_report(rewards, pooled, agrees, reference)
        own = reward_tilt(rewards, agrees, reference)
        np.testing.assert_allclose(found.tilt, np.nanmean(own, axis=1))
        shared = reward_tilt(np.stack([pooled] * 3), agrees, reference)
        np.testing.assert_allclose(found.relative, np.nanmean(own, axis=1) - np.nanmean(shared, axis=1))
        np.testing.assert_array_equal(found.prompts, (~np.isnan(own)).sum(axis=1))
        assert found.prompts[0] < 6
        np.testing.assert_array_equal(found.positive, fraction_positive_tilt(own))
        np.testing.assert_array_equal(found.pooled_positive, fraction_positive_tilt(shared))
        assert found.spread == pytest.approx(found.tilt.max() - found.tilt.min())

    def test_personalising_costs_nothing_if_all_models_are_the_pooled_one(self):
        rewards, agrees, reference = world(4)
        found = tilt_report(np.stack([rewards[0]] * 3), rewards[0], agrees, reference)
        np.testing.assert_array_equal(found.relative, 0)

    def test_nobody_has_a_false_stance(self):
        found = tilt_report(REWARDS, REWARDS[0], np.zeros_like(AGREES), REFERENCE)
        assert np.isnan(found.tilt[0])
        assert np.isnan(found.spread)
        assert found.prompts[0] == 0

    def test_over_time(self):
        rewards, agrees, reference = world(6)
        flattering = [rewards + step * agrees for step in range(4)]
        found = tilt_over_time(flattering, agrees, reference)
        assert found.tilt.shape == found.positive.shape == (4, 3)
        np.testing.assert_allclose(found.change, np.arange(4.0)[:, None] * np.ones(3), atol=1e-12)
        assert (np.diff(found.positive, axis=0) >= 0).all()


class TestInput:
    @pytest.mark.parametrize(
        ("rewards", "agreement", "reference", "message"),
        [
            (REWARDS[0], AGREES, REFERENCE, r"rewards has shape \(4, 1\)"),
            (REWARDS, AGREES[:, :, [0, 0]], REFERENCE, r"agreement has shape \(1, 4, 2\)"),
            (REWARDS, AGREES * 0.5, REFERENCE, "allowed: 0 and 1"),
            (REWARDS, AGREES, REFERENCE[:3], r"reference has shape \(3, 1\)"),
            (np.repeat(REWARDS, 2, axis=0), AGREES, REFERENCE, r"of shape \(2, 4, 1\)"),
        ],
    )
    def test_shapes_never_broadcast(self, rewards, agreement, reference, message):
        with pytest.raises(InputError, match=message):
            reward_tilt(rewards, agreement, reference)
        with pytest.raises(InputError, match=message):
            agreement_drift(rewards, agreement, reference, 1.0)
        with pytest.raises(InputError, match=message):
            agreement_penalty(rewards, agreement, reference, 1.0)

    @pytest.mark.parametrize("strength", [0, -1, float("inf"), float("nan")])
    def test_wrong_strength(self, strength):
        with pytest.raises(InputError, match="strength is"):
            agreement_drift(REWARDS, AGREES, REFERENCE, strength)

    @pytest.mark.parametrize("penalty", [[0.1], [[-0.1]], [[0.1, 0.1]]])
    def test_wrong_penalty(self, penalty):
        with pytest.raises(InputError, match="penalty has shape"):
            penalised_rewards(REWARDS, AGREES, penalty)

    def test_wrong_pooled_rewards_tilts_and_series(self):
        with pytest.raises(InputError, match="pooled has shape"):
            tilt_report(REWARDS, np.zeros((4, 2)), AGREES, REFERENCE)
        with pytest.raises(InputError, match="tilt has shape"):
            fraction_positive_tilt([0.1])
        with pytest.raises(InputError, match="no models"):
            tilt_over_time([], AGREES, REFERENCE)
