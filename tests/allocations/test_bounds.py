"""Bounds of what a search may have missed: never wrong on what can be listed, and not loose."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.allocations import AdditiveUtility, enumerate_options
from accordant.allocations.search import earliest_bound, product_bound, scaled
from accordant.allocations.search.bounds import bands
from accordant.errors import InputError


def table(scenario, agents, seed, levels=5):
    """Scaled utilities of all allocations with their values and floors; few levels make ties frequent."""
    generator = np.random.default_rng(seed)
    utilities = [AdditiveUtility(generator.integers(0, levels, len(scenario.ids))) for _ in range(agents)]
    scale = scaled(scenario, utilities)
    return scale.of(enumerate_options(scenario).shares), scale.values, scale.floors


def earliest(utilities, exponents):
    """The first time at which one allocation is in all bands: the largest of (1 − u)^(1/e) over agents, at its least."""
    times = []
    for option in utilities.T.tolist():
        missing = [max(0.0, 1 - u) for u in option]
        missing = [0.0 if each < 1e-9 else each for each in missing]
        times.append(
            max(
                (0.0 if gap == 0 else math.inf) if math.isinf(e) else gap ** (1 / e)
                for gap, e in zip(missing, exponents, strict=True)
            )
        )
    return min(times)


@given(st.data(), st.integers(1, 4), st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_product_is_never_below_the_best(small, data, agents, seed):
    scenario = data.draw(small.scenarios())
    utilities, values, floors = table(scenario, agents, seed)
    assert product_bound(scenario, values, floors) >= utilities.prod(axis=0).max()


@pytest.mark.long
@given(
    st.data(),
    st.lists(st.sampled_from([0.25, 1.0, 2.0, 4.0, math.inf]), min_size=1, max_size=3),
    st.integers(0, 10_000),
)
@settings(max_examples=50, deadline=None)
def test_time_is_never_above_the_earliest(small, data, exponents, seed):
    scenario = data.draw(small.scenarios())
    utilities, values, floors = table(scenario, len(exponents), seed)
    assert earliest_bound(scenario, values, floors, exponents) <= earliest(utilities, exponents) + 1e-12


@pytest.mark.few(1)
@pytest.mark.parametrize("agents", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_those_of_the_mixtures(small, agents, seed):
    """Both equal their relaxation, which brute force finds by mixing listed allocations on a fine grid of weights."""
    scenario = small.ward(8, 3, seed)
    utilities, values, floors = table(scenario, agents, seed, levels=50)
    weights = np.random.default_rng(0).dirichlet(np.ones(agents), 40_000)
    heights = (weights @ utilities).max(axis=1)
    loosest = ((heights / agents) ** agents / weights.prod(axis=1)).min()
    bound = product_bound(scenario, values, floors)
    assert bound <= loosest + 1e-9
    assert bound == pytest.approx(loosest, rel=2e-2)
    # with linear concession w rules out all t below (Σ w − h(w)) / Σ w
    ruled_out = max(0.0, (1 - heights).max())
    time = earliest_bound(scenario, values, floors, [1.0] * agents)
    assert time >= ruled_out - 1e-7
    assert time == pytest.approx(ruled_out, abs=2e-2)


def test_many_patients_leave_little_open(small):
    scenario = small.build([[1]] * 500, [200])
    generator = np.random.default_rng(3)
    scale = scaled(scenario, [AdditiveUtility(generator.random(500)) for _ in range(2)])
    bound = product_bound(scenario, scale.values, scale.floors)
    time = earliest_bound(scenario, scale.values, scale.floors, [1.0, 1.0])
    # both agents are alike, so the mixture at the product is near the mixture at the earliest time
    assert (1 - time) ** 2 <= bound <= (1 - time) ** 2 + 1e-3


class TestWorkedExample:
    """Two patients, one bed, opposite wishes: u = (1, 0) or (0, 1). No product above 0, no time before 1."""

    values, floors = np.eye(2), np.zeros(2)

    def test_what_mixtures_leave_open(self, small):
        scenario = small.build([[1], [1]], [1])
        assert product_bound(scenario, self.values, self.floors) == pytest.approx(0.25, rel=1e-8)
        assert earliest_bound(scenario, self.values, self.floors, [1, 1]) == pytest.approx(0.5, abs=1e-8)
        assert earliest_bound(scenario, self.values, self.floors, [2, 2]) == pytest.approx(math.sqrt(0.5), abs=1e-8)

    def test_one_who_never_concedes(self, small):
        scenario = small.build([[1], [1]], [1])
        assert earliest_bound(scenario, self.values, self.floors, [math.inf, 1]) == pytest.approx(1.0, abs=1e-8)
        assert earliest_bound(scenario, self.values, self.floors, [math.inf, math.inf]) == math.inf

    def test_two_who_never_concede_beside_one_who_does(self, small):
        values = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
        scenario = small.build([[1]] * 3, [1])
        assert earliest_bound(scenario, values, np.zeros(3), [np.inf, np.inf, 1.0]) == np.inf
        assert earliest_bound(scenario, values[:2], np.zeros(2), [np.inf, np.inf]) == np.inf

    def test_common_wishes_are_met_at_once(self, small):
        scenario = small.build([[1], [1]], [1])
        same = np.array([[1.0, 0.0], [1.0, 0.0]])
        assert product_bound(scenario, same, self.floors) == pytest.approx(1.0, rel=1e-8)
        assert earliest_bound(scenario, same, self.floors, [4, 4]) == 0.0

    def test_one_agent(self, small):
        scenario = small.build([[1], [1]], [1])
        assert product_bound(scenario, self.values[:1], self.floors[:1]) == pytest.approx(1.0, rel=1e-8)
        assert earliest_bound(scenario, self.values[:1] / 2, self.floors[:1], [1]) == pytest.approx(0.5, abs=1e-8)

    def test_nothing_for_somebody_whatever_is_done(self, small):
        scenario = small.build([[1], [1]], [1])
        assert product_bound(scenario, np.array([[1.0, 0.0], [0.0, 0.0]]), self.floors) == 0.0

    def test_bands(self):
        assert bands(0.5, np.array([1.0, 4.0, 0.25, math.inf])) == pytest.approx([0.5, 0.9375, 0.1591, 1.0], abs=1e-4)
        assert bands(1.0, np.array([1.0, math.inf])).tolist() == [0.0, 1.0]


class TestWrongInput:
    def test_shapes(self, small):
        scenario = small.build([[1], [1]], [1])
        for values, floors in (([[1.0]], [0.0]), ([[1.0, 2.0]], [0.0, 1.0]), ([], [])):
            with pytest.raises(InputError, match="values and floors have shapes"):
                product_bound(scenario, values, floors)
        with pytest.raises(InputError, match="finite"):
            product_bound(scenario, [[1.0, np.nan]], [0.0])

    def test_negative_utilities(self, small):
        with pytest.raises(InputError, match="as low as -0.5"):
            product_bound(small.build([[1], [1]], [1]), [[1.0, 0.0]], [-0.5])

    @pytest.mark.parametrize("exponents", [[1], [1, 0], [1, -2], [1, math.nan], [1, 1, 1]])
    def test_exponents(self, small, exponents):
        with pytest.raises(InputError, match="one above 0 for each of 2 agents"):
            earliest_bound(small.build([[1], [1]], [1]), np.eye(2), np.zeros(2), exponents)
