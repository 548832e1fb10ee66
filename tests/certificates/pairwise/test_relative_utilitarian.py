"""The largest lead of one action over another as a share of the row's width, by hand and on grids."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant.certificates.pairwise.relative_utilitarian import ACTION, RIVAL, THIRD, leads_of_rows

INDIFFERENT = 1e-3


def lead(a, b, rest, d, role, widening=0.0):
    """Return the bound of a row; each entry is a pair of its ends, `rest` where the best of the others can be."""
    ends = np.array([a, b], dtype=float)
    low, high, below, above = (np.array([[each]], dtype=float) for each in (*rest, *d))
    bounds = np.full((1, 1), np.nan)
    leads_of_rows.python(
        ends[None, :, :1].copy(),
        ends[None, :, 1:].copy(),
        low,
        high,
        below,
        above,
        0,
        1,
        role,
        widening,
        INDIFFERENT,
        bounds,
    )
    return bounds[0, 0]


@pytest.mark.parametrize(
    ("a", "b", "rest", "expected"),
    [
        ((0.2, 0.6), (0.1, 0.3), (0.8, 0.9), 0.5 / 0.2),
        ((0.2, 0.6), (0.1, 0.3), (0.5, 0.9), 0.5 / (0.99 * INDIFFERENT)),  # another may be ahead of a by nearly nothing
        ((0.2, 0.6), (0.1, 0.15), (0.1, 0.2), 0.0),  # nobody is ahead of a, whose entry is d
        ((0.1, 0.2), (0.3, 0.4), (0.5, 0.9), -0.1 / 0.7),
        ((0.1, 0.2), (0.3, 0.4), (0.1, 0.25), -0.1 / 0.1),
        ((0.1, 0.2), (0.2, 0.4), (0.1, 0.3), 0.0),  # they may be level
    ],
)
def test_leads_of_an_action_that_is_the_status_quo(a, b, rest, expected):
    assert lead(a, b, rest, a, ACTION) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("a", "b", "rest", "expected"),
    [
        ((0.2, 0.6), (0.1, 0.3), (0.8, 0.9), 0.5 / 0.7),
        ((0.2, 0.6), (0.1, 0.3), (0.2, 0.9), 1.0),
        ((0.1, 0.2), (0.3, 0.35), (0.5, 0.9), -0.1 / 0.6),
        ((0.1, 0.2), (0.3, 0.35), (0.1, 0.9), 0.0),  # nobody need be ahead of b, whose entry is d
    ],
)
def test_leads_over_a_rival_that_is_the_status_quo(a, b, rest, expected):
    assert lead(a, b, rest, b, RIVAL) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("a", "b", "rest", "d", "expected"),
    [
        ((0.5, 0.6), (0.3, 0.4), (0.8, 0.9), (0.1, 0.2), 0.3 / 0.6),
        ((0.5, 0.6), (0.3, 0.4), (0.1, 0.2), (0.1, 0.2), max(0.3 / 0.4, 0.2 / 0.3)),
        ((0.5, 0.6), (0.1, 0.4), (0.0, 0.2), (0.3, 0.4), max(0.5 / 0.2, 0.4 / 0.1)),
        ((0.1, 0.2), (0.3, 0.4), (0.5, 0.9), (0.0, 0.1), max(-0.1 / 0.9, -0.2 / 0.9)),
        ((0.1, 0.2), (0.3, 0.8), (0.5, 0.5), (0.1, 0.2), max(-0.1 / 0.4, -0.6 / 0.7)),
        ((0.1, 0.2), (0.3, 0.4), (0.2, 0.9), (0.3, 0.5), 0.0),  # the row may be no wider than nothing
        ((0.1, 0.2), (0.1, 0.1), (0.1, 0.2), (0.2, 0.2), 0.0),
    ],
)
def test_leads_above_a_status_quo_of_somebody_else(a, b, rest, d, expected):
    assert lead(a, b, rest, d, THIRD) == pytest.approx(expected)


@pytest.mark.parametrize("role", [THIRD, RIVAL, ACTION])
def test_no_report_leads_by_more(role):
    generator = np.random.default_rng(role)
    for _ in range(60):
        a, b, c, d = np.sort(generator.integers(0, 9, (4, 2)) / 8, axis=1)
        grids = [np.unique(np.linspace(*ends, 5)) for ends in (a, b, c, d)]
        bound = lead(a, b, c, {THIRD: d, RIVAL: b, ACTION: a}[role], role)
        for one, other, rest, point in itertools.product(*grids):
            nothing = {THIRD: point, RIVAL: other, ACTION: one}[role]
            width = max(one, other, rest) - nothing
            assert (one - other) / width <= bound + 1e-12 if width > INDIFFERENT else bound >= 0


def test_an_action_is_raised_where_ties_are_wider():
    assert lead((0.2, 0.5), (0.1, 0.3), (0.8, 0.9), (0.2, 0.2), THIRD, 0.1) == pytest.approx(0.5 / 0.6)
