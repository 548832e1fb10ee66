"""From learned rewards to [0, 1].

Comparisons identify a reward up to a constant, in log-odds of choices (Bradley and Terry 1952). An affine map
(r − low) / (high − low), clipped, makes it a reward of a decision problem. Where low and high lie is our choice:

    by range    low: the smallest, over cells, of the 1 % quantile over training rows; high: the largest 99 % quantile
    by anchors  low and high: the means over training rows of two declared cells

Quantiles instead of extremes: one row with an odd context would otherwise squeeze everybody else together. Without
context columns they are the smallest and the largest reward of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.errors import DataError

TAIL = 0.01  # share of training rows beyond each end of the range, for the cell that reaches furthest
NEGLIGIBLE = (
    1e-3  # log-odds: a range that moves the probability of a choice by less than 0.03 % is rounding, not a wish
)
MIDDLE = 0.5  # reward of everything if nothing is preferred to anything


@dataclass(frozen=True)
class Scale:
    """An affine map to [0, 1], clipped.

    Attributes
    ----------
    low, high
        Learned rewards that become 0 and 1; equal if nothing is preferred to anything, and then everything is ½.
    """

    low: float
    high: float

    @classmethod
    def by_range(cls, rewards: Values) -> Scale:
        """Return the scale from learned rewards of all cells on training rows, shape (cell, context)."""
        lows, highs = np.quantile(rewards, [TAIL, 1 - TAIL], axis=1)
        low, high = float(lows.min()), float(highs.max())
        return cls(low, high) if high - low > NEGLIGIBLE else cls(low, low)

    @classmethod
    def by_anchors(cls, lowest: Values, highest: Values) -> Scale:
        """Return the scale from learned rewards of two cells on training rows, shape (context,) each.

        Raises
        ------
        DataError
            If the comparisons do not put the highest above the lowest.
        """
        low, high = float(lowest.mean()), float(highest.mean())
        if not low < high:
            raise DataError(
                f"the comparisons give the anchor 'highest' a reward of {high:.3g} and 'lowest' one of {low:.3g} in "
                "log-odds; allowed: highest above lowest"
            )
        return cls(low, high)

    def __call__(self, rewards: Values) -> Values:
        """Return rewards in [0, 1], shape as given."""
        if self.low == self.high:
            return np.full(np.shape(rewards), MIDDLE)
        return np.clip((rewards - self.low) / (self.high - self.low), 0.0, 1.0)

    def outside(self, rewards: Values) -> tuple[float, float]:
        """Return the shares of learned rewards below and above the ends."""
        if self.low == self.high:
            return 0.0, 0.0
        return float(np.mean(rewards < self.low)), float(np.mean(rewards > self.high))
