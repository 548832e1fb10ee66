"""Measures of stakeholders by hand, and where nothing is defined."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.slates import measures
from accordant.statistics import gini

# two stakeholders, three items, two requests
E = np.array([[[1.0, 0.5], [0.5, 0.5], [0.0, 0.5]], [[0.0, 0.2], [0.6, 0.4], [0.8, 0.8]]])


def value(name, served, **parameters):
    return measures.create(name, parameters).of(served)


def test_by_hand(shown):
    """Lists c0 and c2: s0 attains 1 and is indifferent in the second request, s1 attains 0 and 1."""
    served = shown([[0], [2]], E)
    assert value("utility", served, stakeholder="s0") == 0.75
    assert value("utility", served, stakeholder="s1") == 0.4
    assert value("regret", served, stakeholder="s1") == 0.4
    assert value("attained", served, stakeholder="s0") == 1.0
    assert value("attained", served, stakeholder="s1") == 0.5
    assert measures.create("attained", {"stakeholder": "s0"}).requests(served) == 1
    assert value("min_attained", served) == 0.5  # 0 in the first list; s1 alone in the second
    assert value("worst_off", served) == 0.5
    assert value("mean_attained", served) == 0.75
    assert value("mean_of_means", served) == 0.75
    assert value("nash_attained", served) == 0.5
    assert value("nash_of_means", served) == pytest.approx(0.5**0.5)
    assert value("gini_attained", served) == 0.25  # 1/2 and 0
    assert value("gini_of_means", served) == pytest.approx(1 / 6)


def test_behind_by_turns_is_not_behind_again_and_again(shown):
    """Two stakeholders win one list each: nobody is behind on average, somebody is in each list."""
    turns = np.array([[[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]])
    served = shown([[0], [1]], turns)
    assert value("min_attained", served) == 0.0
    assert value("worst_off", served) == 0.5
    assert value("gini_of_means", served) == 0.0
    assert value("gini_attained", served) == 0.5
    always = shown([[0], [0]], turns)
    assert value("worst_off", always) == 0.0


def test_floors(shown):
    served = shown([[0], [2]], E, floors={"s1": 0.5})
    assert value("floor_violations", served) == 0.5
    assert value("floor_violations", served, stakeholder="s1") == 0.5
    assert math.isnan(value("floor_violations", served, stakeholder="s0"))  # has no floor
    just = shown([[0, 1], [0, 1]], E, floors={"s0": 1.0})
    assert value("floor_violations", just) == 0.0
    assert measures.create("floor_violations").requests(just) == 1  # indifferent in the other
    with pytest.raises(UnknownNameError, match="did you mean 's1'"):
        value("floor_violations", served, stakeholder="s11")


def test_floors_hold_without_a_weight(shown):
    """A right does not depend on having a say."""
    served = shown([[0], [0]], E, floors={"s1": 0.5}, weights=[1.0, 0.0])
    assert value("floor_violations", served) == 1.0
    assert value("worst_off", served) == 1.0  # s1 has no say


def test_misery_needs_a_line_and_is_below_it(shown):
    served = shown([[0], [2]], E)
    assert value("misery", served, line=0.5) == 0.5
    assert value("misery", served, line=0.0) == 0.0
    with pytest.raises(InputError, match="line"):
        measures.create("misery")
    for wrong in (1.2, -0.1, float("nan")):
        with pytest.raises(InputError, match="allowed: in"):
            measures.create("misery", {"line": wrong})


def test_rounding_breaks_no_floor(shown):
    values = np.array([[[0.1 + 0.2], [0.0], [1.0]]])
    served = shown([[0]], values, floors={"s0": 0.3 + 1e-12})
    assert value("floor_violations", served) == 0.0
    assert value("misery", served, line=0.3 + 1e-12) == 0.0
    assert value("floor_violations", shown([[0]], values, floors={"s0": 0.3001})) == 1.0


@pytest.mark.parametrize("name", ["min_attained", "mean_attained", "nash_attained", "gini_attained", "worst_off"])
def test_nobody_to_count_is_not_zero(shown, name):
    """One item, empty lists, or everybody indifferent."""
    assert math.isnan(value(name, shown([[0]], np.ones((2, 1, 1)))))
    assert math.isnan(value(name, shown([[-1], [-1]], E, available=np.zeros((3, 2), dtype=bool))))
    assert math.isnan(value(name, shown([[0]], np.full((2, 3, 1), 0.5))))


def test_empty_lists_do_not_count(shown):
    available = np.array([[True, False], [True, False], [True, False]])
    served = shown([[0], [-1]], E, available=available)
    assert value("utility", served, stakeholder="s0") == 1.0
    assert measures.create("utility", {"stakeholder": "s0"}).requests(served) == 1


def test_zero_for_all_is_no_inequality(shown):
    """The Gini coefficient of zeros is not defined, and does not count as equal."""
    served = shown([[1]], np.array([[[1.0], [0.0]], [[1.0], [0.0]]]))
    assert value("min_attained", served) == 0.0
    assert value("nash_attained", served) == 0.0
    assert math.isnan(value("gini_attained", served))
    assert math.isnan(value("gini_of_means", served))


def test_unknown_stakeholder(shown):
    served = shown([[0], [2]], E)
    for name in ("utility", "regret", "attained"):
        with pytest.raises(UnknownNameError, match="valid: s0, s1"):
            value(name, served, stakeholder="nobody")
        with pytest.raises(InputError, match="'stakeholder' is missing"):
            measures.create(name)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3))
def test_inequalities_between_measures(shown, seed, n_stakeholders, k):
    """Worst of averages ≥ average of worsts; geometric ≤ arithmetic mean; averages agree where all are defined."""
    draw = np.random.default_rng(seed)
    values = draw.random((n_stakeholders, 5, 6))
    served = shown([draw.permutation(5)[:k].tolist() for _ in range(6)], values)
    found = {name: value(name, served) for name in measures.names() if name.endswith(("attained", "_of_means", "_off"))
             and name != "attained"}  # fmt: skip
    assert found["min_attained"] <= found["worst_off"] + 1e-12
    assert found["worst_off"] <= found["nash_of_means"] + 1e-12
    assert found["nash_of_means"] <= found["mean_of_means"] + 1e-12
    assert found["nash_attained"] <= found["mean_attained"] + 1e-12
    assert found["mean_of_means"] == pytest.approx(found["mean_attained"])
    best = np.argsort(-values[0], axis=0)[:k].T
    ideal = shown(best, values)
    assert value("attained", ideal, stakeholder="s0") == pytest.approx(1.0)
    assert value("regret", ideal, stakeholder="s0") == pytest.approx(0.0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=7), st.integers(0, 3))
def test_gini(values, missing):
    """As defined, whatever is missing, and unchanged by scale and order; a transfer to the poorer lowers it."""
    found = float(gini(np.array([float(each) for each in values] + [np.nan] * missing)))
    total = sum(values)
    if not total:
        assert math.isnan(found)
        return
    right = sum(abs(a - b) for a in values for b in values) / (2 * len(values) * total)
    assert found == pytest.approx(right, abs=1e-12)
    assert 0 <= found < 1
    assert float(gini(np.array(values[::-1]) * 3.0)) == pytest.approx(found, abs=1e-12)
    low, high = min(values), max(values)
    if high - low >= 2:
        moved = sorted(values)
        moved[0], moved[-1] = low + 1, high - 1
        assert float(gini(np.array(moved, dtype=float))) < found
