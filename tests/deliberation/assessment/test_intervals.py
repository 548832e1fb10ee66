"""Intervals of shares and means."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.deliberation.assessment.intervals import mean_estimate, share_estimate
from accordant.evaluation.weighting.draws import wilson_interval


@pytest.mark.parametrize(("seen", "n"), [(0, 5), (5, 5), (1, 7), (30, 200)])
def test_wilson_is_the_interval_of_the_evaluation_room(seen, n):
    found = share_estimate([True] * seen + [False] * (n - seen) + [None] * 3)
    assert (found.low, found.high) == pytest.approx(wilson_interval(seen, n, 0.95))
    assert (found.value, found.n) == (seen / n, n)
    assert found.low <= found.value <= found.high


def test_what_is_never_defined_has_no_estimate():
    assert share_estimate([None, None]).value is None
    assert share_estimate([]).n == 0
    assert mean_estimate([None], 0).to_json() == {
        "value": None,
        "low": None,
        "high": None,
        "n": 0,
        "interval": "bootstrap",
    }


def test_the_bootstrap_covers_about_as_often_as_it_says():
    generator = np.random.default_rng(0)
    covered = 0
    for seed in range(200):
        found = mean_estimate(generator.normal(size=60).tolist(), seed)
        covered += found.low <= 0 <= found.high
    assert 178 <= covered <= 199


def test_the_same_seed_gives_the_same_interval():
    seen = [0.1, 0.4, None, 0.9]
    assert mean_estimate(seen, 1) == mean_estimate(seen, 1)
    assert mean_estimate([0.5], 1).low == mean_estimate([0.5], 1).high == 0.5
    assert mean_estimate([0.2] * 10, 0).value == pytest.approx(0.2)
