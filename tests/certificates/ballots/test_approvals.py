"""Boxes in which a set of approved actions can move, and the mean that favours an action, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.certificates.ballots.approvals import Approvals, _best_mean


@pytest.mark.parametrize(
    ("box", "moves"),
    [
        (((0.5, 0.5), (0.25, 0.25)), False),
        (((0.5, 1.0), (0.25, 0.5), (0.0, 0.25)), True),
        (((0.5, 0.75), (0.25, 0.5)), True),  # both are approved where they meet
        (((0.5, 0.75), (0.25, 0.4375)), False),
        (((0.75, 1.0), (0.0, 0.25), (0.0, 0.25)), False),
        (((0.5, 0.75), (0.5, 0.75), (0.0, 0.25)), False),  # one that is left behind still is worth the mean
        (((0.5, 0.75), (0.5, 0.75), (0.0, 0.375)), True),
    ],
)
def test_a_set_can_move_where_an_action_could_be_worth_the_mean_and_could_be_worth_less(box, moves):
    low, high = (np.array(ends)[None, :, None] for ends in zip(*box, strict=True))
    assert Approvals.movable(low, high, 0.0).tolist() == [moves]
    axes = [np.linspace(*ends, 9) for ends in box]
    points = np.array(np.meshgrid(*axes)).reshape(1, len(box), -1)
    codes = Approvals(len(box)).of(points, 0.0)
    assert (len(np.unique(codes)) > 1) <= moves


def test_an_action_that_is_worth_the_mean_up_to_the_tolerance_is_approved():
    """A mean of .5 and a tolerance of 1/8: worth 3/8 is enough."""
    fixed = np.array([[[0.625], [0.375]]])
    assert Approvals(2).of(fixed, 0.125).tolist() == [[2]]
    low, high = fixed - 0.0625, fixed + 0.0625
    assert Approvals.movable(low, high, 0.125).tolist() == [True]
    assert Approvals.movable(low, low, 0.125).tolist() == [False]
    assert Approvals.movable(np.array([[[0.9], [0.0]]]), np.array([[[1.0], [0.1]]]), 0.125).tolist() == [False]


def best_mean(inside, low, high, ends, action):
    least, most = (np.array([end]) for end in ends)
    low, high = (np.array(each, dtype=float)[:, None] for each in (low, high))
    return _best_mean(np.array(inside), low, high, least, most, action, 0.0)[0]


def test_the_best_mean_leaves_one_action_at_its_highest_and_the_others_at_their_lowest():
    low, high = (0.2, 0.1, 0.1), (0.9, 0.3, 0.4)
    inside = (True, False, False)
    assert best_mean(inside, low, high, (0.2, 0.5), 0) == pytest.approx((0.9 + 0.1 + 0.1) / 3)
    assert best_mean(inside, low, high, (0.2, 0.3), 0) == pytest.approx(0.3)  # at an end if there is no such mean
    assert best_mean(inside, low, high, (0.4, 0.5), 0) == pytest.approx(0.4)
    both = (True, True, False)
    assert best_mean(both, (0.2, 0.5, 0.0), (0.9, 0.8, 0.2), (0.3, 0.6), 1) == pytest.approx(0.4)  # 3 m = m + .8 + 0


@pytest.mark.parametrize(
    ("inside", "action", "low", "high", "expected"),
    [
        ((1, 0, 0), 0, (0.2, 0.1, 0.1), (0.9, 0.3, 0.4), (0.9, 0.1, 0.1)),
        ((1, 1, 0), 1, (0.2, 0.5, 0.0), (0.9, 0.8, 0.2), (0.4, 0.8, 0.0)),
    ],
)
def test_a_favouring_report_is_at_the_best_mean(inside, action, low, high, expected):
    patterns = Approvals(3)
    [code] = np.flatnonzero((patterns.approvals == inside).all(axis=1))
    box = (np.array(each)[None, :, None] for each in (low, high))
    found = patterns.favouring(*box, np.array([[code]]), action, 1e-12)
    assert found[0, :, 0] == pytest.approx(expected, abs=1e-9)


def test_members_move_in_their_own_boxes_and_one_is_enough():
    generator = np.random.default_rng(0)
    low = generator.integers(0, 17, (2, 3, 40)) / 16
    high = np.minimum(low + generator.integers(0, 3, (2, 3, 40)) / 16, 1.0)
    alone = [
        [Approvals.movable(low[[i]][:, :, [t]], high[[i]][:, :, [t]], 0.0)[0] for t in range(40)] for i in range(2)
    ]
    assert Approvals.movable(low, high, 0.0).tolist() == np.any(alone, axis=0).tolist()
    assert 5 < np.any(alone, axis=0).sum() < 35
