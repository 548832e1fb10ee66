"""Leximin: maximin, and where the worst-off are level the second worst-off decide, and so on (Sen 1970)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.strategy import Structure, register


@compiled
def places(ascending: NDArray[np.float64], tolerance: float, scores: NDArray[np.float64]) -> None:
    """Write minus how many actions are leximin-better than each, shape (action, context).

    Parameters
    ----------
    ascending
        Rewards of each action from the worst-off to the best-off, shape (rank, action, context).
    tolerance
        Rewards this close are level.
    """
    n_ranks, n_actions, n_contexts = ascending.shape
    scores[:] = 0.0
    better = np.empty(n_contexts)
    for a in range(n_actions):
        for b in range(a + 1, n_actions):
            for t in range(n_contexts):
                better[t] = 0.0
            for rank in range(n_ranks):
                first, second = ascending[rank, a], ascending[rank, b]
                for t in range(n_contexts):
                    difference = first[t] - second[t]
                    sign = (1.0 if difference > tolerance else 0.0) - (1.0 if difference < -tolerance else 0.0)
                    better[t] = sign if better[t] == 0.0 else better[t]
            loser, winner = scores[b], scores[a]
            for t in range(n_contexts):
                loser[t] -= 1.0 if better[t] > 0.0 else 0.0
                winner[t] -= 1.0 if better[t] < 0.0 else 0.0


@register("leximin")
@dataclass(frozen=True)
class Leximin(Compromise):
    """Maximise the smallest expected reward, among level actions the second smallest, and so on.

    No number per action expresses this order, so scores are places: minus the number of better actions. Actions tie
    only if their sorted rewards are equal. Weights have no effect, except that weight 0 leaves somebody out.
    """

    dependence: ClassVar[Structure] = "column_order"

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return minus the number of better actions."""
        scores = block.scores()
        places(block.heard(weights).ascending, block.tolerance, scores)
        return Scored(scores)
