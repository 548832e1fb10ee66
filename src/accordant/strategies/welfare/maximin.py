"""Maximin: the action whose worst-off stakeholder is best off (Rawls 1971)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.strategy import Structure, register


@register("maximin")
@dataclass(frozen=True)
class Maximin(Compromise):
    """Maximise the smallest expected reward, min_i E[i, a, t].

    Weights have no effect, except that weight 0 leaves somebody out.
    """

    dependence: ClassVar[Structure] = "column_score"

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return the reward of the worst-off stakeholder."""
        return Scored(block.heard(weights).smallest)
