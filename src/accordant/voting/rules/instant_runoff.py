"""Instant runoff: the alternative with the fewest first places goes, again and again (Hare; Ware 1871)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import register
from accordant.voting.rules.elimination import rounds_survived
from accordant.voting.rules.places import first_places
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.tally import Tally


def instant_runoff_scores(ranks: NDArray[np.signedinteger[Any]], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many rounds each alternative survives, shape (alternative, context).

    In a round, whoever has the fewest first places among those that remain goes; all of them if several have the
    fewest, and if that is everybody who remains, they win together. A voter with several alternatives tied for the
    first place supports each with full weight (approval instant runoff, Delemazure and Peters 2024), so that a ballot
    with nobody left on it supports all alike. These are the conventions of pref_voting 1.18.

    Parameters
    ----------
    ranks
        Shape (voter, alternative, context).
    weights
        Shape (voter,).
    """

    def losers(remaining: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return who has the fewest first places."""
        firsts = first_places(ranks, weights, remaining, shared=False)
        fewest = np.where(remaining, firsts, np.inf).min(axis=0)
        return np.asarray(remaining & (firsts == fewest))

    return rounds_survived(losers, ranks.shape[1], ranks.shape[2])


@register("instant_runoff", aliases=("irv",))
@dataclass(frozen=True)
class InstantRunoff(VotingRule):
    """Eliminate the fewest first places, all of them if tied, until one remains. Scores are rounds survived."""

    def score(self, tally: Tally) -> Scored:
        """Return the rounds survived."""
        return Scored(instant_runoff_scores(tally.ranks, tally.weights))
