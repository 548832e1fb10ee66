"""Means and shares of few units: no interval of width zero, and coverage in worlds of known truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from accordant.errors import InputError
from accordant.statistics import (
    best_set,
    mean_estimate,
    newcombe,
    share_estimate,
    sparse_mean,
    student_mean,
    widened,
    wilson,
)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("seen", "n"), [(0, 5), (5, 5), (1, 7), (30, 200)])
def test_a_share_has_wilsons_interval(seen, n):
    found = share_estimate([True] * seen + [False] * (n - seen) + [None] * 3)
    assert (found.low, found.high) == pytest.approx(wilson(seen / n, n, 0.95))
    assert (found.value, found.n) == (seen / n, n)


def test_what_is_never_defined_has_no_estimate_and_says_so():
    for found in (share_estimate([None, None]), share_estimate([]), mean_estimate([None], rng())):
        assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
        assert found.reason


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0])
def test_values_that_are_all_the_same_have_no_interval_of_no_width(value):
    unknown = mean_estimate([value] * 40, rng())
    assert (unknown.value, unknown.low, unknown.high) == (pytest.approx(value), None, None)
    assert "all values are the same" in unknown.reason
    known = mean_estimate([value] * 40, rng(), within=(0, 1))
    unseen = wilson(0.0, 40, 0.95)[1]  # what 40 units can miss
    assert known.low == pytest.approx(value - unseen * value)
    assert known.high == pytest.approx(value + unseen * (1 - value))


@pytest.mark.parametrize(("differences", "low", "high"), [([0.0] * 200, -0.02, 0.02), ([1.0] * 200, 0.96, 1.0)])
def test_a_paired_difference_that_is_always_the_same_has_an_interval(differences, low, high):
    found = mean_estimate(differences, rng(), within=(-1, 1))
    assert found.low < found.high
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.003)


def test_without_gains_the_interval_of_a_share_remains():
    values = np.array([1.0] * 3 + [0.0] * 97)
    assert sparse_mean(values, 0.0, 1.0) == pytest.approx(wilson(0.03, 100, 0.95))


def test_two_kinds_of_discordant_pairs_are_put_together_as_two_shares():
    """Nearly uncorrelated where both are rare: then as Newcombe's interval of two shares of all pairs."""
    values = np.array([1.0] * 4 + [-1.0] * 2 + [0.0] * 194)
    assert sparse_mean(values, -1.0, 1.0) == pytest.approx(newcombe(0.02, 200, 0.01, 200), abs=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("n", [10, 60, 200])
@pytest.mark.parametrize(("gain", "loss"), [(0.0, 0.01), (0.005, 0.005), (0.02, 0.01), (0.1, 0.05), (0.4, 0.1)])
def test_net_gains_are_covered(n, gain, loss):
    random, worlds, covered = rng(1), 300, 0
    for _ in range(worlds):
        seen = random.choice([1.0, -1.0, 0.0], size=n, p=[gain, loss, 1 - gain - loss])
        found = mean_estimate(seen, random, resamples=200, within=(-1, 1))
        assert found.low < found.high
        covered += found.low <= gain - loss <= found.high
    assert covered / worlds >= 0.92


@pytest.mark.few(1)
@pytest.mark.parametrize("n", [8, 30, 100])
@pytest.mark.parametrize("rare", [0.01, 0.05, 0.3])
def test_means_of_values_that_are_mostly_zero_are_covered(n, rare):
    random, worlds, covered = rng(2), 300, 0
    for _ in range(worlds):
        seen = random.random(n) * (random.random(n) < rare)
        found = mean_estimate(seen, random, resamples=200, within=(0, 1))
        covered += found.low <= rare / 2 <= found.high
    assert covered / worlds >= 0.9 if rare == 0.3 else covered / worlds >= 0.92


@pytest.mark.long
@pytest.mark.parametrize("n", [6, 20, 60])
def test_the_bootstrap_covers_as_often_as_it_says(n):
    random, worlds, covered = rng(3), 400, 0
    for _ in range(worlds):
        found = mean_estimate(random.normal(size=n), random, resamples=300)
        covered += found.low <= 0 <= found.high
    assert covered / worlds >= 0.92


def test_the_same_seed_gives_the_same_interval():
    seen = [0.1, 0.4, None, 0.9]
    assert mean_estimate(seen, rng(4)) == mean_estimate(seen, rng(4))


@pytest.mark.long
@pytest.mark.parametrize(("n", "candidates"), [(20, 4), (50, 8)])
def test_equals_are_rarely_told_apart_with_few_units(n, candidates):
    random, worlds = rng(5), 300
    wrong = {"plain": 0, "widened": 0}
    for _ in range(worlds):
        values = 0.1 * random.normal(size=(n, 1)) + 0.2 * random.normal(size=(n, candidates))
        drawn = random.multinomial(n, np.full(n, 1 / n), size=1000) @ values / n
        for name, each in (("plain", drawn), ("widened", widened(drawn, n))):
            wrong[name] += not best_set(values.mean(axis=0), each).member.all()
    assert wrong["widened"] / worlds <= 0.08 < wrong["plain"] / worlds


def test_widening_keeps_means_and_what_is_not_defined():
    drawn = np.array([[1.0, np.nan], [2.0, 3.0], [3.0, 5.0]])
    found = widened(drawn, 10)
    assert np.nanmean(found, axis=0) == pytest.approx([2.0, 4.0])
    assert np.isnan(found[0, 1])
    assert (found[2] > drawn[2]).all()
    many = rng(6).normal(size=(5000, 2))
    assert widened(many, 100_000) == pytest.approx(many, rel=1e-2, abs=1e-2)


@pytest.mark.parametrize("seen", [[0.1, 0.4], [0.3, 0.5, 0.9, 0.2], list(np.linspace(-3, 8, 30))])
@pytest.mark.parametrize("comparisons", [1, 12])
def test_students_interval_is_scipys(seen, comparisons):
    found = student_mean([*seen, None], 0.9, comparisons=comparisons)
    limits = stats.ttest_1samp(seen, 0).confidence_interval(1 - 0.1 / comparisons)
    assert (found.low, found.high, found.n) == (pytest.approx(limits.low), pytest.approx(limits.high), len(seen))
    assert found.value == pytest.approx(np.mean(seen))


def test_students_interval_is_cut_to_a_range_and_keeps_the_mean():
    found = student_mean([0.0, 0.0, 0.2], within=(0, 1))
    assert found.low == 0.0 < found.value < found.high < 1
    assert student_mean([0.9, 1.0], within=(0, 1)).high == 1.0


@pytest.mark.parametrize(
    ("seen", "reason"), [([], "nowhere"), ([None], "nowhere"), ([1.0], "one value"), ([2.0] * 5, "same")]
)
def test_where_student_knows_nothing_there_is_no_interval(seen, reason):
    found = student_mean(seen)
    assert (found.low, found.high) == (None, None)
    assert reason in found.reason


@pytest.mark.parametrize("wrong", [{"level": 0.0}, {"level": 1.0}, {"comparisons": 0}])
def test_student_refuses_what_is_no_level_and_no_comparison(wrong):
    with pytest.raises(InputError, match="allowed"):
        student_mean([0.1, 0.2], **wrong)


@pytest.mark.long
def test_four_values_are_covered_by_student_and_not_by_resamples():
    generator, n, repetitions = rng(8), 4, 2000
    inside = {"student": 0, "resamples": 0}
    for _ in range(repetitions):
        values = generator.normal(0.5, 0.1, n)
        for name, found in (("student", student_mean(values)), ("resamples", mean_estimate(values, generator))):
            inside[name] += found.low <= 0.5 <= found.high
    assert abs(inside["student"] / repetitions - 0.95) < 0.015
    assert inside["resamples"] / repetitions < 0.9  # why `student_mean` is there


@pytest.mark.parametrize(("resamples", "n", "k"), [(30, 5, 3), (200, 12, 2), (1000, 60, 9)])
def test_widening_by_its_formula(resamples, n, k):
    drawn = rng(n).normal(size=(resamples, k))
    freedom, tail = 1 / (1 / (n - 1) + 1 / (resamples - 1)), 0.05 / (k * (k - 1))
    stretch = stats.t.ppf(1 - tail, freedom) / stats.norm.ppf(1 - tail) * (n / (n - 1)) ** 0.5
    assert widened(drawn, n) == pytest.approx(drawn.mean(axis=0) + stretch * (drawn - drawn.mean(axis=0)))
