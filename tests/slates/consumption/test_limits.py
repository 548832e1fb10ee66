"""The theorems on long slates: the table of shares, approach with increasing n, and what no theorem covers."""

import math

import numpy as np
import pytest

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
    chance_shares,
    homogeneous_shares,
    limit_gamma,
)

WANTED = (0.6, 0.3, 0.1)
LONG = 20_000
UNEQUAL = [Bernoulli(0.2), Bernoulli(0.5), Bernoulli(0.8)]


@pytest.mark.parametrize(
    ("values", "items", "consumed", "shares", "limit"),
    [
        (Uniform(), LONG, 1, (0.4728, 0.3343, 0.1930), (0.4727, 0.3343, 0.1930)),
        (BoundedBeta(2), LONG, 1, (0.5174, 0.3260, 0.1567), (0.5174, 0.3259, 0.1567)),
        (Exponential(), LONG, 1, (0.6, 0.3, 0.1), (0.6, 0.3, 0.1)),
        (Pareto(3), LONG, 1, (0.7035, 0.2487, 0.0478), (0.7034, 0.2487, 0.0479)),
        (Bernoulli(0.3), 200, 1, (0.345, 0.335, 0.320), (1 / 3, 1 / 3, 1 / 3)),
        (Bernoulli(0.3), 10, 1, (0.6, 0.4, 0), (1 / 3, 1 / 3, 1 / 3)),
        (Uniform(), LONG, None, (1, 0, 0), (1, 0, 0)),
        (Pareto(3), LONG, None, (1, 0, 0), (1, 0, 0)),
    ],
)
def test_table_of_shares(values, items, consumed, shares, limit):
    # shares are printed to four digits: n is divisible by 10⁴ or small, so half a digit is the most rounding makes
    np.testing.assert_allclose(allocate(WANTED, values, items, consumed).shares, shares, rtol=0, atol=5.1e-5)
    np.testing.assert_allclose(homogeneous_shares(WANTED, limit_gamma(values, consumed)), limit, rtol=0, atol=5.1e-5)


def test_unequal_chances():
    assert allocate(WANTED, UNEQUAL, 150).counts.tolist() == [102, 34, 14]
    np.testing.assert_allclose(chance_shares(WANTED, (0.2, 0.5, 0.8)), (0.6847, 0.2204, 0.0949), atol=5.1e-5)
    # independent of the probabilities
    np.testing.assert_allclose(chance_shares((0.1, 0.1, 0.8), (0.2, 0.5, 0.8)), (0.6847, 0.2204, 0.0949), atol=5.1e-5)
    np.testing.assert_allclose(allocate((0.1, 0.1, 0.8), UNEQUAL, LONG).shares, (0.6847, 0.2204, 0.0949), atol=1e-3)
    everything = chance_shares(WANTED, (0.2, 0.5, 0.8), consumed=None)
    np.testing.assert_array_equal(everything, allocate(WANTED, UNEQUAL, 50, None).shares)
    assert everything.tolist() == [0, 1, 0]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("values", "consumed"),
    [
        (Uniform(), 1),
        (Uniform(), 4),
        (BoundedBeta(2), 1),
        (BoundedBeta(0.5), 3),
        (Exponential(), 1),
        (Exponential(2), 3),
        (Pareto(3), 1),
        (Pareto(1.5), 2),
        (Bernoulli(0.3), 1),
        (Bernoulli(0.3), 3),
        (Discrete([0.1, 0.5, 2.0], [0.5, 0.4, 0.1]), 2),
        (RankedChances(0.5, 0.5), 1),
        (RankedChances(0.0, 0.3), 1),
        (RankedChances(1.0, 0.5), 1),
        (RankedChances(1.0, 1.5, 2.0), 1),
        (RankedChances(2.0, 0.5, 1.0), 1),
        (RankedChances(2.0, 1.0), None),
        (RankedChances(0.5, 0.7), None),
        (RankedChances(0.0, 0.7), None),
    ],
)
def test_shares_approach_the_limit(values, consumed):
    limit = homogeneous_shares(WANTED, limit_gamma(values, consumed))
    errors = [np.abs(allocate(WANTED, values, n, consumed).shares - limit).max() for n in (60, 600, 6000)]
    assert errors[2] < 0.016
    assert errors[2] < 0.35 * errors[0] or errors[0] < 1e-3


def test_uniform_is_within_its_bound():
    """The error for U[0, 1] and k = 1 is at most (2 m + 1) / n."""
    rng = np.random.default_rng(0)
    for m in (1, 2, 5, 20):
        p = rng.dirichlet(np.ones(m))
        for n in (m, 10 * m, 1000):
            error = np.abs(allocate(p, Uniform(), n).shares - homogeneous_shares(p, 0.5)).max()
            assert error <= (2 * m + 1) / n


def test_every_gamma_is_attained():
    for gamma in (0.0, 0.2, 0.5, 0.9):
        values = BoundedBeta(gamma / (1 - gamma)) if gamma else Bernoulli(0.5)
        assert limit_gamma(values) == pytest.approx(gamma)
    assert limit_gamma(Exponential()) == 1.0
    for gamma in (1.1, 2.0, 9.0):
        assert limit_gamma(Pareto(gamma / (gamma - 1))) == pytest.approx(gamma)


class TestTable:
    def test_theorem_one(self):
        assert limit_gamma(Uniform(), 7) == 0.5
        assert limit_gamma(BoundedBeta(2)) == pytest.approx(2 / 3)
        assert limit_gamma(Pareto(3)) == 1.5
        assert limit_gamma(Discrete([1, 2]), 3) == 0.0
        assert limit_gamma(Bernoulli(0.3)) == 0.0
        for values in (Uniform(), Exponential(), Pareto(3), Bernoulli(0.3), Bernoulli(1.0), Discrete([1, 2])):
            assert limit_gamma(values, None) == math.inf

    def test_theorem_two(self):
        assert limit_gamma(RankedChances(0.3, 0.5)) == 0.0
        assert limit_gamma(RankedChances(1, 0.5)) == pytest.approx(2 / 3)
        assert limit_gamma(RankedChances(4, 0.5)) == 0.25
        assert limit_gamma(RankedChances(4), None) == 0.25
        assert limit_gamma(RankedChances(0, 0.5), None) == math.inf

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: limit_gamma(FinitePool([1.0])), "values are FinitePool; the theorems cover: Uniform"),
            (lambda: limit_gamma(Bernoulli(1.0)), "values are always the same"),
            (lambda: limit_gamma(Discrete([2.0, 2.0])), "values are always the same"),
            (lambda: limit_gamma(Discrete([2.0] * 10)), "values are always the same"),
            (lambda: limit_gamma(Uniform(), 0), "consumed is 0"),
            (lambda: limit_gamma(RankedChances(2, 0.5), 2), "consumed is 2; theorem 2 covers: 1, None"),
            (lambda: limit_gamma(RankedChances(2)), "the first item always pleases"),
            (lambda: homogeneous_shares(WANTED, -1), "gamma is -1"),
            (lambda: homogeneous_shares(WANTED, math.nan), "gamma is nan"),
            (lambda: chance_shares(WANTED, (0.5, 0.5)), "chances are"),
            (lambda: chance_shares(WANTED, (0.5, 0.5, 0)), "chances are"),
            (lambda: chance_shares(WANTED, (0.5, 0.5, 0.2), 2), "consumed is 2; theorem 3 covers: 1, None"),
            (lambda: chance_shares((1.0, 0.0), (1.0, 0.5)), "every wanted type pleases with chance 1"),
        ],
    )
    def test_what_no_theorem_covers(self, call, message):
        with pytest.raises(InputError, match=message):
            call()


class TestShares:
    def test_special_exponents(self):
        p = (0.5, 0.5, 0.0)
        assert homogeneous_shares(p, 0).tolist() == [0.5, 0.5, 0]
        assert homogeneous_shares(p, math.inf).tolist() == [0.5, 0.5, 0]
        assert homogeneous_shares((0.49, 0.51), math.inf).tolist() == [0, 1]
        np.testing.assert_allclose(homogeneous_shares(WANTED, 1), WANTED)
        np.testing.assert_allclose(homogeneous_shares(WANTED, 1e9), [1, 0, 0])

    def test_plain_formula(self):
        powers = [p**1.7 for p in WANTED]
        np.testing.assert_allclose(homogeneous_shares(WANTED, 1.7), np.array(powers) / sum(powers), rtol=1e-13)

    def test_certain_and_unwanted_types(self):
        assert chance_shares((0.5, 0.5, 0.0), (1.0, 0.5, 0.5)).tolist() == [0, 1, 0]
