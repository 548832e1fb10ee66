"""All feasible allocations: against every whole-number matrix, their order, and what is too many."""

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.allocations import Allocation, count_options, enumerate_options
from accordant.allocations.enumeration import vectors_of
from accordant.errors import InputError


def rows(granted):
    """Portions as one row: first resource first, within it patients by id."""
    return [tuple(each.T.ravel().tolist()) for each in granted]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_all_matrices_and_no_others(small, data):
    scenario = data.draw(small.scenarios())
    expected = [tuple(np.array(each).T.ravel().tolist()) for each in small.brute_options(scenario)]
    listed = enumerate_options(scenario)
    assert rows(listed.granted) == sorted(expected, reverse=True)
    assert count_options(scenario) == len(expected) == len(listed)
    assert listed.complete
    for option in range(len(listed)):
        listed.allocation(option)  # refuses what is infeasible


@given(st.data(), st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_none_exactly_if_more_than_the_limit(small, data, limit):
    scenario = data.draw(small.scenarios())
    listed = enumerate_options(scenario, limit)
    assert (listed is None) == (count_options(scenario) > limit)


def test_order_of_patients_changes_nothing(small):
    names, demands = ["d", "a", "c", "b"], [[1, 2], [2, 0], [1, 1], [0, 1]]
    first = enumerate_options(small.build(demands, [2, 3], names=names))
    for order in itertools.permutations(range(4)):
        other = small.build([demands[i] for i in order], [2, 3], names=[names[i] for i in order])
        assert np.array_equal(enumerate_options(other).granted, first.granted)


def test_first_allocation_serves_the_lowest_ids(small):
    listed = enumerate_options(small.build([[1]] * 5, [2]))
    assert listed.granted[0, :, 0].tolist() == [1, 1, 0, 0, 0]
    assert listed.granted[-1, :, 0].tolist() == [0, 0, 0, 1, 1]
    chosen = [tuple(np.flatnonzero(row)) for row in listed.granted[:, :, 0]]
    assert chosen == list(itertools.combinations(range(5), 2))


@pytest.mark.parametrize(
    ("demands", "capacities", "expected"),
    [
        ([[1]], [0], 1),
        ([[1]], [5], 1),
        ([[0]], [1], 1),
        ([[1], [1]], [1], 2),
        ([[2], [2]], [3], 2),
        ([[2], [2]], [2], 3),
        ([[1, 1], [1, 1]], [1, 1], 4),
        ([[40_000], [1]], [40_000], 2),
    ],
)
def test_small_counts(small, demands, capacities, expected):
    scenario = small.build(demands, capacities)
    listed = enumerate_options(scenario)
    assert count_options(scenario) == len(listed) == expected
    assert (listed.granted.sum(axis=1) == np.minimum(scenario.demand.sum(axis=0), scenario.capacity)).all()


def test_counts_are_exact_where_they_are_large(small):
    assert count_options(small.build([[1]] * 500, [200])) == math.comb(500, 200)
    assert count_options(small.build([[1, 1]] * 60, [20, 30])) == math.comb(60, 20) * math.comb(60, 30)
    # trinomial coefficients: Σ_j C(n, j) C(n − j, m − 2j) with j patients who get both portions
    expected = sum(math.comb(90, j) * math.comb(90 - j, 70 - 2 * j) for j in range(36))
    assert count_options(small.build([[2]] * 90, [70])) == expected
    assert enumerate_options(small.build([[2]] * 90, [70])) is None
    assert enumerate_options(small.build([[1]] * 500, [200])) is None


def test_too_many_entries_are_not_listed(small):
    assert enumerate_options(small.build([[1]] * 5_000, [1])) is None  # 5,000 options of 5,000 patients


def test_scenarios_of_one_structure_share_one_list(small):
    first, second = (enumerate_options(small.ward(seed=seed)) for seed in (1, 2))
    assert len(first) == 792
    assert first.granted is second.granted
    with pytest.raises(ValueError, match="read-only"):
        first.granted[0, 0, 0] = 5
    scenarios = [small.ward(seed=seed) for seed in range(20)]
    for scenario in scenarios:
        scenario.demand, scenario.capacity
    times = []
    for scenario in scenarios:
        began = time.perf_counter()
        enumerate_options(scenario)
        times.append(time.perf_counter() - began)
    assert sorted(times)[10] < 1e-3


@pytest.mark.parametrize("limit", [0, -1, 2.5, True, None])
def test_wrong_limit(small, limit):
    with pytest.raises(InputError, match="limit is .*; allowed: a whole number, at least 1"):
        enumerate_options(small.build([[1]], [1]), limit)


def test_vectors_without_patients_left():
    assert vectors_of(np.array([3, 0, 1]), 2).tolist() == [[2, 0, 0], [1, 0, 1]]
    assert vectors_of(np.array([2, 2]), 4).tolist() == [[2, 2]]


def test_parts_of_portions_are_refused(small):
    scenario = small.build([[1], [1]], [1])
    with pytest.raises(InputError, match="allowed: whole numbers"):
        Allocation(scenario, [[0.5], [0.5]])
    with pytest.raises(InputError, match="allowed: whole numbers"):
        Allocation(scenario, [[np.nan], [1]])
