"""Options where all are too many: feasible, without duplicates, in order, and close to the best."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.allocations import AdditiveUtility, Allocation, enumerate_options, pool
from accordant.allocations.search import best, earliest_bound, product_bound, scaled, worst
from accordant.allocations.search.exchange_search import Exchanges, climb, climb_in_utilities, exchanges, lots
from accordant.allocations.search.candidate_options import nearly_smallest, weightings
from accordant.errors import InputError


class Even:
    """Likes the shares of two halves to be alike: not additive."""

    def of(self, shares):
        half = shares.shape[1] // 2
        return -np.abs(shares[:, :half].sum(axis=1) - shares[:, half:].sum(axis=1))

    def to_json(self):
        return "even"


def utilities_of(n, agents, seed=0):
    generator = np.random.default_rng(seed)
    return [AdditiveUtility(generator.random(n)) for _ in range(agents)]


def rows(options):
    return [tuple(each.T.ravel().tolist()) for each in options.granted]


@given(st.data(), st.integers(1, 3), st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_members_are_feasible_different_and_in_order(small, data, agents, size):
    scenario = data.draw(small.scenarios())
    everything = enumerate_options(scenario)
    include = [everything.allocation(k) for k in range(0, len(everything), 3)]
    found = pool(scenario, utilities_of(len(scenario.ids), agents), include, seed=1, size=size)
    assert not found.complete
    assert rows(found) == sorted(set(rows(found)), reverse=True)
    assert set(rows(found)) <= set(rows(everything))
    assert len(found) <= max(size, len(include))
    assert all(found.position(each) is not None for each in include)


@pytest.mark.parametrize("size", [1, 5, 30])
def test_proposals_are_kept_however_small_the_pool(small, size):
    scenario = small.ward()
    everything = enumerate_options(scenario)
    include = [everything.allocation(option) for option in range(0, 792, 80)]
    found = pool(scenario, utilities_of(12, 2), include, size=size)
    assert all(found.position(each) is not None for each in include)
    assert len(found) == max(size, len(include))


def test_same_seed_same_options_in_any_order_of_patients(small):
    names, demands = ["d", "a", "c", "b", "e"], [[1, 2], [2, 0], [1, 1], [0, 1], [2, 2]]
    values = dict(zip(names, [0.3, 0.9, 0.1, 0.5, 0.7], strict=True))
    found = set()
    for order in itertools.islice(itertools.permutations(range(5)), 0, 120, 17):
        scenario = small.build([demands[i] for i in order], [3, 3], names=[names[i] for i in order])
        utilities = [
            AdditiveUtility([values[each] for each in scenario.ids]),
            AdditiveUtility([1 - values[each] ** 2 for each in scenario.ids]),
        ]
        found.add(pool(scenario, utilities, seed=5, size=12).granted.tobytes())
    assert len(found) == 1


def test_extremes_of_each_agent_are_there(small):
    scenario = small.ward(40, 15)
    utilities = utilities_of(40, 3)
    found = pool(scenario, utilities)
    for utility in utilities:
        assert found.position(Allocation(scenario, worst(scenario, utility.values))) is not None
        top = utility.of(Allocation(scenario, best(scenario, utility.values)).shares[None])[0]
        assert utility.of(found.shares).max() == pytest.approx(top, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_close_to_the_best_of_all(small, seed):
    scenario = small.ward(seed=seed)
    utilities = utilities_of(12, 2, seed)
    everything = enumerate_options(scenario)
    scale = scaled(scenario, utilities, everything)
    known = scale.of(everything.shares)
    found = scale.of(pool(scenario, utilities, seed=seed, size=60).shares)
    assert found.prod(axis=0).max() == pytest.approx(known.prod(axis=0).max(), abs=1e-12)
    assert found.min(axis=0).max() >= known.min(axis=0).max() - 0.02
    assert (found.prod(axis=0) <= known.prod(axis=0).max() + 1e-12).all()


def test_utilities_that_do_not_add_up(small):
    scenario = small.ward(30, 11)
    found = pool(scenario, [Even(), *utilities_of(30, 1)], seed=2, size=200)
    assert Even().of(found.shares).max() == pytest.approx(-1.0)  # 11 beds for two halves
    assert len(found) == 200


@pytest.mark.long
@pytest.mark.parametrize("agents", [1, 2, 4])
def test_500_patients_and_200_beds(small, agents):
    scenario = small.build([[1]] * 500, [200])
    utilities = utilities_of(500, agents)
    began = time.process_time()
    found = pool(scenario, utilities, seed=1)
    assert time.process_time() - began < 3  # 0.2 s where nothing else runs
    scale = scaled(scenario, utilities)
    bound = product_bound(scenario, scale.values, scale.floors)
    assert 0 <= bound - scale.of(found.shares).prod(axis=0).max() < 1e-4
    assert found.allocation(0).granted.sum() == 200


@pytest.mark.long
def test_one_option_is_enough_for_those_who_have_no_choice(small):
    found = pool(small.build([[1], [1]], [2]), utilities_of(2, 2))
    assert found.granted.tolist() == [[[1], [1]]]
    found = pool(small.build([[1], [1]], [0]), utilities_of(2, 2))
    assert found.granted.tolist() == [[[0], [0]]]


def test_indifferent_agents(small):
    found = pool(small.ward(), [AdditiveUtility(np.ones(12))] * 2, size=30)
    assert len(found) == 30


def test_wrong_input(small):
    scenario = small.ward()
    with pytest.raises(InputError, match="allowed: at least 1 of each"):
        pool(scenario, [])
    with pytest.raises(InputError, match="allowed: at least 1 of each"):
        pool(scenario, utilities_of(12, 1), size=0)
    other = Allocation.whole(small.ward(beds=2), ["p000", "p001"])
    with pytest.raises(InputError, match="idle"):
        pool(scenario, utilities_of(12, 1), [other])


@pytest.mark.parametrize(("all_of_them", "samples"), [(True, 1), (False, 3)])
def test_a_climb_ends_with_the_third_sample_in_which_nothing_helps(small, monkeypatch, all_of_them, samples):
    drawn = []

    def one_exchange(scenario, granted, most, generator, lot):
        drawn.append(lot)
        return Exchanges(np.array([0]), np.array([0]), np.array([1]), all_of_them, lot)

    monkeypatch.setattr("accordant.allocations.search.exchange_search.exchanges", one_exchange)
    start = np.array([[1], [0]])
    found = climb(small.build([[1], [1]], [1]), start, lambda shares: np.zeros(len(shares)), seed=0)
    assert found.tolist() == start.tolist() and drawn == [1] * samples


def test_the_minimum_is_climbed_past_its_flat_parts(small):
    """With several agents one exchange rarely helps the one who has least; softer minima lead on."""
    scenario = small.build([[1]] * 300, [120])
    utilities = utilities_of(300, 4)
    scale = scaled(scenario, utilities)
    found = scale.of(pool(scenario, utilities, seed=1, size=300).shares).min(axis=0).max()
    bound = 1 - earliest_bound(scenario, scale.values, scale.floors, [1.0] * 4)
    assert 0 <= bound - found < 2e-3  # climbing the minimum alone leaves 2.7e-3
    values = np.random.default_rng(0).random((3, 7))
    for sharpness in (10.0, 1e5):
        soft = nearly_smallest(values, sharpness=sharpness)
        assert (values.min(axis=0) - np.log(3) / sharpness <= soft).all()
        assert (soft <= values.min(axis=0)).all()


def test_many_portions_move_in_lots(small):
    """From one end to the middle of 4 × 1,000 portions takes 1,000 single exchanges, five times what a climb makes."""
    scenario = small.build([[1_000]] * 4, [2_000])
    start = np.array([[1_000], [1_000], [0], [0]])

    def near_the_middle(shares):
        return -((shares[:, 0] - 0.5) ** 2) - (shares[:, 1] - 0.25) ** 2

    found = climb(scenario, start, near_the_middle, seed=0)
    assert found[:2].tolist() == [[500], [250]] and found.sum() == 2_000
    values = np.array([[1, 0, 0, 0], [0, 0, 0, 1.0]])
    found = climb_in_utilities(
        scenario, start, values, np.zeros(2), lambda u: -np.abs(u[0] - 0.377) - np.abs(u[1] - 0.911), seed=0
    )
    assert found[[0, 3]].tolist() == [[377], [911]]
    pair = small.build([[4], [4]], [4])  # everything for the first is good, all between is flat
    assert climb(pair, np.array([[0], [4]]), lambda x: (x[:, 0] == 1) * (x[:, 1] == 0) * 1.0, 0).tolist() == [
        [4],
        [0],
    ]
    found = climb_in_utilities(
        pair, np.array([[0], [4]]), np.eye(2), np.zeros(2), lambda u: (u[0] == 1) * (u[1] == 0) * 1.0, 0
    )
    assert found.tolist() == [[4], [0]]
    assert lots(scenario) == [512, 256, 128, 64, 32, 16, 8, 4, 2, 1]
    assert lots(small.build([[1], [0]], [1])) == lots(small.build([[0]], [1])) == [1]


@pytest.mark.parametrize("unit", [1e-13, 1.0, 1e13])
def test_the_unit_of_a_goal_changes_no_climb(small, unit):
    scenario = small.build([[1]] * 6, [3])
    values = np.array([3.0, 1, 4, 1, 5, 9])
    found = climb(scenario, np.array([[1], [1], [0], [1], [0], [0]]), lambda shares: unit * (shares @ values), seed=0)
    assert found[:, 0].tolist() == [0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize(("agents", "expected"), [(1, 1), (2, 200), (3, 190), (4, 165), (5, 126), (10, 55), (50, 50)])
def test_weightings_cover_the_simplex(agents, expected):
    weights = weightings(agents)
    assert weights.shape == (expected, agents)
    assert weights.sum(axis=1) == pytest.approx(np.ones(expected))
    assert (weights >= 0).all()
    assert len({tuple(row) for row in weights.tolist()}) == expected
    assert (np.sort(weights, axis=1)[:, -1] == 1).sum() == agents


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_exchanges_are_all_that_keep_sums(small, data):
    scenario = data.draw(small.scenarios(most_patients=3))
    everything = [np.array(each) for each in small.brute_options(scenario)]
    granted = data.draw(st.sampled_from(everything))
    offered = exchanges(scenario, granted, 1_000, np.random.default_rng(0))
    assert offered.all_of_them
    found = {offered.make(granted, k).tobytes() for k in range(len(offered))}
    near = {each.tobytes() for each in everything if np.abs(each - granted).sum() == 2}
    assert found == near
    few = exchanges(scenario, granted, 1, np.random.default_rng(0))
    assert len(few) <= 1
    assert {few.make(granted, k).tobytes() for k in range(len(few))} <= near
