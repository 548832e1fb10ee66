"""The worked example of the framework's compromise functions, shared by the tests of every rule."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards


@pytest.fixture
def example() -> ExpectedRewards:
    """Three stakeholders, three actions, one context."""
    values = np.array([[0.70, 0.50, 0.30], [0.40, 0.60, 0.50], [0.60, 0.55, 0.35]])
    return ExpectedRewards(values, stakeholders=["i1", "i2", "i3"], actions=["a1", "a2", "a3"])


@pytest.fixture
def problem() -> DecisionProblem:
    """A problem that declares everything a strategy may ask for."""
    return DecisionProblem(
        stakeholders=["i1", "i2", "i3"],
        actions=["a1", "a2", "a3"],
        outcomes=["good", "middling", "bad"],
        favourable_outcomes=["good"],
        outcome_to_action={"good": "a1", "middling": "a2", "bad": "a3"},
        status_quo="a3",
    )
