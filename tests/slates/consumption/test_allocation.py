"""The best slate: against every slate, ties, and edge cases."""

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError
from accordant.slates.consumption import (
    Bernoulli,
    BoundedBeta,
    Discrete,
    Exponential,
    FinitePool,
    Pareto,
    RankedChances,
    Uniform,
    allocate,
    greedy_counts,
    measure,
)

WANTED = (0.6, 0.3, 0.1)
KINDS = st.one_of(
    st.just(Uniform()),
    st.builds(BoundedBeta, st.floats(0.2, 5)),
    st.builds(Exponential, st.floats(0.1, 3)),
    st.builds(Pareto, st.floats(1.1, 6)),
    st.builds(Bernoulli, st.floats(0.05, 1)),
    st.builds(RankedChances, st.floats(0, 3), st.floats(0.1, 1)),
    st.builds(Discrete, st.lists(st.floats(0, 2), min_size=1, max_size=5)),
    st.builds(FinitePool, st.lists(st.floats(0, 2), min_size=6, max_size=9)),
)


def slates(n_types, items):
    """All ways to split items among types."""
    return (each for each in itertools.product(range(items + 1), repeat=n_types) if sum(each) == items)


def value(probabilities, values, counts, consumed):
    return sum(
        p * float(each.best(consumed, a)) for p, each, a in zip(probabilities, values, counts, strict=True) if p > 0
    )


@pytest.mark.long
@given(
    st.lists(st.tuples(st.integers(0, 5), KINDS), min_size=1, max_size=3).filter(
        lambda types: any(p for p, _ in types)
    ),
    st.integers(0, 6),
    st.sampled_from([1, 2, 3, 8, None]),
)
@settings(max_examples=120, deadline=None)
def test_no_slate_is_worth_more(types, items, consumed):
    weights = np.array([p for p, _ in types], dtype=float)
    probabilities, values = weights / weights.sum(), [each for _, each in types]
    found = allocate(probabilities, values, items, consumed)
    k = consumed or max(1, items)
    most = max(value(probabilities, values, counts, k) for counts in slates(len(types), items))
    assert found.counts.sum() == items
    assert found.value == pytest.approx(most, abs=1e-9)
    assert found.value == pytest.approx(value(probabilities, values, found.counts, k), abs=1e-12)


class TestFiveItems:
    def test_uniform(self):
        slate = allocate(WANTED, Uniform(), 5)
        assert slate.value == pytest.approx(0.65, abs=1e-12)
        # gains of .05 tie three times: .6 / 12, .3 / 6 and .1 / 2
        for tied in ((3, 2, 0), (2, 2, 1), (3, 1, 1)):
            assert measure(WANTED, Uniform(), tied).best == pytest.approx(0.65, abs=1e-12)
        assert slate.counts.tolist() == [3, 2, 0]
        assert measure(WANTED, Uniform(), (5, 0, 0)).best == pytest.approx(0.5, abs=1e-12)

    def test_bernoulli(self):
        slate = allocate(WANTED, Bernoulli(0.3), 5)
        assert slate.counts.tolist() == [3, 2, 0]
        assert slate.value == pytest.approx(0.5472, abs=5e-5)
        assert measure(WANTED, Bernoulli(0.3), (5, 0, 0)).best == pytest.approx(0.4992, abs=5e-5)


class TestTies:
    @pytest.mark.parametrize("values", [Uniform(), Bernoulli(0.4), Pareto(2), Exponential(), RankedChances(1, 0.5)])
    def test_equal_types_differ_by_one_at_most_and_the_first_has_more(self, values):
        for items in range(9):
            counts = allocate([0.25] * 4, values, items).counts
            assert counts.tolist() == [items // 4 + (t < items % 4) for t in range(4)]

    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    def test_rounding_decides_nothing(self, order):
        """Three gains of .05 that rounding makes unequal go to whoever is declared first."""
        probabilities = [WANTED[t] for t in order]
        counts = allocate(probabilities, Uniform(), 4).counts
        least = {0.6: 2, 0.3: 1, 0.1: 0}
        assert [int(a) - least[p] for a, p in zip(counts, probabilities, strict=True)] == [1, 0, 0]

    def test_linear_ties_go_to_the_first(self):
        assert allocate([0.4, 0.4, 0.2], Uniform(), 10, consumed=None).counts.tolist() == [10, 0, 0]

    def test_gains_of_nothing(self):
        """Items that always please: one of each is enough, the rest go to the first."""
        assert allocate([0.2, 0.5, 0.3], Bernoulli(1.0), 7).counts.tolist() == [5, 1, 1]


class TestEdges:
    def test_empty_slate(self):
        slate = allocate(WANTED, Uniform(), 0)
        assert slate.counts.tolist() == [0, 0, 0]
        assert slate.value == 0.0
        assert slate.shares.tolist() == [0.0, 0.0, 0.0]
        assert allocate(WANTED, Uniform(), 0, consumed=None).value == 0.0

    def test_one_type(self):
        slate = allocate([1.0], Exponential(), 4)
        assert slate.counts.tolist() == [4]
        assert slate.value == pytest.approx(1 + 1 / 2 + 1 / 3 + 1 / 4)

    @pytest.mark.parametrize("values", [Uniform(), Exponential(), Pareto(3), Bernoulli(0.3), BoundedBeta(2)])
    def test_more_consumed_than_shown_is_all_consumed(self, values):
        large, everything = (allocate(WANTED, values, 6, consumed) for consumed in (60, None))
        assert large.counts.tolist() == everything.counts.tolist() == [6, 0, 0]
        assert large.value == everything.value

    def test_unwanted_types_get_nothing(self):
        assert allocate([0.0, 0.7, 0.0, 0.3], Uniform(), 9).counts[[0, 2]].tolist() == [0, 0]

    def test_pools_run_out(self):
        pools = [FinitePool([1.0, 0.5]), FinitePool([0.4] * 10)]
        assert allocate([0.9, 0.1], pools, 6, None).counts.tolist() == [2, 4]
        with pytest.raises(InputError, match="items is 13; allowed: at most 12"):
            allocate([0.9, 0.1], pools, 13)

    def test_long_slates_are_fast(self):
        start = time.process_time()
        allocate(WANTED, [Uniform(), Pareto(3), Bernoulli(0.3)], 20_000)
        assert time.process_time() - start < 1.0

    def test_distributions_in_an_array_are_those_of_the_types(self):
        several = [Uniform(), Bernoulli(0.3), Exponential()]
        found = allocate(WANTED, np.array(several, dtype=object), 7)
        assert found.counts.tolist() == allocate(WANTED, several, 7).counts.tolist()

    def test_chances_too_small_for_a_float_are_still_compared(self):
        slate = allocate([0.5, 0.5], RankedChances(400.0, 0.5), 10)
        assert slate.counts.tolist() == [5, 5]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (((0.6, 0.3), Uniform(), 3), "probabilities sum to 0.9; allowed: 1"),
            (((1.2, -0.2), Uniform(), 3), "probabilities hold -0.2"),
            (((0.5, math.nan), Uniform(), 3), "probabilities hold nan"),
            (([[0.5, 0.5]], Uniform(), 3), r"probabilities have shape \(1, 2\)"),
            (([], Uniform(), 3), r"probabilities have shape \(0,\)"),
            (((0.5, 0.5), [Uniform()], 3), "values has 1 distributions; allowed: one, or one for each of 2 types"),
            (((0.5, 0.5), Uniform(), -1), "items is -1"),
            (((0.5, 0.5), Uniform(), 2.0), "items is 2.0"),
            (((0.5, 0.5), Uniform(), 2, 0), "consumed is 0"),
        ],
    )
    def test_wrong_input(self, arguments, message):
        with pytest.raises(InputError, match=message):
            allocate(*arguments)


class TestOwnGains:
    def test_largest_gains(self):
        gains = [np.log([5.0, 2.0, 1.0]), np.log([4.0, 3.0]), np.log([2.5])]
        assert greedy_counts(gains, 4).tolist() == [1, 2, 1]
        assert greedy_counts(gains, 6).tolist() == [3, 2, 1]
        assert greedy_counts([each.tolist() for each in gains], 4).tolist() == [1, 2, 1]

    @pytest.mark.parametrize(
        ("gains", "message"),
        [
            ([[0.0, 0.1]], "gains of type 0 rise"),
            ([[0.0], [-np.inf, -1.0]], "gains of type 1 rise"),
            ([[np.nan]], "gains of type 0 hold NaN"),
            ([[np.inf, np.inf]], r"gains of type 0 hold NaN or \+inf"),
            ([["a"]], "gains of type 0 are no array of numbers"),
            ([[[0.0]]], r"gains of type 0 have shape \(1, 1\)"),
            ([[0.0], []], "items is 2; allowed: at most 1"),
        ],
    )
    def test_wrong_gains(self, gains, message):
        with pytest.raises(InputError, match=message):
            greedy_counts(gains, 2)
