"""One tree of random generators per run: every consumer has its own named branch."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

Branch = Literal[
    "subset",
    "folds",
    "elicitation",
    "augmentation",
    "models",
    "resamples",
    "simulation",
    "proxies",
    "conflict",
    "attacks",
]
_BRANCHES: tuple[Branch, ...] = get_args(Branch)


def generator(seed: int, branch: Branch) -> np.random.Generator:
    """Return the generator of a branch; the same seed and branch always give the same numbers.

    Branches are independent (`numpy.random.SeedSequence` spawn keys), so drawing more in one of them
    changes nothing in another.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_BRANCHES.index(branch),)))


def model_seed(seed: int) -> int:
    """Return the integer that scikit-learn estimators take as ``random_state``."""
    return int(generator(seed, "models").integers(2**31 - 1))
