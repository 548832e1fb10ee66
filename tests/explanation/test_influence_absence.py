"""What a rule decides without somebody: weight 0, and the row of E taken away, are the same decision."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.explanation.influence.absence import drop, neutralise, weights_of, with_positive_weight, with_weights
from accordant.utilities import ExpectedRewards

from .conftest import ALL_RULES, STAKEHOLDERS, WITH_WEIGHTS, make_expected, make_known, make_rule

BEN = np.array([False, True, False])


def without_row(rule, expected, i):
    """The slow twin: take the row of E away, and every parameter that belongs to it."""
    keep = [k for k in range(len(expected.stakeholders)) if k != i]
    changed = {}
    for name in ("weights", "disagreement", "ideal", "floor", "multipliers"):
        value = getattr(rule, name, None)
        if isinstance(value, tuple):
            changed[name] = tuple(value[k] for k in keep)
    if getattr(rule, "training_range", None) is not None:
        changed["training_range"] = tuple(tuple(end[k] for k in keep) for end in rule.training_range)
    names = [expected.stakeholders[k] for k in keep]
    rest = ExpectedRewards(expected.values[keep], stakeholders=names, actions=expected.actions)
    return dataclasses.replace(rule, **changed)(rest).codes


LEARNED_POINTS = {"compromise_programming": {"ideal": "global"}, "relative_utilitarian": {"disagreement": "global"}}


@pytest.mark.few(4)
@pytest.mark.parametrize("grid", [None, 4])
@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_weight_0_is_the_same_as_no_row(name, grid):
    expected = make_expected(200, grid=grid)
    for parameters in ({}, {"weights": (0.5, 1.0, 0.25)}, LEARNED_POINTS.get(name, {})):
        rule = make_rule(name, parameters, expected)
        for i in range(3):
            changed, given = drop(rule, expected, np.arange(3) == i)
            np.testing.assert_array_equal(changed(given).codes, without_row(rule, expected, i))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("kalai_smorodinsky", {"disagreement": (0.1, 0.2, 0.0), "ideal": (0.9, 1.0, 0.8)}),
        ("sufficientarian", {"floor": (0.2, 0.5, 0.7)}),
    ],
)
def test_parameters_by_stakeholder_go_with_the_row(name, parameters):
    expected = make_expected(200)
    rule = make_rule(name, parameters)
    for i in range(3):
        changed, given = drop(rule, expected, np.arange(3) == i)
        np.testing.assert_array_equal(changed(given).codes, without_row(rule, expected, i))


def test_constraints_of_the_dropped_go_and_the_others_stay():
    expected = make_expected(200)
    rule = make_rule("constrained", {"rule": "utilitarian", "floors": 0.4, "vetoes": {"Ben": "worst"}})
    changed, given = drop(rule, expected, BEN)
    twin = make_rule("constrained", {"rule": "utilitarian", "floors": {"Ann": 0.4, "Cem": 0.4}})
    rest = ExpectedRewards(expected.values[[0, 2]], stakeholders=("Ann", "Cem"), actions=expected.actions)
    np.testing.assert_array_equal(changed(given).codes, twin(rest).codes)
    assert (changed(given).codes != rule(expected).codes).any()


def test_dropped_stakeholders_break_no_ties_of_a_constrained_vote():
    values = np.array([[[0.5], [0.5]], [[0.1], [0.9]], [[0.5], [0.5]]])
    expected = ExpectedRewards(values, stakeholders=STAKEHOLDERS, actions=("red", "green"))
    rule = make_rule("constrained", {"rule": "plurality", "floors": 0.0})
    changed, given = drop(rule, expected, BEN)
    assert rule(expected).actions[0] == "green"
    assert changed(given).actions[0] == "red"


@pytest.mark.parametrize(
    ("name", "parameters", "gone", "message"),
    [
        ("stakeholder", None, [1], "asks nobody but 'Ben'"),
        ("generalised_gini", {"order_weights": (3.0, 2.0, 1.0)}, [0], "declares a weight for every rank"),
        ("utilitarian", {"weights": (1.0, 0.0, 0.0)}, [0], "without Ann nobody has weight"),
        ("maximin", {}, [0, 1, 2], "without Ann, Ben, Cem nobody has weight"),
    ],
)
def test_dropping_that_means_nothing_is_refused(name, parameters, gone, message):
    absent = np.isin(np.arange(3), gone)
    with pytest.raises(InputError, match=message):
        drop(make_rule(name, parameters), make_expected(2), absent)


def test_dropping_whom_no_rank_belongs_to_is_allowed():
    expected = make_expected(30)
    rule = make_rule("generalised_gini", {"order_weights": (3.0, 1.0), "weights": (1.0, 0.0, 1.0)})
    changed, given = drop(rule, expected, BEN)
    np.testing.assert_array_equal(changed(given).codes, rule(expected).codes)


@pytest.mark.few(18)
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_without_a_say_nothing_changes(name, parameters):
    """Whoever has no say cannot change a decision, except where a tie is broken by everybody."""
    expected = make_expected(60)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    other = make_expected(60, seed=9)
    mute = ~with_positive_weight(rule, STAKEHOLDERS)
    values = np.where(mute[:, None, None], other.values, expected.values)
    changed = ExpectedRewards(values, stakeholders=STAKEHOLDERS, actions=expected.actions)
    before, after = (rule(each, **known.arguments(slice(None))).codes for each in (expected, changed))
    np.testing.assert_array_equal(before, after)


def test_who_has_a_say():
    for name, parameters, say in [
        ("utilitarian", {"weights": (1, 0, 2)}, [True, False, True]),
        ("stakeholder", None, [False, True, False]),
        ("constant", None, [False, False, False]),
        ("constrained", {"rule": "stakeholder", "floors": {"Cem": 0.1}}, [False, True, True]),
        ("constrained", {"rule": {"name": "borda", "parameters": {"weights": [0, 0, 1]}}, "floors": 0.1}, [True] * 3),
    ]:
        assert with_positive_weight(make_rule(name, parameters), STAKEHOLDERS).tolist() == say


def test_neutral_is_the_mean_of_the_actions_and_nothing_else_moves():
    expected = make_expected(5)
    found = neutralise(expected, BEN).values
    np.testing.assert_array_equal(found[[0, 2]], expected.values[[0, 2]])
    for t in range(5):
        np.testing.assert_allclose(found[1, :, t], sum(expected.values[1, :, t]) / 3)
        assert len(set(found[1, :, t])) == 1
    assert neutralise(expected, ~BEN & BEN) is expected
    single = ExpectedRewards(expected.values.astype(np.float32), stakeholders=STAKEHOLDERS, actions=expected.actions)
    assert neutralise(single, BEN).values.dtype == np.float32


def test_weights_are_those_of_the_constrained_rule():
    rule = make_rule("constrained", {"rule": "maximin", "floors": 0.1})
    assert weights_of(rule, 3).tolist() == [1, 1, 1]
    assert weights_of(with_weights(rule, (1, 2, 3)), 3).tolist() == [1, 2, 3]
    assert weights_of(make_rule("stakeholder"), 3) is None
    assert weights_of(make_rule("constrained", {"rule": "stakeholder", "floors": 0.1}), 3) is None
