"""Hurwicz: between the worst-off and the best-off stakeholder (Hurwicz 1951)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.strategy import Structure, register


@register("hurwicz")
@dataclass(frozen=True)
class Hurwicz(Compromise):
    """Maximise λ max_i E[i, a, t] + (1 − λ) min_i E[i, a, t].

    Made for decisions under ignorance, with stakeholders in the place of states of the world. Weights have no effect,
    except that weight 0 leaves somebody out.

    Parameters
    ----------
    optimism
        λ in [0, 1]; 0 is maximin.
    """

    dependence: ClassVar[Structure] = "column_score"

    optimism: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.optimism <= 1:
            raise InputError(f"optimism is {self.optimism}; allowed: [0, 1]")

    @property
    def label(self) -> str:
        """Name with λ."""
        return super().label.replace(self.name, f"{self.name}[{self.optimism:g}]", 1)

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return the mixtures of the two extremes."""
        heard = block.heard(weights)
        scores, worst = block.scores(), block.scores()
        np.multiply(self.optimism, heard.largest, out=scores)
        scores += np.multiply(1.0 - self.optimism, heard.smallest, out=worst)
        return Scored(scores)
