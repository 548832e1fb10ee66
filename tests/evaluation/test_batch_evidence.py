"""What is known of actions that were not taken."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.evaluation.batch_evidence import doubly_robust, gather_evidence
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import FunctionReward
from accordant.utilities import ExpectedRewards

N, ACTIONS = 4000, 3
PROBLEM = DecisionProblem(stakeholders=["i"], actions=["a", "b", "c"], outcomes=["Good", "Bad"])


def good(contexts, action, outcome):
    return float(outcome == "Good")


def world(seed, *, aware=True):
    """A null world: every action leads to Good with probability 1/2; E errs at random by up to 0.3."""
    generator = np.random.default_rng(seed)
    log = Log(Contexts({"x": generator.normal(size=N)}), generator.integers(0, ACTIONS, N), generator.integers(0, 2, N))
    expected = ExpectedRewards(
        0.5 + generator.uniform(-0.3, 0.3, (1, ACTIONS, N)), stakeholders=["i"], actions=PROBLEM.actions
    )
    weights = np.stack([expected.values[0], 1 - expected.values[0]], axis=1)
    prediction = OutcomePrediction(weights, None, depends_on_action=aware)
    return log, expected, prediction, np.full((ACTIONS, N), 1 / ACTIONS)


@pytest.mark.parametrize("seed", range(5))
def test_following_ones_own_errors_earns_nothing_in_a_null_world(seed):
    log, expected, prediction, propensities = world(seed)
    evidence = gather_evidence(
        PROBLEM, log, {"i": FunctionReward(good)}, expected, prediction, propensities=propensities
    )
    greedy = expected.values[0].argmax(axis=0)
    chosen = evidence.rewards[0, greedy, np.arange(N)]
    assert abs(chosen.mean() - 0.5) < 4 * chosen.std() / np.sqrt(N)
    assert not evidence.hindsight
    flattered = gather_evidence(PROBLEM, log, {"i": FunctionReward(good)}, expected, prediction)
    assert flattered.rewards[0, greedy, np.arange(N)].mean() > 0.57  # what propensities are there to prevent


def test_rewards_of_every_action_are_known_where_outcomes_do_not_depend_on_it():
    log, expected, prediction, propensities = world(0, aware=False)
    evidence = gather_evidence(
        PROBLEM, log, {"i": FunctionReward(good)}, expected, prediction, propensities=propensities
    )
    assert evidence.hindsight
    assert np.array_equal(evidence.rewards[0], np.broadcast_to(log.outcomes == 0, (ACTIONS, N)).astype(float))


def test_doubly_robust_is_right_with_right_propensities_whatever_is_predicted():
    generator = np.random.default_rng(1)
    x = generator.normal(size=50_000)
    propensity = 1 / (1 + np.exp(-x))
    actions = (generator.random(x.size) < propensity).astype(np.intp)
    values = np.stack([x, 2 + x])  # of actions 0 and 1
    observed = np.where(np.arange(2)[:, None] == actions, values, 7.0)
    log = Log(Contexts({"x": x}), actions, actions)
    found = doubly_robust(np.full((2, x.size), -1.0), observed, np.stack([1 - propensity, propensity]), log)
    assert found.mean(axis=1) == pytest.approx([0.0, 2.0], abs=0.06)
