"""Expected best k of a: closed forms, order statistics by quadrature, enumeration, concavity."""

import itertools
import math
import subprocess
import sys

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
)

UPPER_QUANTILES = {  # value that is exceeded with chance v
    "uniform": (Uniform(), lambda v: 1 - v),
    "bounded 2": (BoundedBeta(2), lambda v: 1 - v**0.5),
    "bounded .4": (BoundedBeta(0.4), lambda v: 1 - v**2.5),
    "exponential": (Exponential(2.5), lambda v: -2.5 * math.log(v)),
    "pareto 3": (Pareto(3), lambda v: v ** (-1 / 3)),
    "pareto 1.4": (Pareto(1.4), lambda v: v ** (-1 / 1.4)),
}
EVERY = [
    *(values for values, _ in UPPER_QUANTILES.values()),
    Bernoulli(0.3),
    Bernoulli(1.0),
    Discrete([0.2, 0.7, 0.2, 1.5]),
    Discrete([3.0, 0.5, 1.0], [0.1, 0.0, 0.9]),
    RankedChances(0.7, 0.6, 0.5),
    RankedChances(2.0),
    FinitePool([0.1, 0.4, 0.4, 2.0, 0.0, 1.3, 1.3, 0.9, 0.2, 5.0, 0.3, 0.7]),
]


def best_of(values, consumed):
    return sum(sorted(values, reverse=True)[:consumed])


def mean_over_draws(levels, masses, consumed, items):
    """All tuples of independent draws, one by one."""
    total = 0.0
    for drawn in itertools.product(range(len(levels)), repeat=items):
        chance = math.prod(masses[j] for j in drawn)
        total += chance * best_of([levels[j] for j in drawn], consumed)
    return total


def by_quadrature(quantile, consumed, items):
    """Sum of the means of the top order statistics, each integrated on its own."""
    from scipy.integrate import quad

    total = 0.0
    for i in range(1, min(consumed, items) + 1):
        above, below = i - 1, items - i
        constant = math.factorial(items) / (math.factorial(above) * math.factorial(below))
        # v = w⁴ tames the heavy tails
        total += quad(
            lambda w, a=above, b=below, c=constant: c * quantile(w**4) * w ** (4 * a) * (1 - w**4) ** b * 4 * w**3,
            0,
            1,
            epsabs=1e-11,
            limit=200,
        )[0]
    return total


@pytest.mark.parametrize("name", UPPER_QUANTILES)
@pytest.mark.parametrize(("consumed", "items"), [(1, 1), (1, 5), (2, 1), (2, 7), (5, 5), (3, 4), (9, 4)])
def test_densities_against_quadrature(name, consumed, items):
    values, quantile = UPPER_QUANTILES[name]
    assert float(values.best(consumed, items)) == pytest.approx(by_quadrature(quantile, consumed, items), rel=1e-8)


def test_closed_forms_of_one_consumed():
    a = np.arange(1, 40)
    gamma = np.vectorize(math.lgamma)
    np.testing.assert_allclose(Uniform().best(1, a), a / (a + 1), rtol=1e-12)
    np.testing.assert_allclose(Bernoulli(0.3).best(1, a), 1 - 0.7**a, rtol=1e-12)
    np.testing.assert_allclose(Exponential().best(1, a), np.cumsum(1 / a), rtol=1e-12)
    expected = np.exp(gamma(a + 1) + math.lgamma(1 - 1 / 3) - gamma(a + 1 - 1 / 3))
    np.testing.assert_allclose(Pareto(3).best(1, a), expected, rtol=1e-12)
    expected = 1 - np.exp(gamma(a + 1) + math.lgamma(1 + 1 / 2) - gamma(a + 1 + 1 / 2))
    np.testing.assert_allclose(BoundedBeta(2).best(1, a), expected, rtol=1e-12)


@pytest.mark.parametrize("consumed", [1, 2, 5, 60])
def test_uniform_any_number_consumed(consumed):
    for a in range(50):
        expected = sum(1 - i / (a + 1) for i in range(1, min(consumed, a) + 1))
        assert float(Uniform().best(consumed, a)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("consumed", [1, 2, 3, 7])
def test_exponential_sums_its_order_statistics(consumed):
    for a in range(12):
        expected = sum(1 / j for i in range(1, min(consumed, a) + 1) for j in range(i, a + 1))
        assert float(Exponential().best(consumed, a)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("consumed", [1, 2, 4, 9])
def test_bernoulli_is_a_binomial_cut_off(consumed):
    for a in range(9):
        binomial = [math.comb(a, j) * 0.35**j * 0.65 ** (a - j) for j in range(a + 1)]
        expected = sum(min(consumed, j) * chance for j, chance in enumerate(binomial))
        assert float(Bernoulli(0.35).best(consumed, a)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("levels", "masses"),
    [
        ([0.2, 0.7, 0.2, 1.5], None),
        ([3.0, 0.5, 1.0], [0.1, 0.0, 0.9]),
        ([0.5, 1.0, 3.0], [0.25, 0.75, 0.0]),
        ([2.0], None),
        ([0.0, 0.0], None),
    ],  # fmt: skip
)
@pytest.mark.parametrize("consumed", [1, 2, 4])
def test_discrete_against_all_draws(levels, masses, consumed):
    weights = masses or [1 / len(levels)] * len(levels)
    for items in range(5):
        expected = mean_over_draws(levels, weights, consumed, items)
        assert float(Discrete(levels, masses).best(consumed, items)) == pytest.approx(expected, abs=1e-12)


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.5]), min_size=1, max_size=7),
    st.integers(1, 8),
)
@settings(max_examples=60, deadline=None)
def test_pool_against_all_subsets(values, consumed):
    pool = FinitePool(values)
    for items in range(len(values) + 1):
        subsets = list(itertools.combinations(values, items))
        expected = sum(best_of(subset, consumed) for subset in subsets) / len(subsets)
        assert float(pool.best(consumed, items)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("consumed", [1, 2, 3, 6])
def test_ranked_chances_against_all_outcomes(consumed):
    values = RankedChances(0.7, 0.6, 0.5)
    for items in range(6):
        q = [0.6 * (i + 0.5) ** -0.7 for i in range(1, items + 1)]
        expected = 0.0
        for outcome in itertools.product((0, 1), repeat=items):
            chance = math.prod(c if hit else 1 - c for c, hit in zip(q, outcome, strict=True))
            expected += chance * min(consumed, sum(outcome))
        assert float(values.best(consumed, items)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("values", EVERY, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("consumed", [1, 2, 5, 12, 400])
class TestEveryDistribution:
    def test_gains_are_differences_and_never_rise(self, values, consumed):
        log_gains = values.log_gains(consumed, 12)
        assert log_gains.shape == (12,)
        gains = np.exp(log_gains)
        np.testing.assert_allclose(gains, np.diff(values.best(consumed, np.arange(13))), atol=1e-12)
        assert (np.diff(gains) <= 1e-12).all()  # h is concave

    def test_nothing_shown_is_worth_nothing(self, values, consumed):
        assert float(values.best(consumed, 0)) == 0.0
        assert values.log_gains(consumed, 0).shape == (0,)

    def test_all_are_taken_if_there_are_few(self, values, consumed):
        few = np.arange(min(consumed, 12) + 1)
        np.testing.assert_allclose(values.best(consumed, few), values.best(1000, few), atol=1e-12)

    def test_shape_of_items_is_kept(self, values, consumed):
        table = values.best(consumed, [[0, 1, 2], [3, 4, 5]])
        np.testing.assert_allclose(table.ravel(), values.best(consumed, np.arange(6)), rtol=1e-12)
        assert table.shape == (2, 3)


def test_large_pools_are_like_independent_draws():
    """And in small ones the best is found sooner."""
    levels = [0.2, 0.5, 1.0]
    drawn = Discrete(levels).best(2, np.arange(4))
    copies = FinitePool(np.repeat(levels, 2000)).best(2, np.arange(4))
    np.testing.assert_allclose(copies, drawn, atol=1e-3)
    assert (FinitePool(levels).best(1, np.arange(2, 4)) > Discrete(levels).best(1, np.arange(2, 4))).all()


def test_long_gains_of_densities():
    a = np.arange(20_000)
    np.testing.assert_allclose(Uniform().log_gains(1, 20_000), -np.log((a + 1.0) * (a + 2.0)), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(np.exp(Pareto(3).log_gains(1, 20_000)).sum(), Pareto(3).best(1, 20_000), rtol=1e-9)


def test_tiny_gains_keep_their_digits():
    """What a difference of sums would round to 0."""
    log_gains = Bernoulli(0.3).log_gains(1, 20_001)
    assert log_gains[20_000] == pytest.approx(math.log(0.3) + 20_000 * math.log(0.7), rel=1e-11)
    assert (np.diff(Bernoulli(0.3).log_gains(3, 3000))[3:] < 0).all()


def test_blocks_of_levels_add_up(monkeypatch):
    values = Discrete(np.random.default_rng(0).random(50))
    whole = values.log_gains(3, 20)
    monkeypatch.setattr("accordant.slates.consumption.trials.CHANCES", 100)
    np.testing.assert_allclose(values.log_gains(3, 20), whole, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BoundedBeta(0), "shape is 0; allowed: a finite number above 0"),
        (lambda: Exponential(math.nan), "mean is nan"),
        (lambda: Pareto(1), "tail is 1; allowed: a finite number above 1"),
        (lambda: Bernoulli(0), "chance is 0; allowed: above 0, at most 1"),
        (lambda: Bernoulli(1.1), "chance is 1.1"),
        (lambda: Discrete([]), r"levels have shape \(0,\)"),
        (lambda: Discrete([-1.0, 2.0]), "levels hold -1.0; allowed: finite numbers of at least 0"),
        (lambda: Discrete([1.0, 2.0], [0.5, 0.4]), "probabilities sum to 0.9; allowed: 1"),
        (lambda: Discrete([1.0, 2.0], [1.0]), r"probabilities have shape \(1,\)"),
        (lambda: Discrete([[1.0]]), r"levels have shape \(1, 1\)"),
        (lambda: Discrete(["low"]), "levels are no array of numbers"),
        (lambda: FinitePool([1.0, math.nan]), "values hold nan"),
        (lambda: RankedChances(-1), "decay is -1"),
        (lambda: RankedChances(math.inf), "decay is inf"),
        (lambda: RankedChances(400.0, 1e-3, -0.9), "the first item pleases with chance inf"),
        (lambda: Exponential(1e308), r"mean is 1e\+308; allowed: at most 1e\+280"),
        (lambda: Discrete([1e308, 1.0]), r"levels hold 1e\+308; allowed: at most 1e\+280"),
        (lambda: FinitePool([1e308]), r"values hold 1e\+308"),
        (lambda: RankedChances(1, 2.0), "the first item pleases with chance 2"),
        (lambda: RankedChances(1, 1.0, -1.0), "offset is -1"),
        (lambda: FinitePool([1.0]).best(1, 2), "items go up to 2; allowed: at most the 1 of the pool"),
        (lambda: Uniform().best(0, 1), "consumed is 0; allowed: a whole number of at least 1"),
        (lambda: Uniform().best(1, -1), "items are -1"),
        (lambda: Uniform().best(1, 1.5), "items are 1.5; allowed: whole numbers of at least 0"),
        (lambda: Bernoulli(0.5).log_gains(True, 3), "consumed is True"),
        (lambda: Pareto(2).log_gains(1, -1), "items is -1"),
    ],
)
def test_wrong_input(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_the_uniform_distribution_has_no_other_shape():
    with pytest.raises(TypeError):
        Uniform(3.0)
    assert Uniform().shape == 1.0
    assert Uniform() == Uniform()


def test_large_values_are_summed_without_overflow():
    for values in (Exponential(1e280), Discrete([0.0, 1e280]), FinitePool([1e280] * 10)):
        assert np.isfinite(values.best(5, np.arange(11))).all()
        assert (values.log_gains(5, 10) < np.inf).all()


@pytest.mark.parametrize("consumed", [1, 3])
def test_gains_of_tiny_chances_keep_their_logarithms(consumed):
    values = RankedChances(400.0, 0.5)
    gains = values.log_gains(consumed, 10)
    assert np.isfinite(gains).all()
    expected = np.log(0.5) - 400.0 * np.log(np.arange(1, 11))
    first = np.log(0.5) if consumed == 1 else 0.0  # the first item may have pleased already; no other does
    np.testing.assert_allclose(gains[1:], expected[1:] + first, rtol=1e-12)
    assert float(values.best(consumed, 10)) == pytest.approx(0.5)


@pytest.mark.long
def test_importing_is_light():
    code = "import sys, accordant.slates.consumption; print([m for m in ('scipy', 'sklearn', 'pandas') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
