"""Dominance and fronts against loops over pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.statistics import dominated_by, dominates, front

VALUE = st.sampled_from([0.0, 1.0, 2.0, float("nan")])
POINTS = st.lists(st.tuples(VALUE, VALUE), min_size=1, max_size=7).map(lambda rows: np.array(rows))
SLACK = 1e-9


def over(one, other):
    """Whether a point without NaN dominates another, by definition."""
    return not np.isnan([*one, *other]).any() and (one >= other).all() and (one > other).any()


@settings(deadline=None)
@given(POINTS)
def test_dominance_and_the_front_of_the_plane(points):
    right = np.array([[over(one, other) for other in points] for one in points])
    assert np.array_equal(dominates(points, SLACK), right)
    known = ~np.isnan(points).any(axis=1)
    assert front(points, np.full(2, SLACK)).tolist() == (known & ~right.any(axis=0)).tolist()


@settings(deadline=None)
@given(st.integers(0, 999))
def test_alternatives_for_everybody(seed):
    values = np.random.default_rng(seed).integers(0, 3, (2, 4, 3)).astype(float)
    for other in range(4):
        right = [[over(values[:, other, t], values[:, a, t]) for t in range(3)] for a in range(4)]
        assert dominated_by(values, other, SLACK).tolist() == right


def test_differences_within_the_slack_are_none():
    points = np.array([[1.0, 1.0], [1.0 + 1e-12, 1.0], [1.0, 0.5]])
    assert not dominates(points, SLACK)[1, 0]
    assert front(points, np.full(2, SLACK)).tolist() == [True, True, False]
    assert not dominated_by(points.T[:, :, None], 1, SLACK)[0, 0]
