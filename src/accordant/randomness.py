"""One tree of random generators per run: every consumer has its own named branch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

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
    "agents",
    "settlement",
    "nulls",
    "visitors",
    "reference",
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


def keyed_uniform(seed: int, keys: Iterable[str]) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each key, shape (key,): it depends on the seed and on that key alone.

    Unlike a draw per position, this survives reordering, adding and leaving out keys.
    """
    digests = (hashlib.sha256(f"{seed}:{key}".encode()).digest() for key in keys)
    return np.array([int.from_bytes(digest[:7], "big") for digest in digests], dtype=np.float64) / 2.0**56


def keyed_seed(seed: int, key: str) -> int:
    """Return a seed that depends on another seed and a key alone."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{key}".encode()).digest()[:7], "big")
