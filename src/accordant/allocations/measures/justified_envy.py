"""Justified envy: how many pairs there are in which the one with the stronger claim got less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.envy import stronger_claims
from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.scenario import Scenario

MOST_LEVELS = 16  # with more different shares, pairs are compared option by option


@register("justified_envy")
@dataclass(frozen=True)
class JustifiedEnvy(Measure):
    """Number of pairs (i, j) with x_i < x_j, severity_i > severity_j and benefit_i ≥ benefit_j.

    A whole number from 0 to n(n − 1)/2; `envy_pairs` lists them.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "min"

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the number of pairs in each allocation, shape (option,).

        Σ_ij c_ij [x_i < x_j] = Σ_ℓ Σ_ij c_ij [x_i < ℓ] [x_j = ℓ] over the different shares ℓ: one matrix product each.
        """
        claims = stronger_claims(scenario).astype(np.float64)
        levels = levels_of(shares)
        if levels is None:
            return np.array([(claims * (row[:, None] < row)).sum() for row in shares])
        counts = np.zeros(len(shares))
        for level in levels:
            counts += (((shares < level) @ claims) * (shares == level)).sum(axis=1)
        return counts


def levels_of(shares: NDArray[np.float64]) -> list[float] | None:
    """Return the different shares but the lowest, rising; None if there are more than a few."""
    levels: list[float] = []
    lowest = float(shares.min(initial=np.inf))
    left = shares > lowest
    while left.any():
        if len(levels) == MOST_LEVELS:
            return None
        levels.append(float(shares.min(where=left, initial=np.inf)))
        left = shares > levels[-1]
    return levels
