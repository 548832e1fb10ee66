"""Exact cones: volumes against closed forms and drawn weights, degenerate cuts, and the order of cuts."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from accordant.evaluation.weighting.undominated_scores import Cone


def cut(n_weights, *rows):
    cone = Cone.orthant(n_weights)
    for row in rows:
        cone = cone.clipped(row)
    return cone


@pytest.mark.parametrize("n_weights", [1, 2, 3, 4, 5])
def test_all_weights_are_the_whole(n_weights):
    cone = Cone.orthant(n_weights)
    assert cone.full
    assert cone.share() == 1
    assert sorted(cone.corners()) == sorted(map(tuple, np.eye(n_weights).tolist()))
    assert len(cone.facets()) == (n_weights if n_weights > 1 else 1)


@pytest.mark.parametrize(
    ("rows", "share"),
    [
        ([(1, -1, 0)], Fraction(1, 2)),
        ([(1, -1, 0), (0, 1, -1)], Fraction(1, 6)),
        ([(3, -1, -1)], Fraction(9, 16)),  # w1 ≥ 1/4 leaves a triangle with sides of 3/4
        ([(2, -1, -1)], Fraction(4, 9)),
        ([(-2, 1, 1), (1, -2, 1), (1, 1, -2)], Fraction(0)),  # only the middle
    ],
)
def test_shares_of_a_triangle(rows, share):
    assert cut(3, *rows).share() == share


def test_orders_of_weights_divide_the_simplex_evenly():
    rows = [tuple(int(k == a) - int(k == b) for k in range(4)) for a, b in ((0, 1), (1, 2), (2, 3))]
    assert cut(4, *rows).share() == Fraction(1, 24)


def test_a_cut_through_a_corner_a_side_or_beyond():
    point = cut(3, (-1, 0, -1))  # w1 + w3 ≤ 0
    assert point.corners() == ((0.0, 1.0, 0.0),)
    assert not point.full
    side = cut(3, (0, -1, 0))
    assert sorted(side.corners()) == [(0, 0, 1), (1, 0, 0)]
    assert side.share() == 0
    assert cut(3, (-1, -1, -1)).rays == ()
    assert cut(3, (0, 0, 0)).share() == 1  # nothing is demanded
    assert cut(3, (1, -1, 0), (-1, 1, 0)).share() == 0  # only a line


def test_facets_name_the_cuts_that_count():
    cone = cut(3, (1, -1, 0), (2, -1, 0), (1, -1, 0))
    assert cone.facets() == (1, 2, 3, 5)  # the second cut is implied; the repeated one is the same side
    assert cut(3, (2, -1, 0), (1, -1, 0)).facets() == (1, 2, 4)


def test_order_of_cuts_does_not_matter():
    generator = np.random.default_rng(5)
    rows = [tuple(int(x) for x in generator.integers(-9, 10, 4)) for _ in range(4)]
    first = cut(4, *rows)
    for order in permutations(rows):
        cone = cut(4, *order)
        assert set(cone.rays) == set(first.rays)
        assert cone.share() == first.share()


@pytest.mark.parametrize("seed", range(6))
def test_share_against_drawn_weights(seed):
    """Brute-force twin: how many of many evenly drawn weights meet the inequalities."""
    generator = np.random.default_rng(seed)
    n_weights = 2 + seed % 4
    rows = generator.integers(-20, 30, (5, n_weights))
    weights = generator.dirichlet(np.ones(n_weights), 40_000)
    inside = (weights @ rows.T >= 0).all(axis=1).mean()
    cone = cut(n_weights, *(tuple(map(int, row)) for row in rows))
    assert float(cone.share()) == pytest.approx(inside, abs=0.011)
    for corner in cone.corners():
        assert sum(corner) == pytest.approx(1)
        assert (np.dot(rows, corner) >= -1e-9).all()
