"""One tree of random generators per comparison: every consumer has its own branch of one seed."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

Branch = Literal["users", "split", "groups", "models", "resamples", "tests", "folds", "items"]


def branch(seed: int, name: Branch) -> np.random.Generator:
    """Return the generator of a branch: independent of the others, and the same for the same seed."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(get_args(Branch).index(name),)))
