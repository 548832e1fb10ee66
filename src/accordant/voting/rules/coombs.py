"""Coombs: the alternative with the most last places goes, until one has a majority of first places (Coombs 1964)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import register
from accordant.voting.rules.elimination import rounds_survived
from accordant.voting.rules.places import first_places, last_places
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.sums import half_of
from accordant.voting.rules.tally import Tally


def coombs_scores(ranks: NDArray[np.signedinteger[Any]], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many rounds each alternative survives, shape (alternative, context).

    In a round, whoever has the most last places among those that remain goes; all of them if several have the most,
    and if that is everybody who remains, they win together. An alternative with more than half of all weight in first
    places can no longer go: it wins, and the others go on for their places. Voters with ties for a first or last place
    share it equally. On strict complete ballots these are the conventions of pref_voting 1.18.

    Parameters
    ----------
    ranks
        Shape (voter, alternative, context).
    weights
        Shape (voter,).
    """
    half = half_of(weights)

    def losers(remaining: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return who has the most last places and no majority of first places."""
        winning = first_places(ranks, weights, remaining, shared=True) > half
        lasts = last_places(ranks, weights, remaining, shared=True)
        open_ones = remaining & ~winning
        most = np.where(open_ones, lasts, -1.0).max(axis=0)
        return np.asarray((open_ones & (lasts == most)) | (remaining & ~open_ones.any(axis=0)))

    return rounds_survived(losers, ranks.shape[1], ranks.shape[2])


@register("coombs")
@dataclass(frozen=True)
class Coombs(VotingRule):
    """Eliminate the most last places, all of them if tied, until one has a majority. Scores are rounds survived."""

    def score(self, tally: Tally) -> Scored:
        """Return the rounds survived."""
        return Scored(coombs_scores(tally.ranks, tally.weights))
