"""Disagreement and ideal points: where they come from, how they are named, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.errors import InputError, NotFittedError, UnknownNameError
from accordant.utilities import ExpectedRewards


def test_global_points_come_from_training_contexts_only(example):
    seen = ExpectedRewards(
        [[[0.1, 0.5], [0.2, 0.9]], [[0.3, 0.3], [0.4, 0.4]], [[0.0, 0.2], [0.6, 1.0]]],
        stakeholders=["i1", "i2", "i3"],
        actions=["b1", "b2"],
    )
    rule = strategies.create("kalai_smorodinsky", {"disagreement": "global", "ideal": "global"})
    fitted = rule.fit(seen)
    assert fitted.training_range == ((0.1, 0.3, 0.0), (0.9, 0.4, 1.0))
    assert rule.training_range is None  # fit returns a copy
    quantities = fitted(example).quantities
    np.testing.assert_allclose(quantities["disagreement"][:, 0], [0.1, 0.3, 0.0])
    np.testing.assert_allclose(quantities["ideal"][:, 0], [0.9, 0.4, 1.0])


@pytest.mark.parametrize(("name", "parameters"), [
    ("kalai_smorodinsky", {"disagreement": "global"}),
    ("kalai_smorodinsky", {"ideal": "global"}),
    ("nash_bargaining", {"disagreement": "global"}),
    ("compromise_programming", {"ideal": "global"}),
])  # fmt: skip
def test_global_points_need_fit(example, name, parameters):
    with pytest.raises(NotFittedError, match="call fit"):
        strategies.create(name, parameters)(example)


def test_global_points_need_a_context(example):
    with pytest.raises(InputError, match="at least one training context"):
        strategies.create("nash_bargaining", {"disagreement": "global"}).fit(example.take(slice(0, 0)))


def test_status_quo_is_filled_from_the_problem(example, problem):
    rule = strategies.create("nash_bargaining", {"disagreement": "status_quo"})
    with pytest.raises(InputError, match="needs the parameter status_quo"):
        rule(example)
    filled = rule.for_problem(problem)
    assert filled.status_quo == "a3"
    np.testing.assert_allclose(filled(example).quantities["disagreement"][:, 0], [0.3, 0.5, 0.35])
    given = strategies.create("nash_bargaining", {"disagreement": "status_quo", "status_quo": "a1"})
    assert given.for_problem(problem).status_quo == "a1"


def test_status_quo_needs_a_declaration(problem):
    rule = strategies.create("nash_bargaining", {"disagreement": "status_quo"})
    with pytest.raises(InputError, match="the problem declares no status_quo"):
        rule.for_problem(problem.replace(status_quo=None))


def test_unknown_status_quo(example):
    rule = strategies.create("nash_bargaining", {"disagreement": "status_quo", "status_quo": "A1"})
    with pytest.raises(UnknownNameError, match="did you mean 'a1'"):
        rule(example)


def test_defaults_follow_the_declared_status_quo(problem):
    labels = [rule.label for rule in strategies.defaults_for(problem)]
    assert labels == [
        "utilitarian", "maximin", "nash_social_welfare", "nash_bargaining[status_quo]",
        "kalai_smorodinsky[status_quo]", "compromise_programming[context]",
    ]  # fmt: skip
    open_problem = problem.replace(status_quo=None)
    assert {rule.label for rule in strategies.defaults_for(open_problem)} >= {"kalai_smorodinsky[context]"}


def test_weights_come_from_the_problem_unless_given(problem):
    weighted = problem.replace(stakeholders=[{"name": "i1", "weight": 3}, "i2", {"name": "i3", "weight": 0}])
    assert strategies.utilitarian.for_problem(weighted).weights == (3.0, 1.0, 0.0)
    given = strategies.create("utilitarian", {"weights": [1, 1, 1]}).for_problem(weighted)
    assert given.weights == (1, 1, 1)


# Two rules that decide differently must not share a name in a table.
@pytest.mark.parametrize(("parameters", "label"), [
    ({}, "context"),
    ({"disagreement": "status_quo"}, "status_quo"),
    ({"disagreement": "global"}, "global, context"),
    ({"disagreement": "global", "ideal": "global"}, "global"),
    ({"disagreement": 0.0}, "declared, context"),
    ({"disagreement": 0.0, "ideal": 1.0}, "declared"),
    ({"ideal": "global"}, "context, global"),
    ({"disagreement": "status_quo", "ideal": 1.0}, "status_quo, declared"),
])  # fmt: skip
def test_labels_tell_modes_apart(parameters, label):
    assert strategies.create("kalai_smorodinsky", parameters).label == f"kalai_smorodinsky[{label}]"


def test_label_with_temperature():
    rule = strategies.create("kalai_smorodinsky", {"selection": "softmax", "temperature": 0.1})
    assert rule.label == "kalai_smorodinsky[context][softmax 0.1]"


@pytest.mark.parametrize("point", [np.nan, np.inf, None, "0.2", [[0.1]], ["a"], [0.1, None]])
def test_wrong_points(point):
    with pytest.raises(InputError, match="disagreement"):
        strategies.create("nash_bargaining", {"disagreement": point})


def test_misspelt_mode():
    with pytest.raises(UnknownNameError, match="did you mean 'status_quo'"):
        strategies.create("nash_bargaining", {"disagreement": "statusquo"})


def test_declared_points_need_one_number_per_stakeholder(example):
    with pytest.raises(InputError, match="2 reference points were declared for 3 stakeholders"):
        strategies.create("nash_bargaining", {"disagreement": [0.1, 0.2]})(example)


@pytest.mark.parametrize("point", [0.25, np.float32(0.25), np.array(0.25), [0.25] * 3, np.full(3, 0.25)])
def test_declared_points_in_any_numeric_form(example, point):
    rule = strategies.create("nash_bargaining", {"disagreement": point})
    np.testing.assert_allclose(rule(example).quantities["disagreement"][:, 0], [0.25] * 3)
    assert isinstance(rule.disagreement, float | tuple)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("compromise_programming", {"disagreement": "status_quo"}), ("nash_bargaining", {"ideal": 1.0})],
)
def test_a_point_without_effect_is_refused(name, parameters):
    with pytest.raises(InputError, match="would have no effect"):
        strategies.create(name, parameters)
