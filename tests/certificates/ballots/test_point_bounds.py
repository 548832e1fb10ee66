"""Who is certain to win, whatever is reported: standing majorities by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from accordant.certificates.ballots.point_bounds import _certain_winners

ABOVE, BELOW, LEVEL, LOOSE = (0.8, 0.8, 0.2, 0.2), (0.2, 0.2, 0.8, 0.8), (0.5, 0.5, 0.5, 0.5), (0.4, 0.6, 0.4, 0.6)
HALF = (0.5, 0.5, 0.5, 0.6)  # level, but one of them may rise


def certain(name, weights, *views, tolerance=1e-12):
    """Return who is certain to win; a view is what a stakeholder gives two actions, lowest and highest of each."""
    table = np.array(views).reshape(len(views), 2, 2, 1)
    reports = SimpleNamespace(
        lowest=table[:, :, 0],
        highest=table[:, :, 1],
        honest=SimpleNamespace(tolerance=tolerance),
        n_actions=2,
        n_contexts=1,
    )
    return _certain_winners(name, np.array(weights, dtype=float), reports)[:, 0].tolist()


@pytest.mark.parametrize(
    ("weights", "views", "wins"),
    [
        ((1, 1, 1), (ABOVE, ABOVE, BELOW), [True, False]),
        ((1, 1, 1), (BELOW, ABOVE, BELOW), [False, True]),
        ((1, 1), (ABOVE, BELOW), [False, False]),
        ((2, 1, 1), (ABOVE, BELOW, LOOSE), [False, False]),  # who may change counts against
        ((2.5, 1, 1), (ABOVE, BELOW, LOOSE), [True, False]),
        ((1, 1, 1), (ABOVE, LEVEL, LEVEL), [True, False]),  # who is indifferent for certain counts for nobody
        ((1, 1, 1), (ABOVE, LEVEL, BELOW), [False, False]),
        ((1, 1, 1), (ABOVE, LOOSE, LEVEL), [False, False]),
        ((1, 1, 1), (ABOVE, HALF, LEVEL), [False, False]),
        ((1e6 + 1e-4, 1e6), (ABOVE, BELOW), [False, False]),  # ahead by rounding alone
        ((1e-6 + 1e-10, 1e-6), (ABOVE, BELOW), [True, False]),
    ],
)
def test_who_beats_every_other_for_certain(weights, views, wins):
    assert certain("copeland", weights, *views) == wins


@pytest.mark.parametrize(
    ("weights", "views", "wins"),
    [
        ((2, 1, 1), (ABOVE, BELOW, LEVEL), [False, False]),  # half is no majority
        ((2.1, 1, 1), (ABOVE, BELOW, LEVEL), [True, False]),
        ((1, 1, 1), (ABOVE, LEVEL, LEVEL), [False, False]),
        ((1, 1, 1), (BELOW, BELOW, LOOSE), [False, True]),
    ],
)
def test_who_has_a_majority_of_first_places_for_certain(weights, views, wins):
    assert certain("plurality", weights, *views) == wins


def test_what_is_higher_by_the_tolerance_is_not_above():
    near = (0.75, 0.75, 0.5, 0.5)
    assert certain("copeland", (1,), near, tolerance=0.25) == [False, False]
    assert certain("copeland", (1,), near, tolerance=0.125) == [True, False]
    assert certain("copeland", (3, 1, 1), near, ABOVE, BELOW, tolerance=0.25) == [False, False]
    assert certain("copeland", (3, 2, 1), near, ABOVE, BELOW, tolerance=0.25) == [True, False]  # level for certain
