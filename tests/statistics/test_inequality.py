"""Indices of inequality against their definitions, and their axioms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.statistics import atkinson, gini, jain, theil

SOME = st.lists(st.floats(0, 1e6), min_size=1, max_size=8).filter(lambda values: max(values) > 1e-3)
INDICES = {
    "gini": gini, "theil": theil, "atkinson 0.5": lambda values: atkinson(values, 0.5),
    "atkinson 1": lambda values: atkinson(values, 1.0), "atkinson 3": lambda values: atkinson(values, 3.0),
    "1 - jain": lambda values: 1 - jain(values),
}  # fmt: skip


@given(SOME)
def test_gini_is_the_mean_difference_of_pairs(values):
    x = np.array(values)
    assert gini(x) == pytest.approx(np.abs(x[:, None] - x).sum() / (2 * len(x) * x.sum()), abs=1e-12)


@given(SOME)
def test_theil_is_the_mean_of_shares_times_their_logarithm(values):
    share = np.array(values) / np.mean(values)
    assert theil(np.array(values)) == pytest.approx(sum(s * np.log(s) for s in share if s > 0) / len(share), abs=1e-9)


@given(SOME, st.sampled_from([0.3, 0.5, 1.0, 2.0, 7.0]))
def test_atkinson_is_one_less_the_equally_distributed_equivalent(values, epsilon):
    x = np.array(values)
    if epsilon >= 1 and not x.min() > 0:
        assert atkinson(x, epsilon) == 1
        return
    if epsilon > 1 and x.min() < 1e-6 * x.max():
        return  # the powers of the plain formula overflow
    power = 1 - epsilon
    equal = np.exp(np.log(x).mean()) if epsilon == 1 else np.mean(x**power) ** (1 / power)
    assert atkinson(x, epsilon) == pytest.approx(1 - equal / x.mean(), abs=1e-9)


@given(SOME)
def test_jain_is_the_square_of_the_sum_over_n_sums_of_squares(values):
    x = np.array(values)
    assert jain(x) == pytest.approx(x.sum() ** 2 / (len(x) * (x**2).sum()), rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("name", INDICES)
@given(values=SOME, unit=st.floats(1e-3, 1e3), seed=st.integers(0, 99))
def test_units_and_names_do_not_matter_and_a_transfer_to_the_poorer_never_adds(name, values, unit, seed):
    index, x = INDICES[name], np.array(values)
    assert index(x * unit) == pytest.approx(index(x), abs=1e-9)
    assert index(np.random.default_rng(seed).permutation(x)) == pytest.approx(index(x), abs=1e-9)
    rich, poor = int(x.argmax()), int(x.argmin())
    level = x.copy()
    level[[rich, poor]] = (x[rich] + x[poor]) / 2
    assert index(level) <= index(x) + 1e-9  # Pigou and Dalton


@pytest.mark.parametrize("name", INDICES)
def test_rows_are_apart_and_zeros_alone_say_nothing(name):
    x = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0], [0.0, 0.0, 0.0], [0.0, 0.0, 4.0]])
    found = INDICES[name](x)
    assert found.shape == (4,) and np.isnan(found[2])
    assert found[1] == pytest.approx(0, abs=1e-12)
    assert found[[0, 3]] == pytest.approx([float(INDICES[name](x[0])), float(INDICES[name](x[3]))])


def test_gini_leaves_unknown_numbers_out():
    assert gini(np.array([1.0, np.nan, 3.0])) == gini(np.array([1.0, 3.0])) == 0.25
    assert np.isnan(gini(np.array([np.nan, np.nan])))


def test_extreme_aversion_does_not_overflow():
    assert atkinson(np.array([1e-300, 1.0]), 100.0) == pytest.approx(1.0)
    huge = np.array([1e308, 1e308, 1.5e308])
    assert max(atkinson(huge, 0.5), gini(huge), theil(huge), 1 - jain(huge)) < 0.2
