"""Held-back values that can each be shown once: the best k of a drawn without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.consumption.checks import checked_counts, checked_numbers, whole_number
from accordant.slates.consumption.values import summed_gains


@dataclass(frozen=True, eq=False)
class FinitePool:
    """A type with N items of known values, of which a are shown at random; a slate cannot hold more than N of them.

    For draws with replacement, and for slates longer than the pool, use `Discrete`.

    Parameters
    ----------
    values
        At least 0, shape (item,).
    """

    values: ArrayLike

    def __post_init__(self) -> None:
        _ = self.steps  # checks

    @cached_property
    def size(self) -> int:
        """N."""
        return len(checked_numbers("values", self.values, "item"))

    @cached_property
    def steps(self) -> tuple[Values, Values]:
        """Differences v_j − v_{j−1} of distinct values from 0 upwards, and how many of the pool reach each v_j."""
        values = checked_numbers("values", self.values, "item")
        distinct = np.unique(np.concatenate([[0.0], values]))
        return np.diff(distinct), len(values) - np.searchsorted(np.sort(values), distinct[1:]).astype(np.float64)

    def best(self, consumed: int, items: ArrayLike) -> Values:
        """Return h(a), shape of `items`, all of them at most N."""
        largest = int(checked_counts("items", items).max(initial=0))
        if largest > self.size:
            raise InputError(f"items go up to {largest}; allowed: at most the {self.size} of the pool")
        return summed_gains(self.log_gains(consumed, largest), items)

    def log_gains(self, consumed: int, items: int) -> Values:
        """Return log gains, shape (min(items, N),).

        With H_j the number of the first a items that reach v_j, of all K_j that do, one more item adds
        Σ_j (v_j − v_{j−1}) Σ_{i < k} P(H_j = i) (K_j − i) / (N − a).
        """
        heights, reaching = self.steps
        steps = min(whole_number("items", items, 0), self.size)
        if whole_number("consumed", consumed, 1) >= steps:  # all are taken
            with np.errstate(divide="ignore"):
                return np.full(steps, np.log(heights @ reaching / self.size))
        successes = np.arange(consumed)
        left = reaching[:, None] - successes  # of those that reach v_j, after i were shown
        exactly = np.zeros(left.shape)
        exactly[:, 0] = 1.0
        gains = np.zeros(steps)
        for a in range(steps):
            hit = left / (self.size - a)  # a chance, wherever i successes are possible
            gains[a] = heights @ (exactly * hit).sum(axis=1)
            won = exactly[:, :-1] * hit[:, :-1]
            exactly *= 1.0 - hit
            exactly[:, 1:] += won
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(gains))
