"""Intervals of shares and means."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.deliberation.assessment.intervals import mean_estimate, share_estimate
from accordant.statistics import wilson


@pytest.mark.parametrize(("seen", "n"), [(0, 5), (5, 5), (1, 7), (30, 200)])
def test_wilson_is_the_interval_of_the_evaluation_room(seen, n):
    found = share_estimate([True] * seen + [False] * (n - seen) + [None] * 3)
    assert (found.low, found.high) == pytest.approx(wilson(seen / n, n, 0.95))
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
    assert mean_estimate(seen, 1).interval == "bootstrap"


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0])
def test_values_that_are_all_the_same_have_no_interval_of_no_width(value):
    unknown = mean_estimate([value] * 40, 0)
    assert (unknown.value, unknown.low, unknown.high) == (pytest.approx(value), None, None)
    known = mean_estimate([value] * 40, 0, within=(0, 1))
    assert (known.low, known.high) == pytest.approx(wilson(round(40 * value) / 40, 40, 0.95))
    assert known.interval == "wilson"
    assert known.low <= known.value <= known.high
    assert known.high - known.low > 0.08


def test_the_range_scales_the_interval_of_equal_values():
    share, signed = (mean_estimate([each] * 20, 0, within=ends) for each, ends in ((0.5, (0, 1)), (0, (-2, 2))))
    assert (signed.low, signed.high) == pytest.approx((4 * share.low - 2, 4 * share.high - 2))
    assert mean_estimate([3.0], 0, within=(3, 3)).low is None
    assert mean_estimate([0.1, 0.4], 0, within=(0, 1)).interval == "bootstrap"


def test_equal_values_cover_whatever_the_spread_may_be():
    generator = np.random.default_rng(1)
    covered = 0
    for seed in range(300):  # values in [0, 1] that are rarely above 0: most samples of 10 are all the same
        found = mean_estimate((generator.random(10) < 0.05).astype(float).tolist(), seed, within=(0, 1))
        covered += found.low <= 0.05 <= found.high or found.interval == "bootstrap"
    assert covered >= 285
