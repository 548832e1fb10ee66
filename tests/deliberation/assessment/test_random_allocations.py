"""Walks in a level set: against all allocations of it, listed one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.allocations import AdditiveUtility, Allocation, Claimant, Resource, Scenario
from accordant.allocations.enumeration import enumerate_options
from accordant.deliberation.assessment.alternatives import level
from accordant.deliberation.assessment.alternatives import at_level


class Gap:
    """Minus the gap between the first and the last patient: no sum over patients."""

    def of(self, shares):
        return -np.abs(shares[:, 0] - shares[:, -1])

    def to_json(self):
        return "gap"


def built(demands, capacities):
    """Return a scenario from portions demanded, (patient, resource), and portions there are."""
    patients = [
        Claimant(f"p{row}", {}, {f"r{k}": float(amount) for k, amount in enumerate(each)})
        for row, each in enumerate(demands)
    ]
    return Scenario(patients, [Resource(f"r{k}", float(amount)) for k, amount in enumerate(capacities)])


def key(shares):
    return tuple(np.round(shares, 9).tolist())


def distance(scenario, utility, start, draws, seed):
    """Return the total variation between draws and the uniform distribution on the level set, and the set's size."""
    options = enumerate_options(scenario)
    kept = options.shares[level(utility, options, start)]
    drawn = Counter(map(key, at_level(scenario, utility, start, draws, seed)))
    wanted = Counter(map(key, kept))  # where two allocations have the same shares, their probabilities add up
    assert set(drawn) <= set(wanted)
    return sum(abs(drawn[each] / draws - count / len(kept)) for each, count in wanted.items()) / 2, len(kept)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("demands", "capacities"),
    [
        ([[1]] * 7, [3]),
        ([[2], [1], [3], [1]], [3]),  # portions: the number of ways to offer a swap differs between allocations
        ([[3], [3], [3]], [4]),
        ([[1, 1], [2, 0], [1, 2], [0, 1]], [2, 2]),
    ],
)
@pytest.mark.parametrize("rank", [0, 2, 5])
def test_each_allocation_of_the_level_set_is_as_likely(demands, capacities, rank):
    scenario = built(demands, capacities)
    utility = AdditiveUtility(np.random.default_rng(len(demands)).random(len(demands)).round(2))
    options = enumerate_options(scenario)
    start = options.allocation(int(np.argsort(utility.of(options.shares), kind="stable")[rank]))
    off, size = distance(scenario, utility, start, 6000, seed=rank)
    assert size > 1
    assert off < 1.5 * np.sqrt(size / 6000)  # independent draws are off by about .4 sqrt(size / draws)


@pytest.mark.parametrize("draws", [1, 3, 201])
def test_as_many_are_drawn_as_are_asked_for(draws):
    scenario, utility = built([[1]] * 5, [2]), AdditiveUtility(np.arange(5.0))
    start = Allocation.of(scenario, {"p1": {"r0": 1.0}, "p3": {"r0": 1.0}})
    shares = at_level(scenario, utility, start, draws, seed=0)
    assert shares.shape == (draws, 5)
    assert (utility.of(shares) >= utility.of(start.shares[None])).all()


def test_a_utility_that_does_not_add_up():
    scenario = built([[1]] * 6, [3])
    start = Allocation.of(scenario, {each: {"r0": 1.0} for each in ("p0", "p1", "p5")})
    off, size = distance(scenario, Gap(), start, 4000, seed=1)
    assert size == 8  # with both or with neither
    everything, all_of_them = distance(scenario, AdditiveUtility(np.zeros(6)), start, 4000, seed=1)
    assert all_of_them == 20
    assert everything < 0.06
    assert off > 0.3  # single exchanges do not lead from both to neither: a part of the set is out of reach


@pytest.mark.long
@given(
    demands=st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=1, max_size=5),
    capacities=st.lists(st.integers(0, 6), min_size=2, max_size=2),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_every_draw_is_feasible_and_at_the_level(demands, capacities, seed):
    scenario = built(demands, capacities)
    options = enumerate_options(scenario)
    generator = np.random.default_rng(seed)
    utility = AdditiveUtility(generator.normal(size=len(demands)).round(1))
    start = options.allocation(int(generator.integers(len(options))))
    drawn = at_level(scenario, utility, start, 7, seed)
    assert drawn.shape == (7, len(demands))
    feasible = set(map(key, options.shares[level(utility, options, start)]))
    assert set(map(key, drawn)) <= feasible
    assert np.array_equal(drawn, at_level(scenario, utility, start, 7, seed))


def test_who_has_the_best_allocation_keeps_it():
    scenario = built([[1]] * 8, [3])
    utility = AdditiveUtility(np.arange(8.0))
    best = Allocation.of(scenario, {each: {"r0": 1.0} for each in ("p5", "p6", "p7")})
    drawn = at_level(scenario, utility, best, 50, 0)
    assert np.array_equal(drawn, np.repeat(best.shares[None], 50, axis=0))


@pytest.mark.parametrize("capacity", [0, 4, 9])
def test_nothing_to_exchange(capacity):
    scenario = built([[1]] * 4, [capacity])
    start = enumerate_options(scenario).allocation(0)
    assert len(np.unique(at_level(scenario, AdditiveUtility(np.zeros(4)), start, 5, 0), axis=0)) == 1
