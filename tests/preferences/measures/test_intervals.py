"""Bootstrap over users: a twin, pairs on the same resamples, the same bytes, coverage, and what is not defined."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.measures import bootstrap_users, corrected_spread, gini, support_relation


def test_against_a_loop():
    a = np.random.default_rng(0).random(12)
    found = bootstrap_users({"m": a}, gini, generator=np.random.default_rng(3), resamples=50, level=0.8)
    rng = np.random.default_rng(3)
    values = sorted(gini(a[rng.integers(0, 12, size=12)]) for _ in range(50))
    limits = found.methods["m"]
    assert limits.value == gini(a)
    # places 0.1 · 49 = 4.9 and 0.9 · 49 = 44.1
    assert limits.low == pytest.approx(values[4] + 0.9 * (values[5] - values[4]))
    assert limits.high == pytest.approx(values[44] + 0.1 * (values[45] - values[44]))
    assert limits.undefined == 0.0
    assert (found.n_users, found.resamples, found.level) == (12, 50, 0.8)


def test_methods_share_resamples():
    a = np.random.default_rng(1).random(30)
    found = bootstrap_users({"one": a, "two": a + 0.05}, np.mean, generator=np.random.default_rng(0), resamples=100)
    limits = found.differences["two", "one"]
    assert set(found.differences) == {("two", "one")}
    assert limits.value == pytest.approx(0.05) and limits.low == pytest.approx(0.05)  # no spread: the same users
    assert limits.high == pytest.approx(0.05)
    assert found.methods["one"].high - found.methods["one"].low > 0.1


def test_same_seed_same_bytes():
    a = np.random.default_rng(1).random(30)
    one, two, other = (
        bootstrap_users({"m": a}, gini, generator=np.random.default_rng(seed), resamples=40) for seed in (4, 4, 5)
    )
    assert one == two and one != other


def test_columns_of_users_stay_together():
    a = np.random.default_rng(2).random(20)
    table = np.column_stack([a, 2 * a])
    found = bootstrap_users(
        {"m": table},
        lambda v: support_relation(v[:, 0], v[:, 1]).slope,
        generator=np.random.default_rng(0),
        resamples=60,
    )
    assert found.methods["m"].low == pytest.approx(0.5) and found.methods["m"].high == pytest.approx(0.5)


def test_corrected_variance_has_an_interval():
    rng = np.random.default_rng(8)
    accuracy = rng.binomial(50, np.repeat([0.6, 0.9], 40)) / 50
    noise = accuracy * (1 - accuracy) / 49
    found = bootstrap_users(
        {"m": np.column_stack([accuracy, noise])},
        lambda v: corrected_spread(v[:, 0], v[:, 1]).variance,
        generator=rng,
        resamples=200,
    ).methods["m"]
    assert found.low < found.value < found.high and found.low > 0.01


def test_resamples_without_a_value_are_counted():
    a, s = np.array([0.1, 0.9]), np.array([0.2, 0.3])
    found = bootstrap_users(
        {"m": np.column_stack([a, s])}, lambda v: support_relation(v[:, 0], v[:, 1]).pearson,
        generator=np.random.default_rng(0), resamples=400,
    ).methods["m"]  # fmt: skip
    assert found.low == pytest.approx(1.0)
    assert found.undefined == pytest.approx(0.5, abs=0.1)  # both draws are the same user half of the time
    never = bootstrap_users({"m": a}, lambda v: None, generator=np.random.default_rng(0), resamples=5).methods["m"]
    assert (never.value, never.low, never.high, never.undefined) == (None, None, None, 1.0)


def test_coverage_of_a_mean():
    rng = np.random.default_rng(9)
    inside = 0
    for _ in range(120):
        limits = bootstrap_users({"m": rng.random(40)}, np.mean, generator=rng, resamples=150, level=0.9).methods["m"]
        inside += limits.low <= 0.5 <= limits.high
    assert 0.8 <= inside / 120 <= 0.97  # 0.9 ± 2.6 standard errors, a little less for the percentile method


def test_wrong_input():
    rng = np.random.default_rng(0)
    for methods in ({}, {"a": np.ones(3), "b": np.ones(2)}, {"a": np.empty(0)}, {"a": np.float64(1.0)}):
        with pytest.raises(InputError, match="one and the same number"):
            bootstrap_users(methods, np.mean, generator=rng)
    with pytest.raises(InputError, match="resamples is 0"):
        bootstrap_users({"a": np.ones(3)}, np.mean, generator=rng, resamples=0)
    with pytest.raises(InputError, match="level is 1"):
        bootstrap_users({"a": np.ones(3)}, np.mean, generator=rng, resamples=2, level=1)


def test_plain_values():
    found = bootstrap_users(
        {"a": np.ones(3), "b": np.zeros(3)}, np.mean, generator=np.random.default_rng(0), resamples=3
    )
    shown = json.loads(json.dumps(found.to_json()))
    assert shown["differences"] == [
        {"method": "b", "less": "a", "value": -1.0, "low": -1.0, "high": -1.0, "undefined": 0.0}
    ]


def test_an_error_on_all_users_is_raised_and_one_on_a_resample_is_a_missing_value():
    # only the first of two users has two records
    table = np.array([[0.5, 0.1], [0.5, np.nan]])
    found = bootstrap_users(
        {"m": table}, lambda v: corrected_spread(v[:, 0], v[:, 1]).variance,
        generator=np.random.default_rng(0), resamples=400,
    ).methods["m"]  # fmt: skip
    assert found.value == pytest.approx(-0.1) and found.undefined == pytest.approx(0.25, abs=0.08)
    with pytest.raises(InputError, match="two records"):
        bootstrap_users(
            {"m": table[1:]}, lambda v: corrected_spread(v[:, 0], v[:, 1]).variance, generator=np.random.default_rng(0)
        )
