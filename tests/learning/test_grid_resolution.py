"""What decisions miss between points: gains midway against a search, and values that were moved to points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.learning.grid_resolution import NOTICEABLE, MovedValues, grid_resolution, midway_gains
from accordant.learning.outcome_models import OutcomeModel
from accordant.learning.reward_models import StatedReward
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import TableReward

PROBLEM = DecisionProblem(
    stakeholders=["A", "B"], actions={"none": 0, "some": 1, "much": 4}, action_unit="mg", outcomes=["no", "yes"]
)


@pytest.mark.parametrize("seed", range(5))
def test_gains_are_those_of_a_search_over_neighbouring_middles(seed):
    expected = np.random.default_rng(seed).uniform(size=(2, 7, 30)).round(2)
    gains, better = midway_gains(expected)
    for point in range(4):
        middles = [k for k in (2 * point - 1, 2 * point + 1) if 0 <= k < 7]
        for t in range(30):
            here, there = expected[:, 2 * point, t], [expected[:, k, t] for k in middles]
            assert np.allclose(gains[:, point, t], np.maximum(0, np.max([each - here for each in there], axis=0)))
            wins = [(each >= here).all() and (each - here > NOTICEABLE).any() for each in there]
            assert better[point, t] == any(wins)


class Hump(OutcomeModel):
    """P(yes | v) = 1 − (v − 2.5)² / 10, highest at the middle between the last two points."""

    def __init__(self, values):
        self.values = values

    def predict(self, contexts):
        yes = 1 - (np.array(self.values) - 2.5) ** 2 / 10
        weights = np.repeat(np.stack([1 - yes, yes], axis=1)[:, :, None], contexts.n_contexts, axis=2)
        return OutcomePrediction(weights, None, True)

    def at(self, values):
        return Hump(values)


def resolution(decisions):
    rewards = [
        StatedReward(name, TableReward({action: row for action in PROBLEM.actions}), PROBLEM)
        for name, row in (("A", {"no": 0.0, "yes": 1.0}), ("B", {"no": 0.5, "yes": 0.5}))
    ]
    return grid_resolution(PROBLEM, Contexts({"x": [0.0, 1.0]}), decisions, Hump(PROBLEM.action_values), rewards)


def test_resolution_of_a_known_hump():
    """Midway between 1 and 4 lies the top: 1 instead of 0.775; midway between 0 and 1 stands 0.6 instead of 0.375."""
    found = resolution(Decisions("rule", PROBLEM.actions, np.array([1, 0]), np.zeros(2, bool)))
    assert [(gain.stakeholder, round(gain.mean, 6), round(gain.largest, 6)) for gain in found.gains] == [
        ("A", 0.225, 0.225), ("B", 0.0, 0.0),
    ]  # fmt: skip
    assert found.better_for_all == 1.0
    assert "A 0.225 on average and at most 0.225 and B 0.000" in found.sentence()
    assert "100% of the rows" in found.sentence()


def test_randomised_decisions_count_by_their_probabilities():
    policy = np.array([[0.5, 0.0], [0.5, 1.0], [0.0, 0.0]])
    found = resolution(Decisions("rule", PROBLEM.actions, np.array([0, 1]), np.zeros(2, bool), policy=policy))
    assert found.gains[0].mean == pytest.approx(0.225)


def test_moved_values_are_counted_and_said():
    values = np.array([0.0, 1.0, 1.4, 3.0])
    log = Log(Contexts({"x": np.zeros(4)}), PROBLEM.grid.nearest(values), np.zeros(4, int), action_values=values)
    moved = MovedValues.of(PROBLEM.grid, log)
    assert (moved.share, moved.mean_distance, moved.largest_distance) == (0.5, pytest.approx(0.7), 1.0)
    assert moved.warnings(PROBLEM.grid)[0].startswith("50% of the logged actions lie between points")
    assert "0.7 mg away on average and at most 1 mg." in moved.warnings(PROBLEM.grid)[0]
    unmoved = MovedValues.of(PROBLEM.grid, replace(log, action_values=PROBLEM.grid.points[log.actions]))
    assert unmoved == MovedValues.of(PROBLEM.grid, replace(log, action_values=None)) == MovedValues(0.0, 0.0, 0.0)
    assert unmoved.warnings(PROBLEM.grid) == []
