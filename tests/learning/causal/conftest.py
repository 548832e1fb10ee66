"""Synthetic worlds with known levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray


@dataclass(frozen=True)
class World:
    """Training arrays, and untouched contexts with their true levels (action, context)."""

    X: NDArray[np.float64]
    actions: NDArray[np.int64]
    outcomes: NDArray[np.float64]
    propensities: NDArray[np.float64]
    levels: NDArray[np.float64]
    X_new: NDArray[np.float64]
    levels_new: NDArray[np.float64]


def linear_levels(X: NDArray[np.float64], n_actions: int) -> NDArray[np.float64]:
    """Level 0 is 2 + 2 x0; action 1 adds 1 + 1.5 x1; action 2 adds x0 - x2."""
    control = 2.0 + 2.0 * X[:, 0]
    return np.stack([control, control + 1.0 + 1.5 * X[:, 1], control + X[:, 0] - X[:, 2]])[:n_actions]


def make_linear_world(n_actions: int, contexts: int = 500, seed: int = 7) -> World:
    """Linear levels, noise sd 0.5, actions drawn by a softmax of the first features (confounded)."""
    random = np.random.default_rng(seed)
    X, X_new = random.normal(size=(contexts, 4)), random.normal(size=(200, 4))
    logits = np.stack([0.0 * X[:, 0], 0.8 * X[:, 0], 0.8 * X[:, 1]])[:n_actions]
    propensities = np.exp(logits) / np.exp(logits).sum(axis=0)
    actions = (random.random(contexts) > np.cumsum(propensities, axis=0)).sum(axis=0)
    actions = np.minimum(actions, n_actions - 1).astype(np.int64)
    levels = linear_levels(X, n_actions)
    outcomes = levels[actions, np.arange(contexts)] + random.normal(scale=0.5, size=contexts)
    return World(X, actions, outcomes, propensities, levels, X_new, linear_levels(X_new, n_actions))


@pytest.fixture(scope="session")
def two_actions() -> World:
    return make_linear_world(2)


@pytest.fixture(scope="session")
def three_actions() -> World:
    return make_linear_world(3)
