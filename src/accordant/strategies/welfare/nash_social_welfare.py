"""Nash social welfare, which orders actions exactly as proportional fairness does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.reductions import log_product
from accordant.strategies.strategy import Structure, register

FLOOR = 1e-6  # the published code's ε: keeps the logarithm finite when somebody expects nothing


@register("nash_social_welfare", aliases=("proportional_fairness",))
@dataclass(frozen=True)
class NashSocialWelfare(Compromise):
    """Maximise the product of expected rewards; scores are logarithms of the product.

    Σ_i w_i log max(ε, E[i, a, t]) is, with weights 1, the score of proportional fairness (Kelly 1998), and the
    logarithm of the Nash product ∏_i max(ε, E[i, a, t]) (Kaneko and Nakamura 1979): the same order of actions.

    Flags contexts as ``floored`` in which some expected reward lies below the floor of 1e-6: there the
    floor, not the data, decides between actions.
    """

    dependence: ClassVar[Structure] = "column_score"

    note: ClassVar[str] = "proportional fairness chooses the same action by theorem and is not listed again"
    logarithmic: ClassVar[bool] = True

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return logarithms of Nash products."""
        heard = block.heard(weights)
        floored = np.asarray((heard.smallest < FLOOR).any(axis=0))
        scores = block.scores()
        log_product(heard.values, heard.zeros, weights[weights > 0], at_most=FLOOR, count_as=FLOOR, out=scores)
        return Scored(scores, flags={"floored": floored})
