"""Errors of promises: mean 0 where f and E hold."""

from __future__ import annotations

import numpy as np

from accordant.evaluation.promise_errors import PARTS, calibration_errors, reward_errors
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem


def problem(outcomes):
    return DecisionProblem(stakeholders=["A"], actions=["x", "y"], outcomes=outcomes, favourable_actions=["x"])


def test_discrete_outcomes_by_parts_of_f():
    generator = np.random.default_rng(0)
    weights = generator.dirichlet(np.ones(3), size=(2, 4000)).transpose(0, 2, 1)
    actions = generator.integers(0, 2, 4000)
    said = weights[actions, :, np.arange(4000)]
    outcomes = (generator.random(4000)[:, None] > said.cumsum(axis=1)).sum(axis=1)
    found = calibration_errors(problem(["a", "b", "c"]), OutcomePrediction(weights, None, True), actions, outcomes)
    assert len(found) == 3 * len(PARTS) and found[0].key == ("calibration", "a", "0% to 33%")
    for code in range(3):
        parts = found[3 * code : 3 * code + 3]
        assert (sum(~np.isnan(part.values) for part in parts) == 1).all()  # each row is in one part
        assert np.allclose(np.nansum([part.values for part in parts], axis=0), (outcomes == code) - said[:, code])
    for each in found:
        values = each.values[~np.isnan(each.values)]
        assert values.min() >= each.least and values.max() <= each.most
        assert abs(values.mean()) < 4 * values.std() / len(values) ** 0.5
    assert len(calibration_errors(problem(["a", "b"]), OutcomePrediction(np.full((2, 2, 3), 0.5), None, True),
                                  np.zeros(3, int), np.zeros(3, int))) == len(PARTS)  # fmt: skip


def test_outcomes_that_are_numbers_by_their_place_in_f():
    generator = np.random.default_rng(1)
    nodes = np.tile(np.arange(101.0)[:, None], (2, 1, 3000))
    weights, actions = np.full(nodes.shape, 1 / 101), generator.integers(0, 2, 3000)
    prediction = OutcomePrediction(weights, nodes, True, nodes.mean(axis=1))
    score = problem({"name": "score"})
    level, spread = calibration_errors(score, prediction, actions, generator.integers(0, 101, 3000).astype(float))
    assert abs(level.values.mean()) < 0.02 and abs(spread.values.mean()) < 0.02
    level, spread = calibration_errors(score, prediction, actions, np.full(3000, 200.0))
    assert np.allclose(level.values, 0.5) and np.allclose(spread.values, 0.5) and level.name == "score"


def test_rewards():
    (first, second) = reward_errors(
        ["A", "B"], np.array([[0.2, 0.4], [0.5, 0.5]]), np.array([[0.3, np.nan], [0.0, 1.0]])
    )
    assert first.key == ("reward", "A", "") and np.allclose(first.values, [0.1, np.nan], equal_nan=True)
    assert np.allclose(second.values, [-0.5, 0.5]) and (second.least, second.most) == (-1.0, 1.0)
