"""Lemma 18, Corollary 19 and the search for a temperature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from accordant.certificates.schema import optimal_temperature, trade_off, uniform_bias
from accordant.certificates.schema.constants import best_temperature, minimiser
from accordant.errors import InputError

EXAMPLE = {"delta": 0.1, "beta": 1.0, "kappa": 0.5, "mu": 0.2}


def test_worked_example():
    """Part I: τ* = 0.7937 and g = 0.59528."""
    tau = optimal_temperature(**EXAMPLE)
    assert tau == pytest.approx(0.7937, abs=5e-5)
    assert trade_off(tau, **EXAMPLE) == pytest.approx(0.59528, abs=5e-6)
    assert trade_off(tau, **EXAMPLE) == pytest.approx(1.5 * 0.5 * tau)
    assert uniform_bias(**EXAMPLE) == pytest.approx(0.5 * tau)


def test_the_star_is_the_minimiser():
    generator = np.random.default_rng(0)
    for _ in range(50):
        delta, beta, kappa, mu = generator.uniform(0.01, [0.3, 5.0, 3.0, 0.49])
        setting = {"delta": delta, "beta": beta, "kappa": kappa, "mu": mu}
        tau = optimal_temperature(**setting)
        around = trade_off(tau * np.geomspace(0.2, 5, 101), **setting)
        assert around.argmin() == 50
        assert (np.diff(around, 2) != 0).all()
        assert minimiser(delta**2 * beta / (2 * mu**2), 0.0, kappa) == pytest.approx(tau)


def test_no_radius_needs_no_temperature():
    assert optimal_temperature(delta=0.0, beta=1.0, kappa=0.5, mu=0.2) == 0.0
    assert minimiser(0.0, 0.0, 0.5) == 1e-12


@pytest.mark.parametrize("changes", [{"kappa": 0.0}, {"mu": 0.0}, {"delta": -1.0}, {"beta": -1.0}, {"kappa": np.nan}])
def test_wrong_input(changes):
    with pytest.raises(InputError, match="allowed: kappa and mu above 0"):
        optimal_temperature(**(EXAMPLE | changes))


def test_minimiser_against_scipy():
    generator = np.random.default_rng(1)
    a, b, kappa = 10 ** generator.uniform(-8, 3, (3, 60))
    found = minimiser(a, b, kappa)
    for k in range(60):
        numeric = minimize_scalar(
            lambda x: np.log(a[k] / np.exp(2 * x) + b[k] / np.exp(x) + kappa[k] * np.exp(x)),
            bounds=(-40, 40),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert np.log(found[k]) == pytest.approx(numeric.x, abs=1e-5)
    np.testing.assert_allclose(kappa * found**3, b * found + 2 * a, rtol=1e-9)


def test_minimiser_of_a_quotient():
    assert minimiser(0.0, 0.08, 2.0) == pytest.approx(0.2)
    assert minimiser(0.3, 0.08, 0.0) == 1.0  # nothing grows with τ


def test_search_finds_each_peak_or_the_common_one():
    peaks = np.array([0.02, 0.5, 7.0])

    def objective(tau):
        return -(np.log(tau / peaks) ** 2)

    own = best_temperature(objective, np.array([0.1, 0.1, 0.1]), jointly=False)
    np.testing.assert_allclose(own, peaks, rtol=1e-3)
    common = best_temperature(objective, np.array([0.1, 0.1, 0.1]), jointly=True)
    np.testing.assert_allclose(common, np.exp(np.log(peaks).mean()), rtol=1e-3)


def test_search_keeps_the_start_if_nothing_is_better():
    start = np.array([0.3])
    np.testing.assert_array_equal(best_temperature(np.zeros_like, start, jointly=True), start)
