"""Measures of spread: the worked example to its printed digits, slow twins, and who has nothing to spread."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.measures import atkinson, gini, group_gap, jain, spread, theil, worst_mean

EXAMPLE = np.array([0.9, 0.8, 0.8, 0.5])


def test_worked_example():
    found = spread(EXAMPLE)
    assert found.n_users == 4
    assert found.mean == pytest.approx(0.75, abs=1e-12)
    assert found.std == pytest.approx(0.15, abs=1e-12)
    assert found.gini == pytest.approx(0.10, abs=1e-12)
    assert found.jain == pytest.approx(0.961538, abs=5e-7)
    assert found.theil == pytest.approx(0.021539, abs=5e-7)
    assert found.atkinson[0.5] == pytest.approx(0.011202, abs=5e-7)
    assert found.atkinson[1.0] == pytest.approx(0.023242, abs=5e-7)
    assert found.minimum == found.worst == 0.5
    assert found.value_range == pytest.approx(0.4)


def twins(a):
    """Return the definitions, written out."""
    n, mean = len(a), sum(a) / len(a)
    return {
        "gini": sum(abs(x - y) for x in a for y in a) / (2 * n * n * mean),
        "jain": sum(a) ** 2 / (n * sum(x * x for x in a)),
        "theil": sum(x / mean * math.log(x / mean) for x in a if x > 0) / n,
        "half": 1 - (sum(x**0.5 for x in a) / n) ** 2 / mean,
        "one": 1 - math.prod(a) ** (1 / n) / mean,
        "two": 1 - (0 if min(a) == 0 else n / sum(1 / x for x in a)) / mean,
    }


@pytest.mark.parametrize("seed", range(8))
def test_against_the_definitions(seed):
    rng = np.random.default_rng(seed)
    a = rng.random(int(rng.integers(2, 9)))
    if seed % 2:
        a[0] = 0.0
    twin = twins(a.tolist())
    assert gini(a) == pytest.approx(twin["gini"], abs=1e-12)
    assert jain(a) == pytest.approx(twin["jain"])
    assert theil(a) == pytest.approx(twin["theil"])
    for name, epsilon in (("half", 0.5), ("one", 1.0), ("two", 2.0)):
        assert atkinson(a, epsilon) == pytest.approx(twin[name]), epsilon


@pytest.mark.parametrize("seed", range(5))
def test_scale_and_order_do_not_matter_and_a_transfer_to_the_poorer_lowers_every_measure(seed):
    rng = np.random.default_rng(seed)
    a = np.sort(rng.random(6)) + 0.1
    closer = a.copy()
    step = (a[-1] - a[0]) / 4
    closer[0] += step
    closer[-1] -= step
    for measure in (gini, theil, lambda v: 1 - jain(v), lambda v: atkinson(v, 0.5), lambda v: atkinson(v, 1)):
        assert measure(rng.permutation(a) * 1e-200) == pytest.approx(measure(a))
        assert measure(closer) < measure(a)


def test_atkinson_is_continuous_at_one():
    for epsilon in (1 - 1e-12, 1 + 1e-12):
        assert atkinson(EXAMPLE, epsilon) == pytest.approx(atkinson(EXAMPLE, 1.0), rel=1e-9)


@pytest.mark.parametrize("values", [np.zeros(3), np.full(3, 0.1), np.array([0.7]), np.array([0.0])])
def test_equal_values_have_no_spread(values):
    found = spread(values, epsilons=(0.5, 1.0, 3.0))
    assert (found.std, found.gini, found.theil, found.jain) == (pytest.approx(0, abs=1e-15), 0.0, 0.0, 1.0)
    assert set(found.atkinson.values()) == {0.0}


def test_large_values_do_not_overflow():
    assert gini(EXAMPLE * 1e308) == pytest.approx(0.10) and jain(EXAMPLE * 1e308) == pytest.approx(0.961538, abs=5e-7)


def test_one_takes_all():
    values = np.array([0.0, 0.0, 0.0, 1.0])
    assert gini(values) == pytest.approx(0.75)
    assert jain(values) == pytest.approx(0.25)
    assert theil(values) == pytest.approx(math.log(4))
    assert atkinson(values, 0.5) == pytest.approx(0.75)
    assert atkinson(values, 1.0) == atkinson(values, 2.0) == 1.0


def test_mean_of_the_worst():
    values = np.arange(25, 0, -1.0)
    assert worst_mean(values, 0.1) == pytest.approx((1 + 2 + 0.5 * 3) / 2.5)
    assert worst_mean(values, 0.08) == pytest.approx(1.5)
    assert worst_mean(values, 0.001) == 1.0
    assert worst_mean(values, 1.0) == pytest.approx(13.0)
    with pytest.raises(InputError, match="worst_share is 0"):
        worst_mean(values, 0.0)


def test_gap_between_groups():
    assert group_gap(EXAMPLE, np.array([0, 0, 3, 3])) == pytest.approx(0.2)
    assert group_gap(-EXAMPLE, np.array([1, 0, 2, 2])) == pytest.approx(0.25)
    assert group_gap(np.array([0.5, 0.9, 0.6]), np.arange(3)) == pytest.approx(0.4)
    assert group_gap(EXAMPLE, np.zeros(4, dtype=int)) == 0.0
    with pytest.raises(InputError, match="groups has shape"):
        group_gap(EXAMPLE, np.zeros((4, 1), dtype=int))


def test_wrong_input():
    for wrong, message in (
        (np.empty(0), "no users"),
        (np.array([0.5, -0.1]), "at least 0"),
        (np.ones((2, 1)), "shape"),
    ):
        with pytest.raises(InputError, match=message):
            spread(wrong)
    with pytest.raises(InputError, match="finite"):
        gini(np.array([0.5, np.inf]))
    for epsilon in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="epsilon"):
            atkinson(EXAMPLE, epsilon)
    with pytest.raises(InputError, match="no users"):
        worst_mean(np.empty(0))
    with pytest.raises(InputError, match="no users"):
        group_gap(np.empty(0), np.empty(0, dtype=int))


def test_plain_values():
    assert json.loads(json.dumps(spread(EXAMPLE).to_json()))["atkinson"].keys() == {"0.5", "1"}
