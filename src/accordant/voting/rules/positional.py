"""Positional rules: first places, last places, points for places.

plurality               most first places
anti_plurality          fewest last places: veto
borda                   a point for every alternative that a voter puts below (Borda 1784)
bucklin                 first places, then second ones too, and further, until a majority is reached
random_dictatorship     one voter is drawn and decides (Gibbard 1977)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Integers, Values
from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import register
from accordant.voting.rules.rule import LotteryRule, RankRule, VotingRule
from accordant.voting.rules.sums import half_of, settle
from accordant.voting.rules.tally import Tally, first_places, last_places


def plurality_scores(ranks: Integers, weights: Values) -> Values:
    """Return the weight of first places, shape (alternative, context).

    A voter with k alternatives tied for the first place gives each 1/k of a vote: one voter, one vote.
    """
    return first_places(ranks, weights, shared=True)


@register("plurality")
@dataclass(frozen=True)
class Plurality(RankRule):
    """Choose what most voters put first; voters with several firsts share their vote among them."""

    formula = staticmethod(plurality_scores)
    in_weight = True


def anti_plurality_scores(ranks: Integers, weights: Values) -> Values:
    """Return minus the weight of last places, shape (alternative, context).

    A voter with k alternatives tied for the last place, as those left unranked are, gives each 1/k of a veto.
    """
    vetoes = last_places(ranks, weights, shared=True)
    return np.subtract(0.0, vetoes, out=vetoes)


@register("anti_plurality", aliases=("veto",))
@dataclass(frozen=True)
class AntiPlurality(RankRule):
    """Choose what fewest voters put last; voters with several lasts share their veto among them."""

    formula = staticmethod(anti_plurality_scores)
    in_weight = True


def borda_scores(margins: Values, total: float) -> Values:
    """Return Borda's points, shape (alternative, context).

    Per voter, one point for each alternative put below and half a point for each tied. This is (Σ_b margin(a, b) +
    (m − 1) W) / 2, the symmetric Borda score up to a constant (Terzopoulou and Endriss 2021, "The Borda class").

    Parameters
    ----------
    margins
        Shape (a, b, context).
    total
        W, the sum of the weights.
    """
    points = margins.sum(axis=1)
    points += (len(margins) - 1) * total
    points /= 2
    return np.asarray(points)


@register("borda")
@dataclass(frozen=True)
class Borda(VotingRule):
    """Choose the most points, one for each alternative that a voter puts below and half for each that is tied."""

    def score(self, tally: Tally) -> Scored:
        """Return Borda's points."""
        points = tally.unit * borda_scores(tally.margins, tally.total)
        return Scored(points, tally.condorcet_flag)


def bucklin_scores(ranks: Integers, weights: Values) -> Values:
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
        support = settle((weights @ marks).reshape(n_alternatives, n_contexts), weights)
        majority = support > half
        place = np.where(majority, (n_alternatives - depth) * total, 0.0)
        scores = np.where(reached, scores, place + support)
        reached |= majority
    return scores


@register("bucklin")
@dataclass(frozen=True)
class Bucklin(RankRule):
    """Choose what first gets a majority as first, then second, then further places count too."""

    formula = staticmethod(bucklin_scores)
    in_weight = True


def random_dictatorship_probabilities(ranks: Integers, weights: Values) -> Values:
    """Return the share of weight that puts each alternative first, shape (alternative, context).

    A drawn voter with several first alternatives draws one of them.
    """
    firsts = first_places(ranks, weights, shared=True)
    firsts /= firsts.sum(axis=0)
    return firsts


@register("random_dictatorship")
@dataclass(frozen=True)
class RandomDictatorship(LotteryRule, RankRule):
    """Draw a voter by weight and do what that voter puts first. Scores are probabilities."""

    formula = staticmethod(random_dictatorship_probabilities)
