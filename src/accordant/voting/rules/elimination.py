"""Rules that eliminate: round by round the losers go, and whoever stays longest wins.

instant_runoff      the fewest first places go (Hare; Ware 1871)
coombs              the most last places go, until one has a majority of first places (Coombs 1964)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.strategies.strategy import register
from accordant.voting.rules.rule import RankRule
from accordant.voting.rules.sums import half_of
from accordant.voting.rules.tally import first_places, last_places


def rounds_survived(losers_of: Callable[[Mask], Mask], n_alternatives: int, n_contexts: int) -> Values:
    """Return how many eliminations each alternative survives, shape (alternative, context).

    A context is finished when its losers are all that remain: they tie and win.

    Parameters
    ----------
    losers_of
        From which alternatives remain to which of them lose, both of shape (alternative, context); at least one loses
        in each context.
    n_alternatives, n_contexts
        Shape of the result.
    """
    remaining = np.ones((n_alternatives, n_contexts), dtype=bool)
    survived = np.zeros((n_alternatives, n_contexts))
    for _ in range(n_alternatives - 1):
        losers = losers_of(remaining)
        staying = remaining & ~losers
        goes_on = staying.any(axis=0)
        if not goes_on.any():
            break
        survived += staying
        remaining = np.where(goes_on, staying, remaining)
    return survived


def instant_runoff_scores(ranks: Integers, weights: Values) -> Values:
    """Return how many rounds each alternative survives, shape (alternative, context).

    In a round, whoever has the fewest first places among those that remain goes; all of them if several have the
    fewest, and if that is everybody who remains, they win together. A voter with several alternatives tied for the
    first place supports each with full weight (approval instant runoff, Delemazure and Peters 2024), so that a ballot
    with nobody left on it supports all alike. These are the conventions of pref_voting 1.18.
    """

    def losers(remaining: Mask) -> Mask:
        """Return who has the fewest first places."""
        firsts = first_places(ranks, weights, remaining, shared=False)
        fewest = np.where(remaining, firsts, np.inf).min(axis=0)
        return np.asarray(remaining & (firsts == fewest))

    return rounds_survived(losers, ranks.shape[1], ranks.shape[2])


@register("instant_runoff", aliases=("irv",))
@dataclass(frozen=True)
class InstantRunoff(RankRule):
    """Eliminate the fewest first places, all of them if tied, until one remains. Scores are rounds survived."""

    formula = staticmethod(instant_runoff_scores)


def coombs_scores(ranks: Integers, weights: Values) -> Values:
    """Return how many rounds each alternative survives, shape (alternative, context).

    In a round, whoever has the most last places among those that remain goes; all of them if several have the most,
    and if that is everybody who remains, they win together. An alternative with more than half of all weight in first
    places can no longer go: it wins, and the others go on for their places. Voters with ties for a first or last place
    share it equally. On strict complete ballots these are the conventions of pref_voting 1.18.
    """
    half = half_of(weights)

    def losers(remaining: Mask) -> Mask:
        """Return who has the most last places and no majority of first places."""
        winning = first_places(ranks, weights, remaining, shared=True) > half
        lasts = last_places(ranks, weights, remaining, shared=True)
        open_ones = remaining & ~winning
        most = np.where(open_ones, lasts, -1.0).max(axis=0)
        return np.asarray((open_ones & (lasts == most)) | (remaining & ~open_ones.any(axis=0)))

    return rounds_survived(losers, ranks.shape[1], ranks.shape[2])


@register("coombs")
@dataclass(frozen=True)
class Coombs(RankRule):
    """Eliminate the most last places, all of them if tied, until one has a majority. Scores are rounds survived."""

    formula = staticmethod(coombs_scores)
