"""The 51–49 table."""

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.policy_optimisation import maximin_expectation, one_policy, opposed_groups_table


def test_the_published_illustration():
    rows = {row.policy: row for row in opposed_groups_table(0.51)}
    expected = {
        "majority": (1, 0.51, 0),
        "proportional": (0.51, 0.5002, 0.49),
        "maximin": (0.5, 0.5, 0.5),
        "personalised": (None, 1, 1),
    }
    assert list(rows) == list(expected)
    for name, (play, mean, worst) in expected.items():
        assert rows[name].play == play
        assert rows[name].mean == pytest.approx(mean, abs=1e-12)
        assert rows[name].worst_group == pytest.approx(worst, abs=1e-12)


def test_a_majority_for_b_and_none():
    assert opposed_groups_table(0.2)[0].play == 0
    assert opposed_groups_table(0.2)[0].mean == pytest.approx(0.8)
    assert opposed_groups_table(0.5)[0].play == 0.5


def test_the_worst_group_never_gets_more_than_half():
    for share in np.linspace(0.01, 0.99, 21):
        for play in np.linspace(0, 1, 21):
            row = one_policy(share, play)
            assert row.worst_group == pytest.approx(min(play, 1 - play))
            assert row.worst_group <= 0.5
            assert row.mean <= opposed_groups_table(share)[0].mean + 1e-12


def test_the_solver_agrees_with_the_table():
    found = maximin_expectation(np.eye(2)[:, :, None], [[0.9], [0.1]], 0)
    assert found.policy[0, 0] == pytest.approx(0.5)
    assert found.primal == pytest.approx(opposed_groups_table()[2].worst_group)


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_wrong_shares(share):
    with pytest.raises(InputError, match="share is"):
        opposed_groups_table(share)


def test_wrong_play():
    with pytest.raises(InputError, match="play is 1.5"):
        one_policy(0.5, 1.5)
