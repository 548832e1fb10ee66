"""Support rates by hand and against counting one by one."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.preferences import Comparisons, support_rates


def test_two_supporters_and_a_dissenter_without_themselves():
    found = support_rates(Comparisons(np.eye(2), [0, 0, 1], [1, 1, 0], [0, 1, 2]))
    assert found.of_record.tolist() == [0.5, 0.5, 0.0]
    assert found.of_user.tolist() == [0.5, 0.5, 0.0]
    assert found.others.tolist() == [2, 2, 2]
    with_own = support_rates(Comparisons(np.eye(2), [0, 0, 1], [1, 1, 0], [0, 1, 2]), leave_one_out=False)
    assert with_own.of_record == pytest.approx([2 / 3, 2 / 3, 1 / 3])


def test_a_pair_that_nobody_else_compared_has_no_rate():
    found = support_rates(Comparisons(np.eye(3), [0, 1], [1, 2], [0, 1]))
    assert np.isnan(found.of_record).all()
    assert np.isnan(found.of_user).all()
    assert found.known == 0.0
    assert support_rates(Comparisons(np.eye(2), [0], [1], [0]), leave_one_out=False).of_record.tolist() == [1.0]


def test_contradictory_records_are_half_a_vote_each():
    found = support_rates(Comparisons(np.eye(2), [0, 1, 0], [1, 0, 1], [0, 0, 1]))
    assert found.of_record.tolist() == [1.0, 0.0, 0.5]


def test_rates_equal_counting_one_by_one():
    generator = np.random.default_rng(0)
    n = 300
    chosen = generator.integers(0, 5, n)
    rejected = (chosen + generator.integers(1, 5, n)) % 5
    users = generator.integers(0, 12, n)
    weights = generator.integers(0, 3, n).astype(float)
    found = support_rates(Comparisons(np.eye(5), chosen, rejected, users, weights=weights))
    for r in range(n):
        votes = []
        for v in range(12):
            if v == users[r]:
                continue
            mine = (users == v) & (
                ((chosen == chosen[r]) & (rejected == rejected[r]))
                | ((chosen == rejected[r]) & (rejected == chosen[r]))
            )
            if weights[mine].sum() > 0:
                votes.append(weights[mine & (chosen == chosen[r])].sum() / weights[mine].sum())
        expected = np.mean(votes) if votes else np.nan
        assert found.of_record[r] == pytest.approx(expected, nan_ok=True)
        assert found.others[r] == len(votes)


def test_nobody():
    empty = np.empty(0, dtype=int)
    found = support_rates(Comparisons(np.eye(2), empty, empty, empty))
    assert found.of_record.shape == found.of_user.shape == (0,)
    assert np.isnan(found.known)
