"""Utilitarian: the weighted sum of expected rewards (Harsanyi 1955)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.reductions import weighted_sum
from accordant.strategies.strategy import Structure, register


@register("utilitarian")
@dataclass(frozen=True)
class Utilitarian(Compromise):
    """Maximise the weighted mean of expected rewards; weights are normalised to sum 1."""

    dependence: ClassVar[Structure] = "column_score"

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return the weighted means."""
        scores = block.scores()
        weighted_sum(block.values, weights / weights.sum(), scores)
        return Scored(scores)
