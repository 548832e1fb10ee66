"""Recommendations: runner-up, margin, and the table that people get."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.decisions import Decisions
from accordant.recommendation import Recommendations
from accordant.utilities import ExpectedRewards

# section 2: three stakeholders, three actions
E = np.array([[0.70, 0.50, 0.30], [0.40, 0.60, 0.50], [0.60, 0.55, 0.35]])


def expected(values=E, actions=("a1", "a2", "a3")):
    values = np.asarray(values, dtype=float)
    return ExpectedRewards(values, stakeholders=[f"s{i}" for i in range(len(values))], actions=actions)


def of(rule, values=E, **names):
    E = expected(values, **names)
    return Recommendations.of(rule(E), E)


@pytest.mark.parametrize(
    ("rule", "chosen", "second", "margin"),
    [
        ("utilitarian", "a1", "a2", 0.566667 - 0.55),
        ("maximin", "a2", "a1", 0.1),
        ("kalai_smorodinsky", "a2", "a1", 0.5),  # a1 and a3 both score 0; a1 has the larger sum
        ("nash_bargaining", "a2", "a1", np.nan),  # somebody gains nothing from a1: no finite margin
    ],
)
def test_worked_example(rule, chosen, second, margin):
    found = of(strategies.create(rule))
    assert found.decisions.actions.tolist() == [chosen]
    assert found.runner_up.tolist() == [second]
    assert found.margin[0] == pytest.approx(margin, abs=1e-6, nan_ok=True)


def test_runner_up_against_a_slow_twin():
    generator = np.random.default_rng(0)
    values = generator.choice([0.1, 0.4, 0.8, 1.0], size=(3, 4, 300))  # many ties
    names = ("a", "b", "c", "d")
    for rule in ("utilitarian", "maximin", "nash_social_welfare", "kalai_smorodinsky"):
        found = of(strategies.create(rule), values, actions=names)
        scores, sums = found.decisions.scores, values.sum(axis=0)
        for t in range(300):
            rest = [a for a in range(4) if a != found.decisions.codes[t]]
            best = max(rest, key=lambda a: (scores[a, t], sums[a, t], -a))
            assert found.runner_up[t] == names[best]


def test_ties_have_no_margin_to_speak_of():
    found = of(strategies.create("maximin"), [[0.5, 0.5], [0.5, 0.5]], actions=("x", "y"))
    assert found.decisions.tied.tolist() == [True]
    assert found.runner_up.tolist() == ["y"] and found.margin.tolist() == [0.0]


def test_no_scores_or_nothing_else_to_do():
    constant = of(strategies.create("constant", {"action": "a2"}))
    assert constant.runner_up.tolist() == [""] and np.isnan(constant.margin).all()
    single = of(strategies.create("maximin"), [[0.3]], actions=("only",))
    assert single.decisions.actions.tolist() == ["only"]
    assert single.runner_up.tolist() == [""] and np.isnan(single.margin).all()


def test_an_alternative_that_is_ruled_out_has_no_finite_margin():
    decisions = Decisions("rule", ("x", "y"), np.array([0]), np.array([False]), scores=np.array([[0.2], [-np.inf]]))
    found = Recommendations.of(decisions, expected([[0.5, 0.5]], actions=("x", "y")))
    assert found.runner_up.tolist() == ["y"] and np.isnan(found.margin).all()


def test_scores_are_not_changed():
    rule = strategies.create("maximin")
    decisions = rule(expected())
    before = decisions.scores.copy()
    Recommendations.of(decisions, expected())
    assert np.array_equal(decisions.scores, before)


def test_columns_and_frame():
    found = of(strategies.create("maximin"))
    columns = found.columns()
    assert list(columns)[:4] == ["action", "runner_up", "margin", "tied"]
    assert columns["E[s1, a3]"].tolist() == [0.5]
    assert len(columns) == 4 + 9
    assert found.to_frame().shape == (1, 13)


def test_an_adopted_action_stands_in_the_place_of_rule_person_and_fall_back():
    decisions = Decisions(
        "rule", ("a", "b"), np.array([0, 0, 1, 1]), np.array([True, True, False, False]),
        policy=np.array([[0.5, np.nan, 0.2, 0.0], [0.5, np.nan, 0.8, 1.0]]), referred=np.array([False, True, False, False]),
    )  # fmt: skip
    expected = ExpectedRewards(np.full((1, 2, 4), 0.5), stakeholders=["i"], actions=["a", "b"])
    before = Recommendations(
        decisions, expected, np.array(["b", "", "a", ""]), np.array([0.1, np.nan, 0.2, np.nan]),
        fall_back=np.array([False, False, False, True]),
    )  # fmt: skip
    found = before.adopted_where(np.array([-1, 1, 0, 0]), np.array(["", "x", "x", "x"]))
    assert found.decisions.actions.tolist() == ["a", "b", "a", "a"]
    assert found.decisions.tied.tolist() == [True, False, False, False]
    assert found.referred.tolist() == [False] * 4 and found.fall_back.tolist() == [False] * 4
    assert found.runner_up.tolist() == ["b", "", "", ""]
    np.testing.assert_array_equal(found.margin, [0.1, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(found.decisions.policy, [[0.5, 0, 1, 1], [0.5, 1, 0, 0]])
    assert found.columns()["adopted"].tolist() == ["", "x", "x", "x"] and "adopted" not in before.columns()
