"""α-fairness: from the sum (α = 0) over the product (α = 1) to the worst-off (α = ∞) (Mo and Walrand 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.strategy import Structure, register
from accordant.strategies.welfare.power_mean import checked_aversion, equally_distributed_equivalent, floored


@register("alpha_fairness")
@dataclass(frozen=True)
class AlphaFairness(Compromise):
    """Maximise Σ_i w_i E[i, a, t]^(1 − α) / (1 − α), or Σ_i w_i log E[i, a, t] for α = 1.

    Scores are the power mean of order 1 − α, which puts actions in the same order for every α and stays in [0, 1]
    where the sum would grow without bound. α = 0 chooses as the utilitarian rule, α = 1 as Nash social welfare,
    α = ∞ as maximin; from α = 1 on, rewards below 1e-6 count as 1e-6, and such contexts are flagged ``floored``.

    Parameters
    ----------
    alpha
        Aversion to inequality, in [0, ∞].
    """

    dependence: ClassVar[Structure] = "column_score"

    alpha: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_aversion("alpha", self.alpha)

    @property
    def label(self) -> str:
        """Name with α."""
        return super().label.replace(self.name, f"{self.name}[{self.alpha:g}]", 1)

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return power means of order 1 − α."""
        heard, weights = block.heard(weights), weights[weights > 0]
        return Scored(equally_distributed_equivalent(heard, weights, self.alpha), floored(heard, self.alpha))
