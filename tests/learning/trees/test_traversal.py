"""The kernels as they are written equal the kernels as they are compiled, and their loops in plain Python."""

from __future__ import annotations

import bisect

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from accordant.learning.trees.ensemble import read_ensemble
from accordant.learning.trees.sums import specialise
from accordant.learning.trees.traversal import TILE, rank, sum_one_row, sum_rows


@pytest.mark.parametrize("single", [False, True])
def test_a_rank_is_the_number_of_thresholds_below(single):
    generator = np.random.default_rng(0)
    tables = [np.unique(np.round(generator.normal(size=n), 1)) for n in (0, 1, 2, 7, 40)]
    ends = np.cumsum([0, *map(len, tables)])
    rows = np.round(generator.normal(size=(19, 5)), 1)
    found = np.full(3 * 5 * TILE, 99, dtype=np.uint32)
    assert rank(rows, np.concatenate(tables), ends, single, found)
    for row in range(19):
        for column in range(5):
            value = float(np.float32(rows[row, column])) if single else rows[row, column]
            place = (row // TILE * 5 + column) * TILE + row % TILE
            assert found[place] == bisect.bisect_left(tables[column], value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_told(value):
    rows = np.array([[0.0, 1.0], [value, 1.0]])
    assert not rank(rows, np.array([0.5]), np.array([0, 1, 1]), False, np.empty(2 * TILE, dtype=np.uint32))


def test_written_and_compiled_kernels_agree(plain):
    rows, target = plain.data(n=60)
    forest = RandomForestRegressor(3, random_state=0).fit(rows, target)
    trees = specialise(read_ensemble(forest), np.full((1, 4), np.nan))
    ranks = np.zeros(2 * 4 * TILE, dtype=np.uint32)
    assert rank.python(rows[:11], trees.thresholds, trees.ends, True, ranks)
    given = trees.nodes, trees.values, trees.roots, trees.depths, trees.baseline, trees.divisor, ranks, 4
    expected = forest.predict(rows[:11])
    for kernel in (sum_rows, sum_rows.python):
        sums = np.full((1, 1, 11), np.nan)
        kernel(*given, 11, 0, sums)
        assert np.array_equal(sums[0, 0, :8], expected[:8]) and np.isnan(sums[0, 0, 8:]).all()
    for kernel in (sum_one_row, sum_one_row.python):
        sums = np.full((1, 1, 12), np.nan)
        for row in range(11):
            kernel(*given, row, 1, sums)
        assert np.array_equal(sums[0, 0, 1:], expected) and np.isnan(sums[0, 0, 0])
