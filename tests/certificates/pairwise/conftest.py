"""Rules whose reference points come from the context, in every mode, and worlds for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import accordant as ac
from accordant import strategies

NAMES, ACTIONS = ("P", "Q", "R"), ("a1", "a2", "a3", "a4")
UNEQUAL, PARTIAL = (1.0, 2.0, 0.5), (1.0, 0.0, 0.5)
FIRST, SECOND = ({"disagreement": "status_quo", "status_quo": name} for name in ACTIONS[:2])
CONTEXT = [
    ("kalai_smorodinsky", {}),
    ("kalai_smorodinsky", {"weights": PARTIAL}),
    ("nash_bargaining", {}),
    ("nash_bargaining", {"weights": UNEQUAL}),
    ("nash_bargaining", {"weights": PARTIAL}),
    ("compromise_programming", {}),
    ("compromise_programming", {"weights": UNEQUAL}),
    ("compromise_programming", {"two_sided": True, "weights": PARTIAL}),
    ("compromise_programming", {"exponent": 1.0, "weights": UNEQUAL}),
    ("compromise_programming", {"exponent": 1.5}),
    ("compromise_programming", {"exponent": 3.0, "weights": UNEQUAL}),
    ("compromise_programming", {"exponent": 60.0, "weights": UNEQUAL}),
    ("compromise_programming", {"exponent": np.inf, "weights": UNEQUAL}),
    ("minimax_regret", {}),
    ("minimax_regret", {"weights": UNEQUAL}),
    ("relative_utilitarian", {}),
    ("relative_utilitarian", {"weights": UNEQUAL}),
    ("egalitarian_equivalent", {}),
    ("egalitarian_equivalent", {"weights": UNEQUAL}),
    ("range", {"normalised": True}),
    ("range", {"normalised": True, "weights": (10.0, 30.0, 2.0)}),
]
STATUS_QUO = [
    ("kalai_smorodinsky", FIRST),
    ("kalai_smorodinsky", SECOND | {"ideal": 0.75}),
    ("nash_bargaining", FIRST),
    ("nash_bargaining", SECOND | {"weights": UNEQUAL}),
    ("relative_utilitarian", FIRST),
    ("relative_utilitarian", SECOND | {"ideal": 0.75}),
    ("egalitarian_equivalent", SECOND),
    ("egalitarian_equivalent", FIRST | {"weights": UNEQUAL}),
]
MIXED = [
    ("kalai_smorodinsky", {"disagreement": 0.25}),
    ("kalai_smorodinsky", {"ideal": 0.6}),
    ("relative_utilitarian", {"disagreement": (0.3, 0.1, 0.5)}),
    ("relative_utilitarian", {"ideal": 0.6, "weights": UNEQUAL}),
]


def made(table):
    return [strategies.create(name, parameters) for name, parameters in table]


def named(rule):
    return rule.label if rule.weights is None else f"{rule.label} {rule.weights}"


@pytest.fixture(params=made(CONTEXT + STATUS_QUO + MIXED), ids=named)
def rule(request):
    """A rule in some mode."""
    return request.param


@pytest.fixture(params=made(CONTEXT), ids=named)
def context_rule(request):
    """A rule with every reference point from the context."""
    return request.param


@pytest.fixture
def world() -> Callable[[np.ndarray], ac.ExpectedRewards]:
    """Make expected rewards of an array."""

    def make(values: np.ndarray) -> ac.ExpectedRewards:
        """Name stakeholders and actions."""
        values = np.asarray(values, dtype=float)
        return ac.ExpectedRewards(values, stakeholders=NAMES[: len(values)], actions=ACTIONS[: values.shape[1]])

    return make


@pytest.fixture
def enumerated(world):
    """Find every action that some report on a grid of the box makes win, by trying them all."""

    def find(rule, values, members, delta, levels):
        """Decide on every point of the grid."""
        entries = [(i, a) for i in members for a in range(values.shape[1])]
        grids = [np.unique(np.clip(values[entry] + np.linspace(-delta, delta, levels), 0.0, 1.0)) for entry in entries]
        points = np.meshgrid(*grids, indexing="ij")
        reported = np.repeat(values[:, :, None], points[0].size, axis=2)
        for entry, points_of_entry in zip(entries, points, strict=True):
            reported[entry] = points_of_entry.ravel()
        return np.bincount(rule(world(reported)).codes, minlength=values.shape[1]) > 0

    return find
