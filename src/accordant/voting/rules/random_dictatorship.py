"""Random dictatorship: one voter is drawn and decides (Gibbard 1977)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import register
from accordant.voting.rules.places import first_places
from accordant.voting.rules.rule import LotteryRule
from accordant.voting.rules.tally import Tally


def random_dictatorship_probabilities(
    ranks: NDArray[np.signedinteger[Any]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the share of weight that puts each alternative first, shape (alternative, context).

    A drawn voter with several first alternatives draws one of them.

    Parameters
    ----------
    ranks
        Shape (voter, alternative, context).
    weights
        Shape (voter,).
    """
    firsts = first_places(ranks, weights, shared=True)
    firsts /= firsts.sum(axis=0)
    return firsts


@register("random_dictatorship")
@dataclass(frozen=True)
class RandomDictatorship(LotteryRule):
    """Draw a voter by weight and do what that voter puts first. Scores are probabilities."""

    def score(self, tally: Tally) -> Scored:
        """Return the probabilities."""
        return Scored(random_dictatorship_probabilities(tally.ranks, tally.weights))
