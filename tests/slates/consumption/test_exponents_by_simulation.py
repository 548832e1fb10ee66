"""The table of exponents from drawn values: no closed form of h, and none of the theorems, is used on the way.

p = (.6, .3, .1). Best slates of simulated gains are compared with the exact best slates, and the slope of log shares
with γ of the theorem. The tolerances are some three times what other seeds show.
"""

import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.slates.consumption import (
    Bernoulli,
    BoundedBeta,
    Discrete,
    Exponential,
    Pareto,
    Uniform,
    allocate,
    chance_shares,
    fitted_gamma,
    greedy_counts,
    limit_gamma,
)
from benchmarks.simulated_gains import drawn_gains, split_gains

WANTED = np.array((0.6, 0.3, 0.1))
LONG = 300


def uniform(generator, shape):
    return generator.random(shape)


def bounded(generator, shape):
    """Density 2 (1 − x): the smaller of two uniform draws."""
    return np.minimum(generator.random(shape), generator.random(shape))


def exponential(generator, shape):
    return generator.standard_exponential(shape)


def pareto(generator, shape):
    return 1.0 + generator.pareto(3.0, shape)


def bernoulli(chance):
    return lambda generator, shape: (generator.random(shape) < chance).astype(float)


def slate(gains, items):
    gains = gains if isinstance(gains, list) else [gains] * 3
    return greedy_counts([np.log(p) + each for p, each in zip(WANTED, gains, strict=True)], items)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("sampler", "values", "gamma"),
    [
        (uniform, Uniform(), 1 / 2),
        (bounded, BoundedBeta(2), 2 / 3),
        (exponential, Exponential(), 1.0),
        (pareto, Pareto(3), 3 / 2),
    ],
)
@pytest.mark.parametrize("consumed", [1, 3])
def test_exponents(sampler, values, gamma, consumed):
    gains = drawn_gains(sampler, consumed, LONG, np.random.default_rng(0))
    counts = slate(gains, LONG)
    assert limit_gamma(values, consumed) == pytest.approx(gamma)
    assert fitted_gamma(WANTED, counts).gamma == pytest.approx(gamma, abs=0.09)
    np.testing.assert_allclose(counts / LONG, allocate(WANTED, values, LONG, consumed).shares, atol=0.02)


@pytest.mark.parametrize("sampler", [uniform, pareto])
def test_all_consumed_is_the_likeliest_alone(sampler):
    gains = drawn_gains(sampler, 40, 40, np.random.default_rng(1), rows=200)
    assert slate(gains, 40).tolist() == [40, 0, 0]


def test_bernoulli():
    few = split_gains(bernoulli(0.3), 10, np.random.default_rng(0), rows=1_000_000)
    assert slate(few, 10).tolist() == [6, 4, 0]  # the sixth of the first type beats the first of the third by 1 %
    many = split_gains(bernoulli(0.3), 200, np.random.default_rng(0))
    np.testing.assert_allclose(slate(many, 200) / 200, (0.345, 0.335, 0.320), atol=0.011)
    assert fitted_gamma(WANTED, slate(many, 200)).gamma < 0.1  # 0 in the limit


def test_type_specific_chances():
    """Theorem 3: shares ∝ 1 / log(1 / (1 − q)), whatever p."""
    chances = (0.2, 0.5, 0.8)
    gains = [split_gains(bernoulli(q), 150, np.random.default_rng(i)) for i, q in enumerate(chances)]
    np.testing.assert_allclose(slate(gains, 150) / 150, (0.68, 0.2267, 0.0933), atol=0.014)
    np.testing.assert_allclose(slate(gains, 150) / 150, chance_shares(WANTED, chances), atol=0.02)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("sampler", "values"),
    [(uniform, Uniform()), (exponential, Exponential()), (bernoulli(0.3), Bernoulli(0.3))],
    ids=["uniform", "exponential", "bernoulli"],
)
@pytest.mark.parametrize("consumed", [1, 2, 5])
def test_gains_are_the_exact_ones_but_for_chance(sampler, values, consumed):
    found = np.exp(drawn_gains(sampler, consumed, 8, np.random.default_rng(2), rows=20_000))
    np.testing.assert_allclose(found, np.exp(values.log_gains(consumed, 8)), atol=0.012)


def test_splitting_and_drawing_agree():
    split = split_gains(bernoulli(0.4), 6, np.random.default_rng(0), rows=100_000)
    np.testing.assert_allclose(np.exp(split), np.exp(Bernoulli(0.4).log_gains(1, 6)), rtol=0.03)


def test_any_sampler_will_do():
    levels = np.array([0.0, 0.2, 1.0])
    gains = drawn_gains(
        lambda generator, shape: generator.choice(levels, shape), 2, 6, np.random.default_rng(3), rows=20_000
    )
    np.testing.assert_allclose(np.exp(gains), np.exp(Discrete(levels).log_gains(2, 6)), atol=0.01)
    assert (np.diff(gains) <= 0).all()
    assert drawn_gains(uniform, 1, 0, np.random.default_rng(0)).shape == (0,)
    assert split_gains(bernoulli(0.5), 0, np.random.default_rng(0)).shape == (0,)
    worthless = drawn_gains(lambda generator, shape: np.zeros(shape), 1, 3, np.random.default_rng(0))
    assert worthless.tolist() == [-math.inf] * 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: drawn_gains(uniform, 0, 3, g), "consumed is 0"),
        (lambda g: drawn_gains(uniform, 1, -1, g), "items is -1"),
        (lambda g: drawn_gains(uniform, 1, 3, g, rows=0), "rows is 0"),
        (lambda g: drawn_gains(lambda _, shape: np.full(shape, -1.0), 1, 3, g), "a drawn value is negative"),
        (lambda g: split_gains(uniform, 3, g), "a drawn value is neither 0 nor 1"),
        (lambda g: split_gains(bernoulli(1.0), 3, g, rows=5), "all 5 draws of an item please"),
    ],
)
def test_wrong_input(call, message):
    with pytest.raises(InputError, match=message):
        call(np.random.default_rng(0))
