"""Minimax regret: the stakeholder who misses most should miss as little as possible (Savage 1951)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.distance.shortfalls import largest_shortfall
from accordant.strategies.strategy import Structure, register


@register("minimax_regret")
@dataclass(frozen=True)
class MinimaxRegret(Compromise):
    """Minimise max_i w_i (max_b E[i, b, t] − E[i, a, t]); scores are minus the largest regret.

    Made for decisions under ignorance, with stakeholders in the place of states of the world. Chooses as compromise
    programming with p = ∞ and the ideal point of the context. An action that nobody prefers may change the choice.
    """

    def structure(self, *, frozen: bool = False) -> Structure:
        """Return ``column_score`` if the best rewards of the context stay what they were."""
        return "column_score" if frozen else "other"

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return minus the largest regrets."""
        regret = block.scores()
        largest_shortfall(block.values, block.reference.highs, weights, False, regret)
        return Scored(np.negative(regret, out=regret), quantities={"ideal": block.reference.highs})
