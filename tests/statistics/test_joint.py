"""Levels of single intervals that hold together: against the share of resamples inside, and where they cost nothing."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.statistics import difference_bounds, joint_band, joint_level, percentile_interval, widened, wilson


def test_the_share_of_resamples_within_all_limits_is_the_level():
    rng = np.random.default_rng(0)
    for values in (20, 3):
        drawn = rng.standard_normal((4000, values))
        level = joint_level(drawn, 0.9)
        limits = percentile_interval(drawn, level)
        inside = ((drawn >= limits.low) & (drawn <= limits.high)).all(axis=1).mean()
        assert inside == pytest.approx(0.9, abs=0.01)
        assert level == pytest.approx(0.9 ** (1 / values), abs=0.01)  # independent values


def test_values_that_move_together_cost_nothing():
    one = np.random.default_rng(1).standard_normal(1000)
    assert joint_level(np.column_stack([one, 2 * one, -one]), 0.95) == pytest.approx(0.95, abs=2e-3)
    assert joint_level(one[:, None], 0.95) == 0.95
    with_constant = np.column_stack([one, np.full(1000, 0.3), np.full(1000, np.nan)])
    assert joint_level(with_constant, 0.95) == 0.95


def test_the_tail_of_a_resample_is_that_of_its_value_farthest_out():
    """Places from the nearer end, of 4: 0 1 2 1 0 and 2 0 0 1 1; the smaller ones are 0 0 0 1 0, their ninth tenth .6."""
    drawn = np.array([[0, 2], [1, 0], [2, 4], [3, 1], [4, 3]]) / 10
    assert joint_level(drawn, 0.1) == pytest.approx(1 - 2 * 0.6 / 4)


def test_equal_values_take_the_place_nearest_the_middle():
    """Places 2 2 2 1 0, for the three equal ones end in the middle, and 2 1 1 0 0; three quarters of the way: 1 of 4."""
    drawn = np.array([[0, 2], [0, 3], [0, 1], [1, 4], [2, 0]]) / 10
    assert joint_level(drawn, 0.25) == pytest.approx(1 - 2 * 1 / 4)
    assert joint_level(-drawn, 0.25) == joint_level(drawn, 0.25)


def test_two_resamples_that_differ_need_all_there_is_but_a_level_stays_below_1():
    opposed = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert joint_level(opposed, 0.9) == 1 - 1e-9
    assert joint_level(np.vstack([opposed, [np.nan, 0.5]]), 0.9) == 1 - 1e-9
    assert joint_level(opposed[:1], 0.9) == 0.9


def test_what_is_refused():
    with pytest.raises(InputError, match="level is 1"):
        joint_level(np.zeros((3, 2)), 1.0)
    with pytest.raises(InputError, match="level is 0"):
        joint_level(np.zeros((3, 2)), 0)


def test_a_joint_band_is_made_of_the_largest_studentised_deviations():
    generator = np.random.default_rng(2)
    drawn = generator.normal(size=(500, 3)) * [1.0, 5.0, 0.0] + [0.0, 2.0, 1.0]
    low, high = joint_band(np.array([0.1, 2.0, 1.0]), drawn, n=40, error=np.array([0.0, 0.0, 0.3]))
    stretched = widened(drawn, 40, 0.95)
    largest = [max(abs(row[k] - drawn[:, k].mean()) / drawn[:, k].std() for k in (0, 1)) for row in stretched]
    quantile = np.quantile(largest, 0.95)
    assert quantile > 2.2  # of one value alone it would be below
    half = quantile * np.array([drawn[:, 0].std(), drawn[:, 1].std(), 0.3])
    np.testing.assert_allclose(high - low, 2 * half)
    np.testing.assert_allclose((high + low) / 2, [0.1, 2.0, 1.0])
    with_holes = np.where(np.arange(500)[:, None] < 2, np.nan, drawn)
    assert np.isfinite(joint_band(np.zeros(3), with_holes, n=40)).all()
    with pytest.raises(InputError, match="0 resamples without NaN"):
        joint_band(np.zeros(3), np.full((4, 3), np.nan), n=40)


def test_bounds_of_one_difference_are_those_of_its_ends():
    one, other = (
        (np.array([0.5]), np.array([0.4]), np.array([0.7])),
        (np.array([0.9]), np.array([0.8]), np.array([0.95])),
    )
    low, high = difference_bounds(one, other, level=0.95, together=0.9)  # two intervals at 95 %: nothing is widened
    assert (low[0], high[0]) == pytest.approx((0.8 - 0.7, 0.95 - 0.4))
    wider = difference_bounds(one, other, level=0.95, together=0.95)
    assert wider[0][0] < low[0] and wider[1][0] > high[0]
    back = difference_bounds(other, one, level=0.95, together=0.95)
    assert (back[0][0], back[1][0]) == pytest.approx((-wider[1][0], -wider[0][0]))


@pytest.mark.long
@pytest.mark.parametrize("shared", ["nothing", "the same rows", "opposed"])
@pytest.mark.parametrize("n", [30, 200])
def test_bounds_cover_whatever_the_rows_have_in_common(shared, n):
    """Null worlds and true differences of shares: all bounds hold together in at least 95 % of samples."""
    generator, truth = np.random.default_rng(3), (np.array([0.5, 0.9, 0.97]), np.array([0.5, 0.8, 0.97]))
    held, samples = 0, 1000
    for _ in range(samples):
        uniform = generator.random((3, n))
        again = {"nothing": generator.random((3, n)), "the same rows": uniform, "opposed": 1 - uniform}[shared]
        shares = [(each < p[:, None]).mean(axis=1) for each, p in zip((uniform, again), truth, strict=True)]
        ends = [(share, *wilson(share, n)) for share in shares]
        low, high = difference_bounds(ends[0], ends[1], level=0.95, together=0.95)
        held += bool(((low <= truth[1] - truth[0]) & (truth[1] - truth[0] <= high)).all())
    assert held >= 0.95 * samples - 2 * np.sqrt(0.95 * 0.05 * samples)


@pytest.mark.long
@pytest.mark.parametrize(("n", "apart"), [(60, 0.5), (300, 0.1), (300, 0.4)])
def test_paired_bands_cover_together(n, apart):
    """Differences of three shares on the same rows, of which at least 20 differ, as `compare` asks."""
    generator, held, counted = np.random.default_rng(4), 0, 0
    for _ in range(600):
        differs = generator.random((3, n)) < apart
        gaps = np.where(differs, np.where(generator.random((3, n)) < 0.6, 1.0, -1.0), 0.0)
        if (gaps != 0).any(axis=0).sum() < 20:
            continue
        weights = generator.multinomial(n, np.full(n, 1 / n), size=400) / n
        low, high = joint_band(gaps.mean(axis=1), weights @ gaps.T, n=n, error=1 / n)
        counted += 1
        held += bool(((low <= 0.2 * apart) & (high >= 0.2 * apart)).all())
    assert counted > 400 and held >= 0.95 * counted - 2 * np.sqrt(0.95 * 0.05 * counted)
