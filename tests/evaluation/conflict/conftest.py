"""Constructed worlds in which it is known where a conflict comes from."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards


@pytest.fixture(scope="session")
def evidence_of():
    """Return a function (rewards, expected) → evidence about two stakeholders and actions a, b, c, ..."""

    def make(rewards, expected=None, sex=None, **more):
        rewards = np.asarray(rewards, dtype=float)
        n_actions, n = rewards.shape[1:]
        actions = [chr(ord("a") + k) for k in range(n_actions)]
        problem = DecisionProblem(
            stakeholders=["i", "j"],
            actions=actions,
            outcomes=["good", "bad"],
            favourable_actions=["a"],
            favourable_outcomes=["good"],
            outcome_to_action={"good": "a", "bad": "b"},
        )
        generator = np.random.default_rng(99)
        columns = {"sex": generator.integers(0, 2, n).astype(float) if sex is None else np.asarray(sex, dtype=float)}
        columns["age"] = np.array(["old", "mid", "young"])[generator.integers(0, 3, n)]
        log = Log(Contexts(columns), np.zeros(n, dtype=int), generator.integers(0, 2, n))
        values = rewards if expected is None else np.asarray(expected, dtype=float)
        return Evidence(
            problem, log, ExpectedRewards(values, stakeholders=["i", "j"], actions=actions), rewards, **more
        )

    return make


@pytest.fixture(scope="session")
def lines():
    """Return a function (evidence, name → codes) → decisions."""

    def make(evidence, **codes):
        n = evidence.n_contexts
        return {
            name: Decisions(name, evidence.problem.actions, np.broadcast_to(each, (n,)).copy(), np.zeros(n, dtype=bool))
            for name, each in codes.items()
        }

    return make


@pytest.fixture(scope="session")
def two_rewards():
    """The realised rewards of both stakeholders, with equal weights."""
    return {name: (metrics.create("stakeholder_reward", {"stakeholder": name}), 0.5) for name in ("i", "j")}


@pytest.fixture(scope="session")
def two_sorts():
    """Two sorts of contexts: a is good for both in the first, b in the second; rewards and the sort of each context."""
    generator = np.random.default_rng(4)
    sort = generator.integers(0, 2, 400)
    rewards = np.where(
        sort == 0, np.array([[[1.0], [0.2]], [[0.6], [0.2]]]), np.array([[[0.2], [0.6]], [[0.2], [1.0]]])
    )
    return np.clip(rewards + generator.normal(scale=0.05, size=rewards.shape), 0, 1), sort
