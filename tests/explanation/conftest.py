"""Rules of every kind with what they read, and small random E."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates import Known
from accordant.contexts import Contexts, Log
from accordant.predictions import OutcomePrediction
from accordant.utilities import ExpectedRewards

STAKEHOLDERS = ("Ann", "Ben", "Cem")
ACTIONS = ("red", "green", "blue")
NEEDED = {
    "constant": {"action": "green"},
    "decided": {"column": "taken"},
    "stakeholder": {"stakeholder": "Ben"},
    "constrained": {"rule": "utilitarian", "floors": {"Ann": 0.3}},
    **{f"population_{each}": {"multipliers": (0.7, 1.4, 0.9)} for each in ("maximin", "leximin", "nash")},
    "population_by_group": {
        "attribute": "town", "multipliers": {"a": (0.7, 1.4, 0.9), "b": (1.5, 0.5, 1.0)},
        "rule": {"name": "population_maximin", "parameters": {"multipliers": (1.0, 1.1, 0.9)}},
    },
    "outcome_only": {"action_of_outcome": (0, 1, 2)},
    "oracle": {"action_of_outcome": (0, 1, 2)},
}  # fmt: skip
VARIANTS = [
    ("nash_bargaining", {"disagreement": "status_quo", "status_quo": "blue"}),
    ("kalai_smorodinsky", {"disagreement": (0.1, 0.2, 0.0), "ideal": (0.9, 1.0, 0.8)}),
    ("compromise_programming", {"ideal": "global", "exponent": 3.0}),
    ("sufficientarian", {"floor": (0.2, 0.5, 0.7)}),
    ("range", {"normalised": True}),
    ("utilitarian", {"weights": (2.0, 1.0, 0.0)}),
    ("utilitarian", {"selection": "softmax", "temperature": 0.1}),
    ("constrained", {"rule": "maximin", "vetoes": {"Ben": "worst"}}),
    ("constrained", {"rule": "utilitarian", "budgets": {"red": 0.25}}),
    ("constrained", {"rule": "stakeholder", "floors": 0.2}),
]


def make_expected(n_contexts=40, stakeholders=STAKEHOLDERS, actions=ACTIONS, seed=0, grid=None):
    """Random E; `grid` rounds it to so many steps, which makes ties."""
    values = np.random.default_rng(seed).random((len(stakeholders), len(actions), n_contexts))
    values = values if grid is None else np.round(values * grid) / grid
    return ExpectedRewards(values, stakeholders=stakeholders, actions=actions)


def make_rule(name, parameters=None, expected=None):
    """A rule with the parameters it cannot do without, fitted."""
    parameters = NEEDED.get(name, {}) if parameters is None else parameters
    if parameters.get("rule") == "stakeholder":
        parameters = {**parameters, "rule": strategies.create("stakeholder", {"stakeholder": "Ben"})}
    rule = strategies.create(name, parameters)
    return rule if expected is None else rule.fit(expected, make_known(expected).contexts)


def make_known(expected, seed=0):
    """Everything that any rule may read."""
    generator = np.random.default_rng(seed)
    n = expected.n_contexts
    contexts = Contexts({"age": generator.normal(40, 9, n), "town": np.array(["a", "b"])[generator.integers(0, 2, n)],
                         "taken": np.array(ACTIONS)[np.arange(n) % len(ACTIONS)]})  # fmt: skip
    log = Log(contexts, generator.integers(0, 3, n), generator.integers(0, 3, n))
    weights = np.repeat(generator.dirichlet(np.ones(3), n).T[None], 3, axis=0)
    return Known(OutcomePrediction(weights, None, depends_on_action=False), log, contexts)


ALL_RULES = [(name, None) for name in strategies.names()] + VARIANTS
WITH_WEIGHTS = [name for name in strategies.names() if hasattr(make_rule(name), "weights")]


@pytest.fixture(scope="session")
def expected():
    return make_expected()
