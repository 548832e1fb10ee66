"""Group effects at equal acuity: against every label assignment, and when nothing can be said."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.allocations import Allocation
from accordant.allocations.measures import conditional_disparity
from accordant.errors import InputError


def wards(small, sexes, acuities, granted):
    facts = [{"sex": sex, "acuity": acuity} for sex, acuity in zip(sexes, acuities, strict=True)]
    scenario = small.build([[1]] * len(sexes), [len(granted)], facts=facts)
    return scenario, Allocation.whole(scenario, [f"p{i:03d}" for i in granted])


def slow_disparity(sexes, acuities, shares):
    """Largest minus smallest mean residual of a group, in plain Python."""
    residuals = {}
    for level in set(acuities):
        members = [i for i, each in enumerate(acuities) if each == level]
        if len({sexes[i] for i in members}) > 1:
            mean = sum(shares[i] for i in members) / len(members)
            for i in members:
                residuals.setdefault(sexes[i], []).append(shares[i] - mean)
    effects = [sum(each) / len(each) for each in residuals.values()]
    return max(effects) - min(effects)


def exact_p(sexes, acuities, shares):
    """Share of all label assignments within strata with at least the observed disparity."""
    strata = [[i for i, each in enumerate(acuities) if each == level] for level in sorted(set(acuities))]
    observed, counts = slow_disparity(sexes, acuities, shares), []
    for orders in itertools.product(*(itertools.permutations(members) for members in strata)):
        labels = list(sexes)
        for members, order in zip(strata, orders, strict=True):
            for to, source in zip(members, order, strict=True):
                labels[to] = sexes[source]
        counts.append(slow_disparity(labels, acuities, shares) >= observed - 1e-12)
    return sum(counts) / len(counts)


@pytest.mark.parametrize(
    ("sexes", "acuities", "granted"),
    [
        ("ffmm", [1, 1, 1, 1], [0, 1]),
        ("ffmmfm", [1, 1, 1, 1, 2, 2], [0, 1, 4]),
        ("fmfmxx", [1, 1, 1, 2, 2, 2], [0, 2, 3]),
    ],
)
def test_p_value_is_that_of_all_assignments(small, sexes, acuities, granted):
    scenario, allocation = wards(small, sexes, acuities, granted)
    shares = allocation.shares.tolist()
    found = conditional_disparity(scenario, allocation, "sex", np.random.default_rng(0), 20_000)
    assert found.disparity == pytest.approx(slow_disparity(sexes, acuities, shares))
    assert found.p_value == pytest.approx(exact_p(sexes, acuities, shares), abs=0.015)


def test_worked_example(small):
    """Acuity 1: f granted, m not; acuity 2: both f and no m of two; acuity 3 holds m alone and says nothing."""
    scenario, allocation = wards(small, "fmfmm", [1, 1, 2, 2, 3], [0, 2])
    found = conditional_disparity(scenario, allocation, "sex", np.random.default_rng(0), 999)
    assert found.disparity == 1.0
    assert found.effects == {'"f"': 0.5, '"m"': -0.5}
    assert (found.claimants, found.strata, found.permutations) == (4, 2, 999)
    assert found.p_value == pytest.approx(0.5, abs=0.05)  # f, f or m, m of four equally likely assignments


def test_difference_in_acuity_alone_is_no_disparity(small):
    """All of acuity 1 are granted, and most of them are f: the access of groups differs, at equal acuity it does not."""
    scenario, allocation = wards(small, "fffmfmmm", [1, 1, 1, 1, 2, 2, 2, 2], [0, 1, 2, 3])
    found = conditional_disparity(scenario, allocation, "sex", np.random.default_rng(0), 99)
    assert found.disparity == 0
    assert found.p_value == 1.0


def test_observed_assignment_counts(small):
    scenario, allocation = wards(small, "f" * 10 + "m" * 10, [1] * 20, range(10))
    found = conditional_disparity(scenario, allocation, "sex", np.random.default_rng(1), 99)
    assert found.p_value == 1 / 100


def test_none_if_no_stratum_holds_two_groups(small):
    for sexes, acuities in (("ffmm", [1, 1, 2, 2]), ("f", [1]), ("ff", [1, 1])):
        scenario, allocation = wards(small, sexes, acuities, [0])
        assert conditional_disparity(scenario, allocation, "sex", np.random.default_rng(0)) is None


@given(st.integers(0, 500))
@settings(max_examples=20, deadline=None)
def test_valid_and_the_same_for_the_same_seed(small, seed):
    scenario = small.ward(seed=seed)
    allocation = Allocation.whole(scenario, scenario.ids[:5])
    first, second = (conditional_disparity(scenario, allocation, "sex", np.random.default_rng(1), 49) for _ in "ab")
    assert first == second
    if first is not None:
        assert 1 / 50 <= first.p_value <= 1
        assert 0 <= first.disparity < 2


def test_refused(small):
    scenario, allocation = wards(small, "fm", [1, 1], [0])
    for permutations in (0, -1, True, 2.5, 99.0):
        with pytest.raises(InputError, match="permutations is .*; allowed: at least 1, a whole number"):
            conditional_disparity(scenario, allocation, "sex", np.random.default_rng(0), permutations)
    _, other = wards(small, "fmm", [1, 1, 1], [0])
    with pytest.raises(InputError, match="is for the scenario 'scenario' of 3 patients"):
        conditional_disparity(scenario, other, "sex", np.random.default_rng(0))
    with pytest.raises(InputError, match="unknown fact 'age'"):
        conditional_disparity(scenario, allocation, "age", np.random.default_rng(0))
