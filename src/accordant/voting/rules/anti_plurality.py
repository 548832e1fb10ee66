"""Anti-plurality, or veto: fewest last places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import register
from accordant.voting.rules.places import last_places
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.tally import Tally


def anti_plurality_scores(ranks: NDArray[np.signedinteger[Any]], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return minus the weight of last places, shape (alternative, context).

    A voter with k alternatives tied for the last place, as those left unranked are, gives each 1/k of a veto.

    Parameters
    ----------
    ranks
        Shape (voter, alternative, context).
    weights
        Shape (voter,).
    """
    vetoes = last_places(ranks, weights, shared=True)
    return np.subtract(0.0, vetoes, out=vetoes)


@register("anti_plurality", aliases=("veto",))
@dataclass(frozen=True)
class AntiPlurality(VotingRule):
    """Choose what fewest voters put last; voters with several lasts share their veto among them."""

    def score(self, tally: Tally) -> Scored:
        """Return minus the weight of last places."""
        return Scored(tally.unit * anti_plurality_scores(tally.ranks, tally.weights))
