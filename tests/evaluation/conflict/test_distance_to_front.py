"""How far a rule lies beyond lotteries: written out, and against a fine grid of lotteries."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from accordant import metrics
from accordant.evaluation.conflict.hypotheses import Lotteries, beyond
from accordant.evaluation.conflict.fronts import oriented
from accordant.evaluation.conflict.totals import Totals

SPAN = np.ones(2)


def stretches(*points):
    """Return straight lotteries between any two points, on a single resample."""
    ends = list(combinations(np.array(points, dtype=float), 2))
    return Lotteries(*(tuple(np.array(side).T[:, :, None]) for side in zip(*ends, strict=True)))


@pytest.mark.parametrize(
    ("rule", "past"),
    [((0.6, 0.6), 0.1), ((0.5, 0.5), 0), ((0.4, 0.4), -0.1), ((1, 0), 0), ((1.2, -0.1), 0.2), ((0.1, 0.95), 0.025)],
)
def test_two_opposed_points(rule, past):
    found = beyond(np.array([rule], dtype=float), ("max", "max"), stretches((1, 0), (0, 1)), SPAN)
    assert found == pytest.approx(past)


def test_the_best_lottery_counts_and_a_gap_has_two_sides():
    rule = np.array([[0.6, 0.6]])
    assert beyond(rule, ("max", "max"), stretches((1, 0), (0, 1), (0.7, 0.7)), SPAN) == pytest.approx(-0.1)
    gap = stretches((1, 0.4), (0, -0.6))  # the gap vanishes at 0.6
    assert beyond(np.array([[0.7, -0.1]]), ("max", "zero"), gap, SPAN) == pytest.approx(0)
    assert beyond(np.array([[0.7, -0.05]]), ("max", "zero"), gap, SPAN) == pytest.approx(0.025)
    assert beyond(np.array([[0.5, 0.0]]), ("max", "zero"), gap, SPAN) == pytest.approx(0)  # level in the gap
    assert beyond(np.array([[0.6, 0.6]]), ("min", "max"), stretches((-1, 0), (0, 1)), SPAN) == pytest.approx(0.1)
    assert beyond(np.array([[0.6, 0.8]]), ("max", "max"), stretches((1, 0), (0, 1)), np.array([1, 4])) > 0


@pytest.mark.parametrize("n_groups", [2, 7, 8, 12])
def test_a_lottery_that_is_none_has_the_very_value_of_its_policy(evidence_of, lines, n_groups):
    generator = np.random.default_rng(3)
    groups = generator.integers(0, n_groups, 300)
    evidence = evidence_of(generator.random((2, 3, 300)), sex=groups)
    decided = lines(evidence, one=generator.integers(0, 3, 300), other=generator.integers(0, 3, 300))
    measured = {
        "accuracy": metrics.create("accuracy", {"attributes": ["sex"]}),
        "parity": metrics.create("demographic_parity", {"attributes": ["sex"], "method": "to_overall"}),
        "reward": metrics.create("mean_reward"),
    }
    totals = Totals.resampled(decided, evidence, measured, np.arange(217), 500, generator)  # scaled: no whole numbers
    for column in range(len(measured)):
        ends = totals.along(("one", "other"), (0.0, 1.0), column)
        assert np.array_equal(ends, totals.values()[::-1, :, column], equal_nan=True)


def test_what_is_not_defined():
    lotteries = stretches((1, 0), (0, 1), (np.nan, 3))
    assert beyond(np.array([[0.6, 0.6]]), ("max", "max"), lotteries, SPAN) == pytest.approx(0.1)
    assert np.isnan(beyond(np.array([[np.nan, 0.6]]), ("max", "max"), lotteries, SPAN)).all()


@pytest.mark.parametrize("goals", [("max", "max"), ("max", "zero"), ("zero", "zero"), ("min", "zero")])
def test_against_a_fine_grid(goals):
    """Brute-force twin: a thousand lotteries between any two points."""
    generator = np.random.default_rng(1)
    for _ in range(20):
        points, rule, span = generator.normal(size=(3, 2)), generator.normal(size=(1, 2)), generator.uniform(1, 2, 2)
        shares = np.linspace(0, 1, 1001)[:, None]
        grid = np.concatenate([shares * a + (1 - shares) * b for a, b in combinations(points, 2)])
        rule = oriented(rule, goals)
        expected = ((rule - oriented(grid, goals)) / span).max(axis=1).min()
        found = beyond(rule, goals, stretches(*points), span)
        assert found == pytest.approx(expected, abs=0.01)
        assert found <= expected + 1e-12


def test_lotteries_are_followed_step_by_step_if_a_metric_is_a_ratio(world, strategies):
    evidence = world(n=90, seed=3)
    lines = strategies(evidence)
    pair = {"Precision": metrics.create("precision"), "Mean": metrics.create("mean_reward")}
    totals = Totals.on({name: lines[name] for name in ("good", "poor", "constant:Grant")}, evidence, pair)
    steps = Lotteries.of(totals, totals.names, (0, 1), linear=False)
    straight = Lotteries.of(totals, totals.names, (0, 1), linear=True)
    assert (len(steps.start[0]), len(straight.start[0])) == (3 * 20, 3)
    mixed = 0.45 * totals.row("good") + 0.55 * totals.row("poor")
    value = totals.values(mixed[None])[0]
    begin = np.stack(steps.start, axis=2)
    assert np.abs(begin - value).max(axis=2).min() < 1e-12  # a lottery at a step is one of them
    assert beyond(value, ("max", "max"), steps, SPAN) <= 1e-12
    alone = Lotteries.of(totals, ("good",), (0, 1), linear=True)
    np.testing.assert_array_equal(alone.start, alone.end)
