"""A strategy of one's own, in one file: register it, then use it by name like every other.

The rule likes high rewards and dislikes that they lie far apart: mean − λ (max − min).

    python examples/own_strategy.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import accordant as ac
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored


@ac.strategies.register("mean_less_range")
@dataclass(frozen=True)
class MeanLessRange(Compromise):
    """Maximise the mean expected reward less λ times its range over stakeholders.

    Parameters
    ----------
    aversion
        λ of at least 0; 0 is the utilitarian rule.
    """

    aversion: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.aversion >= 0:
            raise InputError(f"aversion is {self.aversion}; allowed: at least 0")

    @property
    def label(self) -> str:
        """Name and λ, so that two of them can stand in one leaderboard."""
        return f"{super().label}[{self.aversion:g}]"

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return Φ, shape (action, context)."""
        values = block.values[weights > 0]
        return Scored(values.mean(axis=0) - self.aversion * np.ptp(values, axis=0))


def main() -> None:
    """Decide one context with several λ."""
    E = ac.ExpectedRewards(
        [[0.9, 0.6, 0.5], [0.3, 0.5, 0.5]], stakeholders=["Library", "Neighbours"], actions=["Late", "Early", "As is"]
    )
    for aversion in (0.0, 0.5, 1.0):
        decisions = ac.strategies.create("mean_less_range", {"aversion": aversion})(E)
        print(f"{decisions.strategy:20} {decisions.actions[0]:6} tied={bool(decisions.tied[0])}")
    print("rebuilt from its record:", ac.strategies.create("mean_less_range", MeanLessRange(aversion=0.25).parameters))


if __name__ == "__main__":
    main()
