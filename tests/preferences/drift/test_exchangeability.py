"""The conformal martingale: twins, uniform p-values on exchangeable scores, wealth 1 on average."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from accordant.preferences.drift import watch_exchangeability
from accordant.preferences.drift.e_processes import conformal_p_values, log_jumper


def test_p_values_against_counting():
    scores = np.random.default_rng(0).integers(0, 5, 60).astype(float)
    found = conformal_p_values(scores, np.random.default_rng(3))
    u = np.random.default_rng(3).random(60)
    for t in range(60):
        lower, equal = (scores[: t + 1] < scores[t]).sum(), (scores[: t + 1] == scores[t]).sum()
        assert found[t] == pytest.approx((lower + u[t] * equal) / (t + 1))


def test_jumper_against_a_loop():
    p_values = np.random.default_rng(1).random(50) ** 2
    accounts = {-1.0: 1 / 3, 0.0: 1 / 3, 1.0: 1 / 3}
    found = log_jumper(p_values)
    for t, p in enumerate(p_values):
        total = sum(accounts.values())
        accounts = {e: (0.99 * each + 0.01 * total / 3) * (1 + e * (p - 0.5)) for e, each in accounts.items()}
        assert np.exp(found[t]) == pytest.approx(sum(accounts.values()))


def test_p_values_of_exchangeable_scores_are_uniform_and_independent():
    generator = np.random.default_rng(2)
    p_values = np.stack([conformal_p_values(generator.integers(0, 2, 20), generator) for _ in range(500)])
    assert kstest(p_values.ravel(), "uniform").pvalue > 1e-3
    correlation = np.corrcoef(p_values, rowvar=False)[~np.eye(20, dtype=bool)]
    assert np.abs(correlation).max() < 4.5 / np.sqrt(500)


def test_wealth_is_one_on_average():
    generator = np.random.default_rng(3)
    wealth = np.exp([log_jumper(generator.random(15))[-1] for _ in range(3000)])
    assert wealth.mean() == pytest.approx(1.0, abs=4 * wealth.std() / np.sqrt(3000))


def test_same_state_same_bytes():
    scores = np.ones(30)
    one, two, other = (
        watch_exchangeability(scores, generator=np.random.default_rng(seed)).traces[0].log_wealth for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()
