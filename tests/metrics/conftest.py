"""Random problems with evidence and decisions, shared by the tests of every metric."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

ACTIONS = ["Grant", "Lower", "Deny"]
OUTCOMES = ["Full", "Part", "None"]


def discrete_problem(**changes):
    declared = {
        "stakeholders": [{"name": "Bank", "weight": 2.0}, "Applicant", {"name": "Press", "weight": 0.0}],
        "actions": ACTIONS,
        "outcomes": OUTCOMES,
        "favourable_actions": ["Grant", "Lower"],
        "favourable_outcomes": ["Full"],
        "outcome_to_action": dict(zip(OUTCOMES, ACTIONS, strict=True)),
    }
    return DecisionProblem(**(declared | changes))


def evidence_of(problem, columns, outcomes, generator, *, true_levels=False):
    n, shape = len(outcomes), (len(problem.stakeholders), len(problem.actions), len(outcomes))
    log = Log(Contexts(columns), generator.integers(0, len(problem.actions), n), np.asarray(outcomes))
    rewards = generator.random(shape)
    expected = ExpectedRewards(generator.random(shape), stakeholders=problem.stakeholder_names, actions=problem.actions)
    levels = generator.normal(size=shape[1:]).round(1) if problem.continuous else None
    truth = generator.normal(size=shape[1:]).round(1) if true_levels else None
    return Evidence(problem, log, expected, rewards, outcome_levels=levels, true_levels=truth)


def columns_of(n, generator):
    return {
        "sex": generator.integers(0, 2, n).astype(float),
        "age": np.array(["old", "young", "middle"])[generator.integers(0, 3, n)],
    }


@pytest.fixture(scope="session")
def world():
    """Return a function (n, seed) → evidence with discrete outcomes, two group columns."""

    def make(n=300, seed=0, **changes):
        generator = np.random.default_rng(seed)
        problem = discrete_problem(**changes)
        return evidence_of(problem, columns_of(n, generator), generator.integers(0, 3, n), generator)

    return make


@pytest.fixture(scope="session")
def numeric_world():
    """Return a function (n, seed) → evidence with a continuous outcome, estimated and true levels."""

    def make(n=300, seed=0):
        generator = np.random.default_rng(seed)
        problem = discrete_problem(outcomes={"name": "score"}, favourable_outcomes=[], outcome_to_action=None)
        return evidence_of(problem, columns_of(n, generator), generator.normal(size=n), generator, true_levels=True)

    return make


@pytest.fixture(scope="session")
def decide():
    """Return a function that makes decisions from codes, or random ones from a seed."""

    def make(evidence, codes=None, seed=1, policy=None):
        n = evidence.n_contexts
        if codes is None:
            codes = np.random.default_rng(seed).integers(0, len(evidence.problem.actions), n)
        return Decisions("test", evidence.problem.actions, np.asarray(codes), np.zeros(n, dtype=bool), policy=policy)

    return make


@pytest.fixture(scope="session")
def rows():
    """Return a function that lists (action, outcome, group) of every context in words, for slow twins."""

    def make(evidence, decisions, attributes=()):
        columns = [evidence.log.contexts[name] for name in attributes]
        problem = evidence.problem
        return [
            (
                problem.actions[decisions.codes[t]],
                "" if problem.continuous else problem.outcomes[evidence.log.outcomes[t]],
                " × ".join(str(int(c[t])) if c.dtype == float else str(c[t]) for c in columns),
            )
            for t in range(evidence.n_contexts)
        ]

    return make
