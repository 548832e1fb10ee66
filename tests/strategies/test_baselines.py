"""Baselines and references: what they decide, what they need, and that they say so."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.contexts import Contexts, Log
from accordant.errors import InputError, UnknownNameError
from accordant.predictions import OutcomePrediction
from accordant.problem import ContinuousOutcome, DecisionProblem
from accordant.utilities import ExpectedRewards


@pytest.fixture
def batch():
    """Four contexts of random expected rewards."""
    values = np.random.default_rng(0).random((3, 3, 4))
    return ExpectedRewards(values, stakeholders=["i1", "i2", "i3"], actions=["a1", "a2", "a3"])


@pytest.fixture
def log():
    return Log(Contexts({"x": np.arange(4.0)}), np.array([2, 0, 1, 1]), np.array([0, 1, 2, 0]))


def same_for_all_actions(*rows):
    """Return f(o | x) from a row per context."""
    weights = np.repeat(np.array(rows).T[None], 3, axis=0)
    return OutcomePrediction(weights, None, depends_on_action=False)


def test_constant(batch):
    rule = strategies.create("constant", {"action": "a2"})
    decided = rule(batch)
    assert decided.actions.tolist() == ["a2"] * 4
    assert decided.strategy == "constant:a2"
    assert not decided.tied.any()
    with pytest.raises(UnknownNameError, match="did you mean 'a2'"):
        strategies.create("constant", {"action": "A2"})(batch)


def test_single_stakeholder(example):
    decided = strategies.create("stakeholder", {"stakeholder": "i2"})(example)
    assert decided.actions.tolist() == ["a2"]
    assert decided.strategy == "stakeholder:i2"
    with pytest.raises(UnknownNameError, match="unknown stakeholder 'i4'"):
        strategies.create("stakeholder", {"stakeholder": "i4"})(example)


def test_logged(batch, log):
    assert strategies.logged(batch, log=log).codes.tolist() == [2, 0, 1, 1]
    with pytest.raises(InputError, match="needs the logged actions"):
        strategies.logged(batch)


@pytest.mark.parametrize("code", [-1, 3])
def test_no_rule_returns_an_undeclared_action(batch, log, code):
    """Pitfall 24: a log from elsewhere could carry any code, and −1 would silently mean the last action."""
    wrong = Log(log.contexts, np.array([0, code, 1, 1]), log.outcomes)
    with pytest.raises(InputError, match="an action that is not declared; valid: a1, a2, a3"):
        strategies.logged(batch, log=wrong)


def test_oracle(batch, log, problem):
    decided = strategies.oracle.for_problem(problem)(batch, log=log)
    assert decided.actions.tolist() == ["a1", "a2", "a3", "a1"]
    with pytest.raises(InputError, match="the oracle needs observed outcomes"):
        strategies.oracle.for_problem(problem)(batch)
    with pytest.raises(InputError, match="outcome_to_action"):
        strategies.oracle(batch, log=log)


def test_random(batch):
    decided = strategies.random(batch)
    np.testing.assert_allclose(decided.policy, 1 / 3)
    assert set(decided.actions) <= set(batch.actions)
    again = strategies.create("random", {"seed": 0})(batch)
    np.testing.assert_array_equal(decided.codes, again.codes)
    many = ExpectedRewards(np.zeros((1, 3, 9000)), stakeholders=["i"], actions=["a1", "a2", "a3"])
    drawn = np.bincount(strategies.create("random", {"seed": 7})(many).codes, minlength=3)
    assert (np.abs(drawn - 3000) < 5 * np.sqrt(9000 * 2 / 9)).all()


def test_outcome_only_maps_the_most_probable_outcome(batch, problem):
    rule = strategies.outcome_only.for_problem(problem)
    f = same_for_all_actions([0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2], [0.2, 0.6, 0.2])
    decided = rule(batch, prediction=f)
    assert decided.actions.tolist() == ["a1", "a3", "a1", "a2"]
    assert decided.tied.tolist() == [False, False, True, False]


def test_outcomes_that_share_an_action_are_not_added_up(batch, problem):
    """The most probable single outcome counts, even if two outcomes of one action are together likelier."""
    shared = problem.replace(outcome_to_action={"good": "a1", "middling": "a3", "bad": "a3"})
    rule = strategies.outcome_only.for_problem(shared)
    decided = rule(batch, prediction=same_for_all_actions(*[[0.4, 0.3, 0.3]] * 4))
    assert decided.actions.tolist() == ["a1"] * 4
    alike = rule(batch, prediction=same_for_all_actions(*[[0.2, 0.4, 0.4]] * 4))
    assert alike.actions.tolist() == ["a3"] * 4
    assert not alike.tied.any()


def test_outcome_only_with_outcomes_that_depend_on_the_action(batch, problem):
    weights = np.zeros((3, 3, 4))
    weights[:, 0] = [[0.1, 0.5, 0.2, 0.3], [0.6, 0.1, 0.2, 0.3], [0.2, 0.2, 0.9, 0.1]]
    weights[:, 2] = 1 - weights[:, 0]
    f = OutcomePrediction(weights, None, depends_on_action=True)
    decided = strategies.outcome_only.for_problem(problem)(batch, prediction=f)
    assert decided.actions.tolist() == ["a2", "a1", "a3", "a1"]
    assert decided.tied.tolist() == [False, False, False, True]
    with pytest.raises(InputError, match="favourable_outcomes"):
        strategies.outcome_only(batch, prediction=f)


@pytest.mark.long
def test_outcome_only_with_continuous_outcomes(batch):
    nodes = np.array([[[1.0], [3.0]], [[0.0], [5.0]], [[2.0], [2.0]]])
    means = np.array([[2.0], [2.5], [2.0]])
    f = OutcomePrediction(np.full((3, 2, 1), 0.5), nodes, depends_on_action=True, means=means)
    decided = strategies.outcome_only(batch.take(slice(0, 1)), prediction=f)
    assert decided.actions.tolist() == ["a2"]
    np.testing.assert_allclose(decided.scores[:, 0], [2.0, 2.5, 2.0])


def test_outcome_only_says_what_it_lacks(batch):
    with pytest.raises(InputError, match="needs predicted outcomes"):
        strategies.outcome_only(batch)
    with pytest.raises(InputError, match="outcome_to_action"):
        strategies.outcome_only(batch, prediction=same_for_all_actions(*[[0.5, 0.3, 0.2]] * 4))


def test_given_mappings_are_kept(problem):
    """`for_problem` fills what is open, and nothing else."""
    given = strategies.create("outcome_only", {"action_of_outcome": [2, 1, 0], "favourable": [1], "status_quo": "a2"})
    assert given.for_problem(problem) == given
    oracle = strategies.create("oracle", {"action_of_outcome": [2, 1, 0]})
    assert oracle.for_problem(problem) == oracle


def labels(problem, **options):
    return [rule.label for rule in strategies.baselines_for(problem, **options)]


EVERYWHERE = ["stakeholder:i1", "stakeholder:i2", "stakeholder:i3", "constant:a1", "constant:a2", "constant:a3",
              "logged", "random"]  # fmt: skip


@pytest.mark.parametrize("action_aware", [True, False])
def test_all_baselines_are_there(problem, action_aware):
    assert sorted(labels(problem, action_aware=action_aware)) == sorted([*EVERYWHERE, "outcome_only", "oracle"])


def test_baselines_follow_the_declarations(problem):
    bare = problem.replace(favourable_outcomes=(), outcome_to_action=None)
    assert labels(bare, action_aware=True) == EVERYWHERE
    assert labels(bare, action_aware=False) == EVERYWHERE
    mapped = problem.replace(favourable_outcomes=())
    assert "outcome_only" not in labels(mapped, action_aware=True)
    assert "outcome_only" in labels(mapped, action_aware=False)


def test_baselines_with_a_continuous_outcome():
    problem = DecisionProblem(stakeholders=["i1"], actions=["a1"], outcomes={"name": "score"})
    assert labels(problem, action_aware=True) == ["stakeholder:i1", "constant:a1", "outcome_only", "logged", "random"]


def test_who_may_be_selected(problem):
    every = (*strategies.defaults_for(problem), *strategies.baselines_for(problem, action_aware=False))
    kinds = {rule.label: (rule.kind, rule.selectable, rule.candidate) for rule in every}
    assert kinds["oracle"] == ("reference", False, False)
    assert kinds["logged"] == kinds["random"] == ("baseline", False, False)
    assert kinds["constant:a1"] == ("baseline", False, True)
    assert kinds["stakeholder:i1"] == ("stakeholder", True, True)
    assert kinds["outcome_only"] == ("baseline", True, True)
    assert kinds["maximin"] == ("compromise", True, True)


def test_outcome_only_gives_ties_to_the_status_quo():
    problem = DecisionProblem(stakeholders=["i1"], actions=["A", "C"], outcomes=ContinuousOutcome(), status_quo="C")
    expected = ExpectedRewards(np.full((1, 2, 3), 0.5), stakeholders=["i1"], actions=["A", "C"])
    means = np.array([[1.0, 2.0, 1.0], [1.0, 1.0, 3.0]])
    prediction = OutcomePrediction(np.ones((2, 1, 3)), means[:, None, :], depends_on_action=True, means=means)
    decisions = strategies.create("outcome_only").for_problem(problem)(expected, prediction=prediction)
    assert decisions.actions.tolist() == ["C", "A", "C"]
    assert decisions.tied.tolist() == [True, False, False]
