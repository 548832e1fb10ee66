"""Bucklin: lower the bar from first places to second and further ones until a majority is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import register
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.sums import half_of, settled
from accordant.voting.rules.tally import Tally


def bucklin_scores(ranks: NDArray[np.signedinteger[Any]], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (m − depth) W + support at that depth, shape (alternative, context).

    At depth k a voter supports the alternatives with fewer than k above them, but never those at the bottom of the
    ballot, so that leaving alternatives out and tying them at the bottom are the same. The depth of an alternative is
    the first at which more than half of all weight supports it, out of 1 to m − 1; m if there is none, with the support
    at m − 1. Smaller depth wins, then larger support. On strict complete ballots the winners are those of pref_voting
    1.18.

    Parameters
    ----------
    ranks
        How many alternatives each voter puts above each, shape (voter, alternative, context).
    weights
        Shape (voter,).
    """
    n_voters, n_alternatives, n_contexts = ranks.shape
    total, half = float(weights.sum()), half_of(weights)
    supported = ranks < ranks.max(axis=1, keepdims=True)
    scores = np.zeros((n_alternatives, n_contexts))
    reached = np.zeros((n_alternatives, n_contexts), dtype=bool)
    for depth in range(1, n_alternatives):
        marks = (supported & (ranks < depth)).reshape(n_voters, -1).astype(np.float64)
        support = settled((weights @ marks).reshape(n_alternatives, n_contexts), weights)
        majority = support > half
        place = np.where(majority, (n_alternatives - depth) * total, 0.0)
        scores = np.where(reached, scores, place + support)
        reached |= majority
    return scores


@register("bucklin")
@dataclass(frozen=True)
class Bucklin(VotingRule):
    """Choose what first gets a majority as first, then second, then further places count too."""

    def score(self, tally: Tally) -> Scored:
        """Return the depth at which a majority is reached, and the support there."""
        return Scored(tally.unit * bucklin_scores(tally.ranks, tally.weights))
