"""Plurality: most first places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import register
from accordant.voting.rules.places import first_places
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.tally import Tally


def plurality_scores(ranks: NDArray[np.signedinteger[Any]], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of first places, shape (alternative, context).

    A voter with k alternatives tied for the first place gives each 1/k of a vote: one voter, one vote.

    Parameters
    ----------
    ranks
        Shape (voter, alternative, context).
    weights
        Shape (voter,).
    """
    return first_places(ranks, weights, shared=True)


@register("plurality")
@dataclass(frozen=True)
class Plurality(VotingRule):
    """Choose what most voters put first; voters with several firsts share their vote among them."""

    def score(self, tally: Tally) -> Scored:
        """Return the weight of first places."""
        return Scored(tally.unit * plurality_scores(tally.ranks, tally.weights))
