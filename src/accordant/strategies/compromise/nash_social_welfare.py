"""Nash social welfare, which orders actions exactly as proportional fairness does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise.rule import Compromise, Scored
from accordant.strategies.strategy import Scores, register
from accordant.utilities import ExpectedRewards

FLOOR = 1e-6  # the published code's ε: keeps the logarithm finite when somebody expects nothing


def log_product(values: NDArray[np.floating], weights: NDArray[np.float64]) -> Scores:
    """Return Σ_i w_i log max(ε, E[i, a, t]), shape (action, context).

    With weights 1 this is the score of proportional fairness (Kelly 1998), and the logarithm of the
    Nash product ∏_i max(ε, E[i, a, t]) (Kaneko and Nakamura 1979): the same order of actions.
    """
    return np.asarray(np.tensordot(weights, np.log(np.maximum(FLOOR, values)), axes=1))


@register("nash_social_welfare", aliases=("proportional_fairness",))
@dataclass(frozen=True)
class NashSocialWelfare(Compromise):
    """Maximise the product of expected rewards; scores are logarithms of the product.

    Flags contexts as ``floored`` in which some expected reward lies below the floor of 1e-6: there the
    floor, not the data, decides between actions.
    """

    note: ClassVar[str] = "proportional fairness chooses the same action by theorem and is not listed again"

    def score(self, expected: ExpectedRewards, weights: NDArray[np.float64]) -> Scored:
        """Return logarithms of Nash products."""
        floored = np.asarray((expected.values[weights > 0] < FLOOR).any(axis=(0, 1)))
        return Scored(log_product(expected.values, weights), flags={"floored": floored})
