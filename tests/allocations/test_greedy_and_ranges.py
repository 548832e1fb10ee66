"""Exact extremes of additive utilities, and the range of any utility: against all allocations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.allocations import AdditiveUtility, Allocation, enumerate_options
from accordant.allocations.allocation import shares_of
from accordant.allocations.search import best, scaled, utility_range, worst
from accordant.allocations.search.exchange_search import linearise
from accordant.allocations.enumeration import best_of_each
from accordant.errors import InputError


def total(scenario, granted, values):
    """Σ v x in plain Python."""
    found = 0.0
    for value, got, wanted in zip(values, granted, scenario.demand.tolist(), strict=True):
        met = [one / all_of_it for one, all_of_it in zip(got, wanted, strict=True) if all_of_it]
        found += value * (sum(met) / len(met) if met else 1.0)
    return found


class Smallest:
    """The smallest share, weighted: not additive."""

    def __init__(self, weights):
        self.weights = np.asarray(weights)

    def of(self, shares):
        return (shares * self.weights).min(axis=1)

    def to_json(self):
        return self.weights.tolist()


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_greedy_is_exact(small, data):
    scenario = data.draw(small.scenarios())
    n = len(scenario.ids)
    values = data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    known = [total(scenario, granted, values) for granted in small.brute_options(scenario)]
    highest, lowest = best(scenario, values), worst(scenario, values)
    Allocation(scenario, highest), Allocation(scenario, lowest)
    assert total(scenario, highest.tolist(), values) == pytest.approx(max(known), abs=1e-12)
    assert total(scenario, lowest.tolist(), values) == pytest.approx(min(known), abs=1e-12)
    extent = utility_range(scenario, AdditiveUtility(values))
    assert (extent.low, extent.high) == pytest.approx((min(known), max(known)), abs=1e-12)
    assert extent.exact


def test_ties_go_to_the_lower_id(small):
    scenario = small.build([[1]] * 4, [2])
    assert best(scenario, [1, 1, 1, 1])[:, 0].tolist() == [1, 1, 0, 0]
    assert worst(scenario, [1, 1, 1, 1])[:, 0].tolist() == [1, 1, 0, 0]
    assert best(scenario, [0, 1, 1, 1])[:, 0].tolist() == [0, 1, 1, 0]
    assert worst(scenario, [0, 1, 1, 1])[:, 0].tolist() == [1, 1, 0, 0]


def test_ties_go_to_the_lower_id_among_many(small):
    scenario = small.build([[1]] * 300, [100])
    values = np.arange(300) % 3
    assert np.flatnonzero(best(scenario, values)[:, 0]).tolist() == list(range(2, 300, 3))
    assert np.flatnonzero(best(scenario, values > 0)[:, 0]).tolist() == [i for i in range(300) if i % 3][:100]


def test_value_counts_per_portion(small):
    scenario = small.build([[4], [1]], [2])  # 3 / 4 a portion against 2
    assert best(scenario, [3, 2])[:, 0].tolist() == [1, 1]
    assert best(scenario, [9, 2])[:, 0].tolist() == [2, 0]


def test_many_values_at_once_are_each_alone(small):
    scenario = small.build([[1, 0], [2, 1], [0, 2], [1, 1]], [2, 3])
    values = np.random.default_rng(0).normal(size=(20, 4)).round(1)
    together = best_of_each(scenario, values)
    for row, granted in zip(values, together, strict=True):
        assert np.array_equal(best(scenario, row), granted)


@pytest.mark.parametrize("values", [[1.0], [1.0, np.nan, 2.0], [[1.0, 2.0, 3.0]]])
def test_wrong_values(small, values):
    with pytest.raises(InputError, match="one finite number for each of 3 patients"):
        best(small.build([[1]] * 3, [1]), values)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_range_of_any_utility(small, data):
    scenario = data.draw(small.scenarios())
    n = len(scenario.ids)
    utility = Smallest(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    options = enumerate_options(scenario)
    known = utility.of(options.shares)
    listed = utility_range(scenario, utility, options)
    assert (listed.low, listed.high, listed.exact) == (known.min(), known.max(), True)
    found = utility_range(scenario, utility, None, seed=3)
    assert not found.exact
    assert known.min() - 1e-12 <= found.low <= found.high <= known.max() + 1e-12


def test_search_finds_the_ends_of_a_hard_range(small):
    """One of 100 patients has the only other value; a blind draw of allocations would rarely serve nobody else."""
    scenario = small.build([[1]] * 100, [40])
    weights = np.r_[np.full(40, 2.0), np.ones(60)]

    class Concave(Smallest):
        def of(self, shares):
            return np.sqrt(shares @ self.weights)

    found = utility_range(scenario, Concave(weights))
    assert found.high == pytest.approx(np.sqrt(80))
    assert found.low == pytest.approx(np.sqrt(40))


class TestScaled:
    def test_over_all_allocations_from_0_to_1(self, small):
        scenario = small.ward()
        generator = np.random.default_rng(1)
        utilities = [AdditiveUtility(generator.normal(size=12)) for _ in range(3)]
        options = enumerate_options(scenario)
        for known in (options, None):
            scale = scaled(scenario, utilities, known)
            values = scale.of(options.shares)
            assert values.min(axis=1) == pytest.approx(np.zeros(3), abs=1e-12)
            assert values.max(axis=1) == pytest.approx(np.ones(3), abs=1e-12)
            assert scale.floors[:, None] + scale.values @ options.shares.T == pytest.approx(values, abs=1e-12)

    def test_indifferent_agents_have_1_everywhere(self, small):
        scenario = small.ward()
        shares = enumerate_options(scenario).shares
        scale = scaled(scenario, [AdditiveUtility(np.full(12, 0.1)), AdditiveUtility(np.arange(12))])
        assert (scale.of(shares)[0] == 1).all()
        assert (scale.floors[0] + shares @ scale.values[0] == 1).all()

    def test_nothing_per_patient_if_one_does_not_add_up(self, small):
        scenario = small.ward()
        scale = scaled(scenario, [AdditiveUtility(np.arange(12)), Smallest(np.ones(12))])
        assert scale.values is None
        assert scale.floors is None
        assert scale.of(enumerate_options(scenario).shares).shape == (2, 792)


class Largest(Smallest):
    """The largest weight of those who are served."""

    def of(self, shares):
        return (shares * self.weights).max(axis=1)


class NaNWhereTwoAreServed:
    """A utility of single patients that is no number for real allocations."""

    def of(self, shares):
        return np.where(shares.sum(axis=1) > 1.5, np.nan, shares[:, 0])

    def to_json(self):
        return None


class TestSizes:
    """Whether a range is rounding is told by the size of what a utility adds up, not by its unit."""

    @pytest.mark.parametrize("unit", [1e-13, 1e-300, 1.0, 1e13, 1e300])
    def test_the_unit_changes_nothing(self, small, unit):
        scenario = small.build([[1]] * 4, [2])
        values = np.array([3.0, 1.0, 0.0, 2.0])
        options = enumerate_options(scenario)
        for utility in (AdditiveUtility(values), Largest(values)):
            scaled_up = type(utility)(values * unit)
            for listed in (options, None):
                expected = scaled(scenario, [utility], listed).of(options.shares)
                assert scaled(scenario, [scaled_up], listed).of(options.shares) == pytest.approx(expected)
                assert utility_range(scenario, scaled_up, listed).width > 0

    @pytest.mark.parametrize("unit", [1e-13, 1.0, 1e13])
    def test_what_cancels_is_rounding(self, small, unit):
        """Everybody is served but one of three, who are worth the same; the rest makes the sum about 0."""
        scenario = small.build([[1], [1], [1], [0]], [2])
        utility = AdditiveUtility(np.array([0.1, 0.1 + 1e-17, 0.1 * (1 + 3e-16), -0.2]) * unit)
        for listed in (enumerate_options(scenario), None):
            assert utility_range(scenario, utility, listed).width == 0

    def test_a_constant_is_indifferent_and_zero_too(self, small):
        scenario = small.build([[1]] * 3, [1])
        for values in ([1e-13] * 3, [0.0] * 3, [1e13] * 3):
            assert scaled(scenario, [AdditiveUtility(values)]).of(np.eye(3)).tolist() == [[1, 1, 1]]

    def test_what_is_no_number_is_refused(self, small):
        scenario = small.build([[1]] * 4, [2])
        for listed in (enumerate_options(scenario), None):
            with pytest.raises(InputError, match="a utility is nan for the shares .*; allowed: finite numbers"):
                utility_range(scenario, NaNWhereTwoAreServed(), listed)

    def test_what_is_too_large_is_refused_without_a_warning(self, small):
        scenario = small.build([[1]] * 4, [2])
        for listed in (enumerate_options(scenario), None):
            with pytest.raises(InputError, match="a utility is inf for the shares"):
                utility_range(scenario, AdditiveUtility([1e308] * 4), listed)
            with pytest.raises(InputError, match="a utility is between -1.5e\\+308 and 1.5e\\+308"):
                utility_range(scenario, AdditiveUtility([1.5e308, 0, 0, -1.5e308]), listed)
        alone = small.build([[1]] * 4, [1])
        assert utility_range(alone, AdditiveUtility([1e308, 0, 1e308, 1e308])).width == 1e308


def test_those_who_demand_nothing_add_a_constant(small):
    scenario = small.build([[0], [1], [1]], [1])
    extent = utility_range(scenario, AdditiveUtility([5.0, 1.0, 2.0]))
    assert (extent.low, extent.high) == (6.0, 7.0)
    assert shares_of(scenario, best(scenario, [5.0, 1.0, 2.0])).tolist() == [1, 0, 1]


@pytest.mark.parametrize("capacity", [1, 2, 3])
def test_the_worth_of_a_demand_beside_others_that_are_met_in_part(capacity, small):
    """Others get capacity over demand each; a goal that does not add up tells whether they do."""
    scenario = small.build([[1]] * 4, [capacity])
    found = linearise(scenario, [lambda shares: shares.prod(axis=1)])
    assert found == pytest.approx(np.full((1, 4), (capacity / 4) ** 3))
