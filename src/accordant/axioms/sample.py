"""A seeded sample of E for looking at rules without data: free of ties, full of ties, and full of 0 and 1."""

from __future__ import annotations

import numpy as np

from accordant.errors import InputError
from accordant.utilities import ExpectedRewards

STAKEHOLDERS = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gil", "Hana")
ACTIONS = ("w", "x", "y", "z", "v", "u")
STEPS = (None, 10, 2)  # thirds of the contexts: any number, tenths, halves


def sample(n_contexts: int, seed: int = 0, *, n_stakeholders: int = 3, n_actions: int = 4) -> ExpectedRewards:
    """Return independent uniform E: a third of contexts continuous, a third in tenths, a third in {0, ½, 1}.

    Parameters
    ----------
    n_contexts
        Number of contexts, at least 1.
    seed
        Seed of the draw.
    n_stakeholders, n_actions
        At most 8 and 6.

    Raises
    ------
    InputError
        If a number is out of range.
    """
    allowed = {"contexts": (n_contexts, 1e7), "stakeholders": (n_stakeholders, 8), "actions": (n_actions, 6)}
    for name, (number, most) in allowed.items():
        if not 1 <= number <= most:
            raise InputError(f"{name} is {number}; allowed: 1 to {most:.0f}")
    values = np.random.default_rng(seed).random((n_stakeholders, n_actions, n_contexts))
    for third, steps in enumerate(STEPS):
        part = values[:, :, third::3]
        values[:, :, third::3] = part if steps is None else np.floor(part * (steps + 1)) / steps
    return ExpectedRewards(values, stakeholders=STAKEHOLDERS[:n_stakeholders], actions=ACTIONS[:n_actions])
