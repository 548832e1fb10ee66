"""What each context gains if an action of one set is taken instead of one of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.strategies.constraints.batch import Batch, Best

DECIMALS = 12  # gains that agree so far are equal, and ties decide


@dataclass(frozen=True, eq=False)
class Exchange:
    """Two sides, the best action of a set and the best of the others, in each context.

    Attributes
    ----------
    inside, outside
        The two sides.
    prefers
        Whether the context by itself would be inside, shape (context,).
    forced
        Whether it must be inside, shape (context,).
    free
        Whether both sides are admissible, shape (context,).
    spared
        Scores of −inf that going inside spares: 1, 0 or −1, shape (context,).
    gain
        What going inside adds to the finite scores, shape (context,). The pair (spared, gain), compared in this order,
        is at least (0, 0) exactly where the context prefers to be inside.
    """

    inside: Best
    outside: Best
    prefers: Mask
    forced: Mask
    free: Mask
    spared: NDArray[np.int8]
    gain: Values

    @classmethod
    def of(cls, batch: Batch, actions: Mask) -> Self:
        """Compare a set of actions with all others."""
        inside, outside = batch.best_of(actions), batch.best_of(~actions)
        spared = outside.hopeless.astype(np.int8) - inside.hopeless.astype(np.int8)
        gain = np.round(inside.score - outside.score, DECIMALS)
        prefers = np.asarray(actions[batch.codes])
        rounding = (spared == 0) & np.where(prefers, gain < 0, gain > 0)  # a tie that was decided the other way
        gain[rounding] = 0.0
        return cls(
            inside, outside, prefers, inside.exists & ~outside.exists, inside.exists & outside.exists, spared, gain
        )

    def keys(self, rows: Codes) -> tuple[Values, float]:
        """Return numbers in the order of (spared, gain), and the weight of `spared` in them."""
        gain, spared = self.gain[rows], self.spared[rows]
        weight = 4.0 * float(np.abs(gain).max(initial=0.0)) + 1.0
        return (gain + weight * spared if spared.any() else gain), weight

    def leading(self, rows: Codes, count: int) -> Codes:
        """Return the `count` rows that gain most from being inside, in no particular order but the last one last.

        Equal gains go to contexts that prefer to be inside, then to the larger gain of the utilitarian sum, then to
        the earlier context.
        """
        if count == 0:
            return rows[:0]
        keys, _ = self.keys(rows)
        cut = np.partition(keys, len(keys) - count)[len(keys) - count]
        above, level = rows[keys > cut], rows[keys == cut]
        welfare = self.inside.total[level] - self.outside.total[level]
        order = np.lexsort((level, -np.round(welfare, DECIMALS), ~self.prefers[level]))
        return np.concatenate([above, level[order[: count - len(above)]]])

    def codes(self, inside: Mask) -> NDArray[np.signedinteger]:
        """Return the actions of contexts that are inside, or outside, shape (context,)."""
        return np.where(inside, self.inside.codes, self.outside.codes)
