"""Worlds with known truth, shared by the tests of learners."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.preferences import Comparisons
from accordant.preferences.learners.logistic import sigmoid


def opposed_groups(share=0.9, n=3000, seed=0):
    """Two opposed groups of 100 users: the first wants more of the only feature, the second less."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n * 2, 1))
    users = generator.integers(0, 100, n)
    wants = np.where(np.arange(100) < 100 * share, 1.0, -1.0)
    first, second = np.arange(n), np.arange(n, 2 * n)
    margin = 2.0 * wants[users] * (features[first, 0] - features[second, 0])
    right = generator.random(n) < sigmoid(margin)
    groups = tuple(np.where(wants > 0, "many", "few"))
    names = tuple(map(str, range(100)))
    return Comparisons(features, np.where(right, first, second), np.where(right, second, first), users, names, groups)


@pytest.fixture
def opposed():
    """The maker of worlds with two opposed groups."""
    return opposed_groups
