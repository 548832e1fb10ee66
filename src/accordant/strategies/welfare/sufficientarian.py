"""Sufficientarian: lift as many as possible over a floor (Frankfurt 1987; headcount form, Roemer 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.strategy import Structure, register


@compiled
def weight_above(
    values: NDArray[np.float64], weights: NDArray[np.float64], floors: NDArray[np.float64], total: NDArray[np.float64]
) -> None:
    """Write Σ_i w_i 1[E[i, a, t] ≥ floor_i], shape (action, context)."""
    n_stakeholders, n_actions, n_contexts = values.shape
    total[:] = 0.0
    for a in range(n_actions):
        out = total[a]
        for i in range(n_stakeholders):
            row, weight, floor = values[i, a], weights[i], floors[i]
            for t in range(n_contexts):
                out[t] += weight if row[t] >= floor else 0.0


@register("sufficientarian", aliases=("threshold",))
@dataclass(frozen=True)
class Sufficientarian(Compromise):
    """Maximise the weighted share of stakeholders whose expected reward reaches the floor.

    Ties are the rule rather than the exception, and go to the utilitarian sum as everywhere.

    Parameters
    ----------
    floor
        What is enough, in [0, 1]: one number for everybody, or one per stakeholder.
    """

    dependence: ClassVar[Structure] = "column_score"

    floor: float | tuple[float, ...] = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        floors = np.asarray(self.floor, dtype=np.float64)
        if floors.ndim > 1 or not ((floors >= 0) & (floors <= 1)).all():
            raise InputError(f"floor is {self.floor}; allowed: a number in [0, 1], or one per stakeholder")

    @property
    def label(self) -> str:
        """Name with the floor."""
        shown = ", ".join(f"{floor:g}" for floor in np.atleast_1d(self.floor))
        return super().label.replace(self.name, f"{self.name}[{shown}]", 1)

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return weighted shares of those who reach the floor."""
        floors = np.asarray(self.floor, dtype=np.float64)
        if floors.ndim and len(floors) != len(weights):
            raise InputError(f"{len(floors)} floors were given for {len(weights)} stakeholders")
        reached = np.array(np.broadcast_to(floors, weights.shape)) - block.tolerance
        scores = block.scores()
        weight_above(block.values, weights / weights.sum(), reached, scores)
        return Scored(scores)
