"""Bootstrap over users: a twin, pairs on the same resamples, the same bytes, coverage, and what is not defined."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.measures import bootstrap_users, corrected_spread, gini, support_relation
from accordant.preferences.measures.intervals import differences, interval_estimate


def test_against_a_loop():
    a = np.random.default_rng(0).random(12)
    found = bootstrap_users({"m": a}, gini, generator=np.random.default_rng(3), resamples=50, level=0.8)
    rng = np.random.default_rng(3)
    values = sorted(gini(a[rng.integers(0, 12, size=12)]) for _ in range(50))
    limits = found.methods["m"]
    assert limits.value == gini(a)
    # wider than 0.8 for a dozen users: Student's quantile with 11 degrees of freedom, and √(12 / 11)
    wider = 2 * NormalDist().cdf(math.sqrt(12 / 11) * 1.36343) - 1
    for limit, place in ((limits.low, (1 - wider) / 2 * 49), (limits.high, (1 + wider) / 2 * 49)):
        below = int(place)
        assert limit == pytest.approx(values[below] + (place - below) * (values[below + 1] - values[below]), abs=1e-6)
    assert (limits.level, limits.n) == (0.8, 12)
    assert limits.undefined == 0.0
    assert (found.n_users, found.resamples, found.level) == (12, 50, 0.8)


def test_methods_share_resamples():
    a = np.random.default_rng(1).random(30)
    found = bootstrap_users({"one": a, "two": a + 0.05}, np.mean, generator=np.random.default_rng(0), resamples=100)
    limits = found.differences["two", "one"]
    assert set(found.differences) == {("two", "one")}
    assert limits.value == pytest.approx(0.05)
    assert limits.low is None and "cannot be told" in limits.reason  # no spread: the same users
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
        lambda v: support_relation(v[:, 0], v[:, 1] + 1e-6 * v[:, 0] ** 2).slope,
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
    assert found.value == pytest.approx(1.0) and found.low is None  # 1 on every resample that has a value
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
        {
            "method": "b", "less": "a", "value": -1.0, "low": None, "high": None, "level": None, "n": 3,
            "undefined": 0.0, "reason": "the same on every resample: how sure it is cannot be told",
        }
    ]  # fmt: skip


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


def test_users_who_are_all_alike_leave_an_interval_that_their_number_gives():
    """Six users who are all served without a mistake: another one need not be."""
    found = interval_estimate(1.0, np.ones(200), 6, within=(0.0, 1.0))
    assert found.high == 1.0 and 0.5 < found.low < 0.7  # Wilson: 0.61
    gap = interval_estimate(0.0, np.zeros(200), 6, within=(-1.0, 1.0))
    assert gap.low < -0.3 and gap.high > 0.3 and "number alone" in gap.reason
    assert interval_estimate(0.4, np.full(200, 0.4), 1, within=(0.0, 1.0)).low is None
    assert interval_estimate(0.4, np.full(200, 0.4), 0).value is None


@pytest.mark.parametrize(
    ("value", "drawn", "n", "reason"),
    [
        (math.nan, [0.3, 0.5], 6, "not defined"),
        (0.4, [math.nan, math.nan], 6, "no resample has a value"),
        (0.4, [0.3, 0.5], 0, "no units"),
        (0.4, [0.3, 0.5], 1, "one unit tells nothing about others"),
        (0.4, [0.4, 0.4], 6, "the same on every resample: how sure it is cannot be told"),
    ],
)
def test_why_there_is_no_interval(value, drawn, n, reason):
    found = interval_estimate(value, np.array(drawn), n)
    assert (found.low, found.high, found.reason, found.n) == (None, None, reason, n)
    assert found.value == (None if math.isnan(value) or n == 0 else value)


@pytest.mark.long
def test_intervals_of_few_users_cover():
    rng = np.random.default_rng(12)
    inside = {6: 0, 12: 0}
    for n in inside:
        for _ in range(150):
            values = rng.integers(4, 11, n) / 10
            found = bootstrap_users({"m": values}, np.mean, generator=rng, resamples=200).methods["m"]
            assert found.low is not None and found.high is not None
            inside[n] += found.low <= 0.7 <= found.high
    assert min(inside.values()) / 150 >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 150)  # .90; plain percentiles: .84


@pytest.mark.long
def test_differences_between_many_methods_hold_together():
    """Eight equal methods: in 95 of 100 samples no interval of a difference leaves out 0."""
    rng = np.random.default_rng(13)
    covered = alone = 0
    for _ in range(80):
        values = rng.standard_normal((8, 60))
        drawn = rng.multinomial(60, np.full(60, 1 / 60), size=1000) @ values.T / 60
        names = [str(k) for k in range(8)]
        whole = dict(zip(names, values.mean(axis=1).tolist(), strict=True))
        many = dict(zip(names, drawn.T, strict=True))
        covered += all(each.low <= 0 <= each.high for each in differences(whole, many, 60).values())
        alone += all(
            (each := interval_estimate(whole[one] - whole[other], many[one] - many[other], 60)).low <= 0 <= each.high
            for k, one in enumerate(names) for other in names[:k]
        )  # fmt: skip
    assert covered / 80 >= 0.87  # .95 less 3 standard errors
    assert alone / 80 < 0.75  # each interval by itself
