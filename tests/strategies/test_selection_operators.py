"""Selection operators: argmax, softmax, proportional to the score, ε-greedy."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.errors import InputError
from accordant.strategies import selection
from accordant.strategies.selection import epsilon_greedy_policy, proportional_policy
from accordant.utilities import ExpectedRewards


def rewards(values):
    values = np.asarray(values, dtype=float)
    return ExpectedRewards(
        values, stakeholders=[f"i{i}" for i in range(len(values))], actions=[f"a{a}" for a in range(values.shape[1])]
    )


def test_argmax_is_a_policy_with_all_weight_on_the_chosen_action(example):
    decided = strategies.maximin(example)
    assert decided.policy is None
    assert decided.probabilities()[:, 0].tolist() == [0.0, 1.0, 0.0]


def test_proportional_to_the_score_on_the_worked_example(example):
    decided = strategies.create("maximin", {"selection": "proportional"})(example)
    np.testing.assert_allclose(decided.policy[:, 0], np.array([0.4, 0.5, 0.3]) / 1.2)
    assert decided.actions.tolist() == ["a2"]
    assert decided.strategy == "maximin[proportional]"


@pytest.mark.parametrize("name", ["nash_social_welfare", "nash_bargaining"])
def test_rules_with_logarithmic_scores_are_proportional_to_the_product(example, name):
    decided = strategies.create(name, {"selection": "proportional"})(example)
    product = np.exp(decided.scores[:, 0])
    np.testing.assert_allclose(decided.policy[:, 0], product / product.sum(), rtol=1e-12)


def test_shares_of_nothing_are_equal():
    np.testing.assert_array_equal(proportional_policy(np.zeros((4, 2))), np.full((4, 2), 0.25))


def test_negative_scores_have_no_shares(example):
    with pytest.raises(InputError, match="needs scores of at least 0, and one is -0.48.*; use selection 'softmax'"):
        strategies.create("compromise_programming", {"selection": "proportional"})(example)


def test_epsilon_greedy_explores_evenly(example):
    decided = strategies.create("maximin", {"selection": "epsilon_greedy", "epsilon": 0.3})(example)
    np.testing.assert_allclose(decided.policy[:, 0], [0.1, 0.8, 0.1])
    assert decided.strategy == "maximin[epsilon-greedy 0.3]"
    assert strategies.create("maximin", {"selection": "epsilon_greedy", "epsilon": 0.3}).draws
    np.testing.assert_allclose(epsilon_greedy_policy(np.array([1, 0]), 2, 1.0), 0.5)


@pytest.mark.parametrize("selection", [
    {"selection": "softmax", "temperature": 0.2},
    {"selection": "proportional"},
    {"selection": "epsilon_greedy", "epsilon": 0.1},
])  # fmt: skip
def test_policies_are_probabilities(selection):
    values = np.random.default_rng(0).choice([0.0, 0.3, 1.0], size=(3, 4, 500))
    for name in ("utilitarian", "nash_social_welfare", "sufficientarian", "generalised_gini"):
        policy = strategies.create(name, selection)(rewards(values)).policy
        np.testing.assert_allclose(policy.sum(axis=0), 1.0, atol=1e-12)
        assert (policy >= 0).all()


@pytest.mark.parametrize(("parameters", "message"), [
    ({"selection": "sofmax"}, "unknown selection 'sofmax'; did you mean 'softmax'"),
    ({"selection": "softmax"}, "softmax temperature is None; allowed: above 0"),
    ({"temperature": 0.1}, "temperature 0.1 has no effect with selection 'argmax', only 'softmax'"),
    ({"selection": "epsilon_greedy", "epsilon": 1.5}, "epsilon-greedy epsilon is 1.5; allowed: above 0, at most 1"),
    ({"selection": "proportional", "epsilon": 0.5}, "epsilon 0.5 has no effect with selection 'proportional'"),
])  # fmt: skip
def test_wrong_selections(parameters, message):
    with pytest.raises(InputError, match=message):
        strategies.create("maximin", parameters)


@pytest.mark.parametrize("tolerance", [1e-12, 0.25])
@pytest.mark.parametrize("n_actions", [1, 2, 4])
def test_contexts_that_are_looked_at_piece_by_piece_are_decided_as_all_at_once(tolerance, n_actions, monkeypatch):
    """The formula of the kernel, with pieces of four contexts, the last one shorter, and one of them without ties."""
    monkeypatch.setattr(selection, "CHUNK", 4)
    generator = np.random.default_rng(n_actions)
    for _ in range(20):
        scores = generator.integers(-12, 13, (n_actions, 15)) / 4
        scores[:, 4:8] = np.arange(n_actions)[::-1, None] * 3.0
        scores[generator.random(scores.shape) < 0.1] = -np.inf
        totals = generator.integers(-12, 13, (n_actions, 15)) / 4
        codes, tied = np.empty(15, dtype=np.int8), np.empty(15, dtype=bool)
        allowed = selection._select.python(scores, totals, tolerance, codes, tied)
        best = scores.max(axis=0)
        level = scores >= np.where(np.isinf(best), best, best - tolerance * np.maximum(1.0, np.abs(best)))
        highest = np.where(level, totals, -np.inf).max(axis=0)
        heaviest = level & (totals >= highest - tolerance * np.maximum(1.0, np.abs(highest)))
        expected = np.where(level.sum(axis=0) > 1, heaviest.argmax(axis=0), scores.argmax(axis=0))
        assert tied.tolist() == (level.sum(axis=0) > 1).tolist()
        assert codes.tolist() == expected.tolist()
        assert allowed == (scores < np.inf).sum() == scores.size
