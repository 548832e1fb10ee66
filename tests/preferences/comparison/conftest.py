"""Two groups of users who want opposite things, as a source and as records."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.preferences.records import Comparisons


@pytest.fixture
def opposed():
    """Return 8 users of one group and 4 of another, 10 records each."""
    generator = np.random.default_rng(1)
    users = np.repeat(np.arange(12), 10)
    items = generator.normal(size=(240, 3))
    taste = np.where(users < 8, 1.0, -1.0)
    first = (items[::2] - items[1::2])[:, 0] * taste > 0
    chosen = np.where(first, np.arange(0, 240, 2), np.arange(1, 240, 2))
    rejected = np.where(first, np.arange(1, 240, 2), np.arange(0, 240, 2))
    return Comparisons(items, chosen, rejected, users, groups=("most",) * 8 + ("few",) * 4)
