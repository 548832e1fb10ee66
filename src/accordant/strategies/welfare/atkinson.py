"""Atkinson: the mean, less what inequality costs (Atkinson 1970)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.reductions import weighted_sum
from accordant.strategies.strategy import Structure, register
from accordant.strategies.welfare.nash_social_welfare import FLOOR
from accordant.strategies.welfare.power_mean import checked_aversion, equally_distributed_equivalent, floored


@compiled
def index_of_inequality(
    equivalent: NDArray[np.float64], mean: NDArray[np.float64], inequality: NDArray[np.float64]
) -> None:
    """Write Atkinson's index 1 − EDE / μ, and 0 where nobody expects anything, shape (action, context)."""
    n_actions, n_contexts = mean.shape
    for a in range(n_actions):
        out, alike, average = inequality[a], equivalent[a], mean[a]
        for t in range(n_contexts):
            index = 1.0 - alike[t] / average[t] if average[t] > 0.0 else 0.0
            out[t] = index if index > 0.0 else 0.0


@register("atkinson")
@dataclass(frozen=True)
class Atkinson(Compromise):
    """Maximise the equally distributed equivalent μ (1 − A_ε): the mean reward less Atkinson's index of inequality.

    Orders actions as α-fairness with α = ε does, and also gives the index A_ε in [0, 1] as the quantity
    ``inequality``. Minimising the index alone would prefer nothing for everybody to a little more for one.

    Parameters
    ----------
    aversion
        ε in [0, ∞].
    """

    dependence: ClassVar[Structure] = "column_score"

    aversion: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_aversion("aversion", self.aversion)

    @property
    def label(self) -> str:
        """Name with ε."""
        return super().label.replace(self.name, f"{self.name}[{self.aversion:g}]", 1)

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return equally distributed equivalents."""
        heard, weights = block.heard(weights), weights[weights > 0]
        equivalent = equally_distributed_equivalent(heard, weights, self.aversion)
        mean, inequality = block.scores(), block.scores()
        rewards = heard.values if self.aversion < 1 else np.maximum(heard.values, FLOOR)
        weighted_sum(rewards, weights / weights.sum(), mean)
        index_of_inequality(equivalent, mean, inequality)
        return Scored(equivalent, floored(heard, self.aversion), {"inequality": inequality})
