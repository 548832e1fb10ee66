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


def test_what_is_refused():
    with pytest.raises(InputError, match="level is 1"):
        joint_level(np.zeros((3, 2)), 1.0)
