"""A strategy of one's own, in one file: register it, then use it by name like every other.

The Hurwicz rule looks at the worst-off and the best-off stakeholder: α min_i E + (1 − α) max_i E (Hurwicz 1951).

    python examples/own_strategy.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import accordant as ac
from accordant.errors import InputError
from accordant.strategies.compromise.rule import Compromise, Scored


@ac.strategies.register("hurwicz")
@dataclass(frozen=True)
class Hurwicz(Compromise):
    """Weigh the smallest expected reward with α and the largest with 1 − α.

    Parameters
    ----------
    alpha
        Weight of the worst-off stakeholder, in [0, 1]; 1 is maximin.
    """

    alpha: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha is {self.alpha}; allowed: [0, 1]")

    @property
    def label(self) -> str:
        """Name and α, so that two of them can stand in one leaderboard."""
        return f"{super().label}[{self.alpha:g}]"

    def score(self, expected: ac.ExpectedRewards, weights: NDArray[np.float64]) -> Scored:
        """Return Φ, shape (action, context)."""
        values = expected.values[weights > 0]
        return Scored(self.alpha * values.min(axis=0) + (1 - self.alpha) * values.max(axis=0))


def main() -> None:
    """Decide one context with several α."""
    E = ac.ExpectedRewards(
        [[0.9, 0.6, 0.5], [0.1, 0.5, 0.5]], stakeholders=["Library", "Neighbours"], actions=["Late", "Early", "As is"]
    )
    for alpha in (0.0, 0.5, 1.0):
        decisions = ac.strategies.create("hurwicz", {"alpha": alpha})(E)
        print(f"{decisions.strategy:14} {decisions.actions[0]:6} tied={bool(decisions.tied[0])}")
    print("rebuilt from its record:", ac.strategies.create("hurwicz", Hurwicz(alpha=0.25).parameters))


if __name__ == "__main__":
    main()
