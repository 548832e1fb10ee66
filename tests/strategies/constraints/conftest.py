"""Small batches in plain Python, written without the library, and what the tests of every constraint share."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from accordant.contexts import Contexts
from accordant.strategies.constraints import Constrained
from accordant.utilities import ExpectedRewards


class World:
    """A random batch: E on a grid (ties are frequent) or continuous, and a group per context."""

    def __init__(self, seed, n=6, actions=3, stakeholders=2, groups=2, grid=True):
        generator = np.random.default_rng(seed)
        shape = (stakeholders, actions, n)
        self.values = generator.integers(0, 6, shape) / 5 if grid else generator.random(shape)
        self.E = ExpectedRewards(
            self.values, stakeholders=[f"i{i}" for i in range(stakeholders)], actions=[f"a{a}" for a in range(actions)]
        )
        self.groups = generator.integers(0, groups, n)
        self.contexts = Contexts({"group": np.array(["f", "m", "x", "y"])[self.groups], "row": np.arange(n)})

    def decide(self, rule="maximin", **constraints):
        return Constrained(rule, **constraints)(self.E, contexts=self.contexts)

    def scores(self, rule="maximin"):
        """The scores of a rule as lists, one per context."""
        return Constrained(rule)(self.E).scores.T.tolist()


def worth(chosen):
    """A sum of scores as it is compared: few −inf first, then the finite sum."""
    return -sum(score == -math.inf for score in chosen), sum(score for score in chosen if score > -math.inf)


def best_assignment(scores, allowed, fits):
    """The best worth over all assignments of allowed actions that fit, or None."""
    found = None
    for codes in itertools.product(*allowed):
        if fits(codes):
            value = worth([row[a] for row, a in zip(scores, codes, strict=True)])
            found = value if found is None else max(found, value)
    return found


@pytest.fixture(scope="session")
def make_world():
    """The class of random batches."""
    return World


@pytest.fixture(scope="session")
def brute():
    """The best worth over all assignments."""
    return best_assignment


@pytest.fixture(scope="session")
def worth_of():
    """The worth of decisions, of policies by their expectation."""

    def measure(decisions, scores):
        policy = decisions.probabilities().T.tolist()
        lost = sum(p for row, ps in zip(scores, policy, strict=True) for s, p in zip(row, ps, strict=True)
                   if s == -math.inf)  # fmt: skip
        total = sum(p * s for row, ps in zip(scores, policy, strict=True) for s, p in zip(row, ps, strict=True)
                    if s > -math.inf)  # fmt: skip
        return -lost, total

    return measure
