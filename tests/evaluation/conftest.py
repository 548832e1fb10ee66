"""Random evidence, decisions and metrics, shared by the tests of evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

ACTIONS = ["Grant", "Lower", "Deny"]
OUTCOMES = ["Full", "Part", "None"]


@pytest.fixture(scope="session")
def world():
    """Return a function (n, seed) → evidence with discrete outcomes and two group columns."""

    def make(n=300, seed=0):
        generator = np.random.default_rng(seed)
        problem = DecisionProblem(
            stakeholders=["Bank", "Applicant"],
            actions=ACTIONS,
            outcomes=OUTCOMES,
            favourable_actions=["Grant", "Lower"],
            favourable_outcomes=["Full"],
            outcome_to_action=dict(zip(OUTCOMES, ACTIONS, strict=True)),
        )
        columns = {
            "sex": generator.integers(0, 2, n).astype(float),
            "age": np.array(["old", "young", "middle"])[generator.integers(0, 3, n)],
        }
        log = Log(Contexts(columns), generator.integers(0, 3, n), generator.choice(3, n, p=(0.6, 0.1, 0.3)))
        expected = ExpectedRewards(generator.random((2, 3, n)), stakeholders=problem.stakeholder_names, actions=ACTIONS)
        return Evidence(problem, log, expected, generator.random((2, 3, n)))

    return make


@pytest.fixture(scope="session")
def decided():
    """Return a function that names decisions given as codes (or one code for all)."""

    def make(evidence, name, codes, policy=None):
        codes = np.broadcast_to(np.asarray(codes), (evidence.n_contexts,)).copy()
        return Decisions(name, evidence.problem.actions, codes, np.zeros(len(codes), dtype=bool), policy=policy)

    return make


@pytest.fixture(scope="session")
def strategies(decided):
    """Return a function evidence → three strategies, all constants, an oracle, a random policy."""

    def make(evidence, seed=7):
        generator = np.random.default_rng(seed)
        n, truth = evidence.n_contexts, evidence.log.outcomes
        lines = {
            name: np.where(generator.random(n) < quality, truth, generator.integers(0, 3, n))
            for name, quality in (("good", 0.8), ("fair", 0.5), ("poor", 0.2))
        }
        lines |= {f"constant:{action}": code for code, action in enumerate(ACTIONS)}
        lines["oracle"] = truth
        found = {name: decided(evidence, name, codes) for name, codes in lines.items()}
        found["random"] = decided(evidence, "random", 0, np.full((3, n), 1 / 3))
        return found

    return make


@pytest.fixture(scope="session")
def kinds():
    """Kinds of the lines of `strategies`."""
    compromises = dict.fromkeys(("good", "fair", "poor"), "compromise")
    return compromises | {f"constant:{a}": "baseline" for a in ACTIONS} | {"oracle": "reference", "random": "baseline"}


@pytest.fixture(scope="session")
def candidates():
    """The lines that define the scale."""
    return ["good", "fair", "poor", *(f"constant:{action}" for action in ACTIONS)]


@pytest.fixture(scope="session")
def counting():
    """Metrics that count only, with weights."""
    return {
        "Accuracy": (metrics.create("accuracy", {"attributes": ["age"]}), 0.5),
        "Parity": (metrics.create("demographic_parity", {"attributes": ["sex"], "protected": "1"}), 0.3),
        "Odds": (metrics.create("equalised_odds", {"attributes": ["sex", "age"]}), 0.0),
        "Share": (metrics.create("share_of_action", {"action": "Deny", "goal": "min"}), 0.2),
    }


@pytest.fixture(scope="session")
def summing(counting):
    """The counting metrics and some that sum, with weights."""
    return counting | {
        "Nash": (metrics.create("nash_welfare"), 0.4),
        "Regret": (metrics.create("stakeholder_regret", {"stakeholder": "Bank"}), 0.1),
    }
