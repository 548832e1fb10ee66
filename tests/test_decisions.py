"""Decisions, predictions and evidence: typed shells that refuse what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards


def decide(codes, **changes):
    codes = np.array(codes, dtype=np.intp)
    return Decisions("rule", ("a", "b", "c"), codes, np.zeros(len(codes), dtype=bool), **changes)


def test_actions_and_share():
    decided = decide([2, 0, 0, 1])
    assert decided.actions.tolist() == ["c", "a", "a", "b"]
    np.testing.assert_array_equal(decided.share(), [0.5, 0.25, 0.25])
    policy = np.array([[0.5, 0.0], [0.5, 0.5], [0.0, 0.5]])
    np.testing.assert_array_equal(decide([0, 1], policy=policy).share(), [0.25, 0.5, 0.25])


@pytest.mark.parametrize("seed", range(20))
def test_a_draw_takes_the_action_whose_share_of_the_line_holds_the_number(seed):
    generator = np.random.default_rng(seed)
    policy = generator.dirichlet([0.5, 0.5, 0.5], size=50).T * (generator.random((3, 50)) < 0.8)
    policy[0, policy.sum(axis=0) == 0] = 1.0
    policy /= policy.sum(axis=0)
    numbers = generator.random(50)
    expected = []
    for t in range(50):
        low = 0.0
        for action in range(3):
            low += policy[action, t]
            if numbers[t] < low:
                break
        expected.append(action)
    drawn = decide([0] * 50, policy=policy).draw(numbers)
    assert drawn.codes.tolist() == expected
    assert (policy[drawn.codes, np.arange(50)] > 0).all()
    np.testing.assert_array_equal(drawn.quantities["draw"], numbers)


def test_a_draw_ends_at_the_last_possible_action():
    thirds = np.array([[1 / 3], [1 / 3], [1 / 3 - 1e-15]])
    assert decide([0], policy=thirds).draw(np.array([1.0 - 2.0**-53])).codes.tolist() == [2]
    assert decide([0], policy=np.array([[0.5], [0.5 - 1e-15], [0.0]])).draw(np.array([1.0 - 2.0**-53])).codes == [1]


def test_without_probabilities_nothing_is_drawn():
    certain = decide([2, 1])
    assert certain.draw(np.zeros(2)) is certain


def test_no_contexts():
    assert decide([]).actions.shape == (0,)
    np.testing.assert_array_equal(decide([]).share(), [0, 0, 0])
    np.testing.assert_array_equal(decide([], policy=np.zeros((3, 0))).share(), [0, 0, 0])


@pytest.mark.parametrize("codes", [[-1], [0, 3], [99]])
def test_undeclared_actions_are_refused(codes):
    with pytest.raises(InputError, match="rule chose an action that is not declared; valid: a, b, c"):
        decide(codes)


@pytest.mark.parametrize("name", ["scores", "policy"])
def test_shapes_are_checked(name):
    with pytest.raises(InputError, match=rf"{name} of rule have shape \(2, 3\); allowed: \(3, 2\)"):
        decide([0, 1], **{name: np.zeros((2, 3))})


@pytest.mark.parametrize("weights", [
    [[0.5, 0.4]], [[1.2, -0.2]], [[np.nan, 1.0]], [[0.5, 0.5 + 1e-8]],
])  # fmt: skip
def test_f_must_be_a_probability(weights):
    with pytest.raises(InputError, match="must be at least 0 and sum to 1"):
        OutcomePrediction(np.array(weights)[:, :, None], None, depends_on_action=False)


def test_prediction_take_and_levels():
    weights = np.random.default_rng(0).dirichlet([1, 1], size=(3, 5)).transpose(0, 2, 1)
    f = OutcomePrediction(weights, None, depends_on_action=True)
    np.testing.assert_array_equal(f.take(np.array([4])).weights, weights[:, :, [4]])
    with pytest.raises(InputError, match="no level"):
        f.levels()
    with pytest.raises(InputError, match="shape"):
        OutcomePrediction(weights[0], None, depends_on_action=True)


@pytest.fixture
def parts():
    problem = DecisionProblem(stakeholders=["s", "t"], actions=["a", "b"], outcomes=["o", "p"])
    contexts = Contexts({"type": [1, 0, 1, 0], "age": ["old", "young", "young", "old"]})
    log = Log(contexts, np.zeros(4, dtype=int), np.zeros(4, dtype=int))
    expected = ExpectedRewards(np.full((2, 2, 4), 0.5), stakeholders=["s", "t"], actions=["a", "b"])
    return {"problem": problem, "log": log, "expected": expected, "rewards": np.zeros((2, 2, 4))}


def test_groups_and_intersections(parts):
    evidence = Evidence(**parts)
    assert evidence.n_contexts == 4
    single = evidence.groups(["type"])
    assert (single.labels, single.codes.tolist()) == (("0", "1"), [1, 0, 1, 0])
    both = evidence.groups(["type", "age"])
    assert both.labels == ("0 × old", "0 × young", "1 × old", "1 × young")
    assert [both.labels[code] for code in both.codes] == ["1 × old", "0 × young", "1 × young", "0 × old"]
    assert both.attributes == ("type", "age")


@pytest.mark.parametrize(("change", "message"), [
    ({"rewards": np.zeros((2, 2, 3))}, r"rewards have shape \(2, 2, 3\); the problem and its log need \(2, 2, 4\)"),
    ({"true_levels": np.zeros((2, 3))}, r"true levels have shape \(2, 3\)"),
    ({"outcome_levels": np.zeros((3, 4))}, r"outcome levels have shape \(3, 4\)"),
])  # fmt: skip
def test_evidence_shapes(parts, change, message):
    with pytest.raises(InputError, match=message):
        Evidence(**(parts | change))
