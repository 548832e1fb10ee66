"""The promise of an interval: over many samples it holds the true value as often as its level says."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evaluation import evaluate
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

SAMPLES, ROWS, LEVEL = 400, 500, 0.95
GRANTED = (0.5, 0.7)  # share of favourable actions in groups 0 and 1
PROBLEM = DecisionProblem(
    stakeholders=["i"], actions=["Grant", "Deny"], outcomes=["Good", "Bad"], favourable_actions=["Grant"],
    outcome_to_action={"Good": "Grant", "Bad": "Deny"},
)  # fmt: skip


def sample(generator):
    """Draw evidence and decisions whose parity gap is 0.2 and whose accuracy is 0.8."""
    group = generator.integers(0, 2, ROWS)
    codes = (generator.random(ROWS) > np.array(GRANTED)[group]).astype(np.intp)
    outcomes = np.where(generator.random(ROWS) < 0.8, codes, 1 - codes)
    rewards = np.full((1, 2, ROWS), 0.5)
    evidence = Evidence(
        PROBLEM, Log(Contexts({"g": group}), codes, outcomes),
        ExpectedRewards(rewards, stakeholders=["i"], actions=PROBLEM.actions), rewards,
    )  # fmt: skip
    return Decisions("rule", PROBLEM.actions, codes, np.zeros(ROWS, dtype=bool)), evidence


@pytest.mark.parametrize(
    ("name", "parameters", "truth"),
    [("accuracy", {}, 0.8), ("demographic_parity", {"attributes": ["g"], "protected": 1}, 0.2)],
)
def test_intervals_cover_as_often_as_they_say(name, parameters, truth):
    generator = np.random.default_rng(11)
    covered = 0
    for _ in range(SAMPLES):
        decisions, evidence = sample(generator)
        board = evaluate(
            {"rule": decisions}, {"rule": "compromise"}, evidence, {"m": (metrics.create(name, parameters), 1.0)},
            candidates=["rule"], resamples=400, level=LEVEL, generator=generator,
        )  # fmt: skip
        estimate = board["rule"].metrics["m"].estimate
        covered += estimate.low <= truth <= estimate.high
    # three standard errors of a share of 0.95 over the samples, and one point for the percentile method
    assert abs(covered / SAMPLES - LEVEL) < 3 * np.sqrt(LEVEL * (1 - LEVEL) / SAMPLES) + 0.01
