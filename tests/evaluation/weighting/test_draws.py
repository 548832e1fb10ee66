"""Evenly drawn weights, and the interval of a share of them."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.evaluation.weighting.draws import drawn_weights, wilson_interval, wins_of


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (10, 10, 0.7225, 1), (0, 10, 0, 0.2775), (1, 2, 0.0945, 0.9055)],
)
def test_wilson_interval(successes, trials, low, high):
    """Values of statsmodels.stats.proportion.proportion_confint(method="wilson")."""
    assert wilson_interval(successes, trials, 0.95) == pytest.approx((low, high), abs=5e-5)


def test_wilson_limits_solve_their_equation():
    """At each limit p, the share is z standard errors of p away from p."""
    for limit in wilson_interval(37, 120, 0.9):
        assert abs(37 / 120 - limit) / np.sqrt(limit * (1 - limit) / 120) == pytest.approx(1.6448536, abs=1e-6)
    low, high = wilson_interval(7, 7, 0.9)
    assert high == 1.0
    assert wilson_interval(0, 7, 0.9) == (0.0, pytest.approx(1 - low))
    with pytest.raises(InputError, match="level is 1"):
        wilson_interval(1, 2, 1)


def test_weights_are_even_on_the_simplex():
    weights = drawn_weights(3, 40_000, np.random.default_rng(0))
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert (weights.mean(axis=0) == pytest.approx(np.full(3, 1 / 3), abs=0.005)) and (weights >= 0).all()
    assert (weights[:, 0] >= 0.5).mean() == pytest.approx(0.25, abs=0.01)


def test_wins_are_counted_in_blocks(monkeypatch):
    generator = np.random.default_rng(1)
    rows, weights = generator.random((7, 3)), generator.dirichlet(np.ones(3), 101)
    counts = np.bincount([int(np.argmax(rows @ each)) for each in weights], minlength=7)
    assert wins_of(rows, weights).tolist() == counts.tolist()
    monkeypatch.setattr("accordant.evaluation.weighting.draws.BLOCK", 70)
    assert wins_of(rows, weights).tolist() == counts.tolist()
