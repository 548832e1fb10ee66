"""Compiled kernels of slate rules against the lines of NumPy that stand in their docstrings."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.slates.rules import approval, greedy, phragmen, welfare

N, M, U = 4, 7, 30


@pytest.fixture
def world():
    draw = np.random.default_rng(0)
    available = draw.random((M, U)) < 0.7
    available[0] = True
    return draw, draw.random((N, M, U)), available


def test_means_over_what_may_be_shown(world):
    _, values, available = world
    found = np.empty((N, U))
    approval._means(values, available, found)
    np.testing.assert_allclose(found, np.where(available, values, 0.0).sum(axis=1) / available.sum(axis=0), rtol=1e-12)


def test_counts_of_approvals(world):
    draw, values, left = world
    approved, power, found = values > 0.5, draw.random((N, U)), np.empty((M, U))
    approval._count(approved, power, left, found)
    expected = np.where(left, np.einsum("iu,icu->cu", power, approved), -np.inf)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_loads_of_approvers(world):
    draw, values, _ = world
    approved, weights, loads, found = values > 0.5, draw.random(N) + 0.1, draw.random((N, U)), np.empty((M, U))
    phragmen._raise(approved, weights, loads, found)
    share = weights[:, None, None] * approved
    with np.errstate(divide="ignore"):
        expected = (1.0 + (share * loads[:, None]).sum(axis=0)) / share.sum(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sums_of_the_best_and_the_worst(world, sign):
    draw, values, available = world
    lengths = np.minimum(draw.integers(0, 4, U), available.sum(axis=0))
    found = greedy.end_sums(values, available, lengths, sign, np.empty((3, U)))
    for i in range(N):
        for u in range(U):
            ordered = np.sort(sign * values[i, available[:, u], u])[::-1]
            assert found[i, u] == pytest.approx(sign * ordered[: lengths[u]].sum())


def test_gains_of_lists(world):
    draw, gains, _ = world
    items, found = draw.integers(-1, M, (U, 3)), draw.random((N, U))
    expected = found + np.where(items >= 0, gains[:, items, np.arange(U)[:, None]], 0.0).sum(axis=2)
    greedy.add_up(gains, items, found)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_normalised_values(world):
    draw, values, _ = world
    less, scale, found = draw.random((N, U)), draw.random((N, U)), np.empty_like(values)
    greedy.rescale(values, less, scale, found)
    np.testing.assert_allclose(found, (values - less[:, None]) * scale[:, None], rtol=1e-12)


def test_smallest_utilities(world):
    draw, gains, free = world
    running, found = draw.random((N, U)), np.empty((M, U))
    running[:, :3] = np.inf
    welfare.smallest_after(gains, running, free, found)
    smallest = (running[:, None] + gains).min(axis=0)
    expected = np.where(free, np.where(smallest == np.inf, 0.0, smallest), -np.inf)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
