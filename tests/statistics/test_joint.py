"""Levels of single intervals that hold together: against the share of resamples inside, and where they cost nothing."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.statistics import joint_level, percentile_interval


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
