"""Rules on pairwise margins.

copeland        most pairwise victories less defeats (Copeland 1951)
minimax         the smallest worst defeat (Simpson 1969, Kramer 1977)
schulze         strongest paths of victories (Schulze 2011)
ranked_pairs    victories locked in from the largest margin down, unless they close a cycle (Tideman 1987)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.kernels import compiled
from accordant.strategies.strategy import register
from accordant.voting.rules.rule import MarginRule
from accordant.voting.rules.tally import MANY_CONTEXTS, suited


def copeland_scores(margins: Values) -> Values:
    """Return how many alternatives each beats less how many beat it, shape (alternative, context)."""
    return np.asarray(np.sign(margins).sum(axis=1))


@register("copeland")
@dataclass(frozen=True)
class Copeland(MarginRule):
    """Choose the most pairwise victories less defeats; a drawn pair counts for neither."""

    formula = staticmethod(copeland_scores)


def minimax_scores(margins: Values) -> Values:
    """Return minus the largest margin by which each alternative loses, 0 if it loses to none.

    Returns
    -------
    Shape (alternative, context), at most 0.
    """
    return np.asarray(margins.min(axis=1))


@register("minimax", aliases=("simpson",))
@dataclass(frozen=True)
class Minimax(MarginRule):
    """Choose the smallest worst defeat, measured by margins."""

    formula = staticmethod(minimax_scores)
    in_weight = True


def strongest_paths(margins: Values) -> Values:
    """Return the strength of the strongest path between any two, shape (a, b, context); 0 without a path.

    A path is a chain of pairwise victories, as strong as the smallest margin in it (Schulze 2011). The algorithm is
    that of Floyd and Warshall.
    """
    paths = np.maximum(margins, 0.0)
    if margins.shape[2] >= MANY_CONTEXTS:
        widen(paths)
        return paths
    through = np.empty_like(paths[0])
    for middle in range(len(paths)):
        for start in range(len(paths)):
            if start != middle:
                np.minimum(paths[start, middle], paths[middle], out=through)
                np.maximum(paths[start], through, out=paths[start])
    return paths


@compiled
def widen(paths: Values) -> None:
    """Let every path lead through every alternative where that makes it stronger.

    In NumPy::

        for middle in range(len(paths)):
            np.maximum(paths, np.minimum(paths[:, middle, None], paths[middle]), out=paths)
        paths[np.eye(len(paths), dtype=bool)] = 0.0  # nobody needs a path to itself
    """
    n_alternatives, _, n_contexts = paths.shape
    for middle in range(n_alternatives):
        for start in range(n_alternatives):
            first = paths[start, middle]
            for end in range(n_alternatives):
                if start in (middle, end) or end == middle:
                    continue
                second, path = paths[middle, end], paths[start, end]
                for t in range(n_contexts):
                    weaker = first[t] if first[t] < second[t] else second[t]
                    path[t] = weaker if weaker > path[t] else path[t]


def schulze_scores(margins: Values) -> Values:
    """Return minus how many alternatives beat each by a stronger path, shape (alternative, context).

    No number per alternative expresses the rule; these are places. "Has the stronger path" is transitive (Schulze
    2011), so whoever beats another is beaten by fewer, and the winners are those that nobody beats.
    """
    paths = strongest_paths(margins)
    scores = np.zeros(paths.shape[1:])
    for a in range(len(paths)):
        for b in range(a + 1, len(paths)):
            scores[a] -= paths[b, a] > paths[a, b]
            scores[b] -= paths[a, b] > paths[b, a]
    return scores


@register("schulze", aliases=("beat_path",))
@dataclass(frozen=True)
class Schulze(MarginRule):
    """Choose what no alternative beats by a stronger path of pairwise victories. Scores are places."""

    formula = staticmethod(schulze_scores)


MOST_SEARCHED = 8  # alternatives up to which every order of tied margins is considered; that is NP-hard


def ranked_pairs_scores(margins: Values) -> Values:
    """Return minus the tier of each alternative, shape (alternative, context).

    Up to 8 alternatives, tier 0 holds every alternative that wins under some order of the tied margins, as in
    pref_voting 1.18: those on top of some stack, a ranking in which each is connected to each below by a path downwards
    whose margins are at least the margin in the other direction (Zavist and Tideman 1989). The next tiers are found in
    the same way among the rest; without tied margins the tiers are the ranking that is locked in.

    Beyond 8 alternatives, tied margins are locked in by declared order of the winner, then of the loser, which finds
    one of those rankings; pairs with margin 0 stay open, so tiers may still hold several.

    Parameters
    ----------
    margins
        Shape (a, b, context); equal margins are equal numbers.
    """
    _, n_alternatives, n_contexts = margins.shape
    scores = np.zeros((n_alternatives, n_contexts))
    kernel = tiers_of_stacks if n_alternatives <= MOST_SEARCHED else tiers_of_locked_pairs
    suited(kernel, n_contexts, n_alternatives)(margins, scores)
    return scores


@compiled
def tiers_of_stacks(margins: Values, scores: Values) -> None:
    """Subtract from `scores` how many tiers of tops of stacks are above each alternative.

    A stack is built from the top: whether an alternative may follow depends only on those above it, because paths go
    down. `strength[i, j]` is that of the strongest path from the i-th to the j-th of the stack: its smallest margin.
    """
    n_alternatives, _, n_contexts = margins.shape
    margin = np.zeros((n_alternatives, n_alternatives))
    remaining, free, tops = (
        np.zeros(n_alternatives, dtype=np.bool_),
        np.zeros(n_alternatives, dtype=np.bool_),
        np.zeros(n_alternatives, dtype=np.bool_),
    )
    stack, next_tried = np.zeros(n_alternatives, dtype=np.int64), np.zeros(n_alternatives + 1, dtype=np.int64)
    strength = np.zeros((n_alternatives, n_alternatives))
    for t in range(n_contexts):
        margin[:] = margins[:, :, t]
        remaining[:] = True
        n_remaining = n_alternatives
        while n_remaining > 0:
            beats_all = -1
            for a in range(n_alternatives):
                loses = not remaining[a]
                for b in range(n_alternatives):
                    loses |= remaining[b] and b != a and margin[a, b] <= 0.0
                beats_all = beats_all if loses else a
            for top in range(n_alternatives):
                tops[top] = top == beats_all
                if not remaining[top] or beats_all >= 0:
                    continue
                free[:] = remaining
                free[top] = False
                stack[0], next_tried[1], height = top, 0, 1
                while 0 < height < n_remaining:
                    b = next_tried[height]
                    if b == n_alternatives:  # nobody may follow: take the last one off again
                        height -= 1
                        free[stack[height]] = True
                        continue
                    next_tried[height] = b + 1
                    fits = free[b]
                    for i in range(height - 1, -1, -1):
                        if fits:
                            best = margin[stack[i], b]
                            for j in range(i + 1, height):
                                best = max(best, min(strength[i, j], margin[stack[j], b]))
                            strength[i, height] = best
                            fits = best >= margin[b, stack[i]]
                    if fits:
                        stack[height], free[b] = b, False
                        height += 1
                        next_tried[height] = 0
                tops[top] = height == n_remaining
            for a in range(n_alternatives):
                if tops[a]:
                    remaining[a] = False
                    n_remaining -= 1
            for a in range(n_alternatives):
                scores[a, t] -= 1.0 if remaining[a] else 0.0


@compiled
def tiers_of_locked_pairs(margins: Values, scores: Values) -> None:
    """Subtract from `scores` how many tiers of the locked pairs are above each alternative."""
    n_alternatives, _, n_contexts = margins.shape
    winners, losers = np.zeros(n_alternatives**2, dtype=np.int64), np.zeros(n_alternatives**2, dtype=np.int64)
    for t in range(n_contexts):
        size = 0
        sizes = np.zeros(n_alternatives**2)
        for a in range(n_alternatives):
            for b in range(n_alternatives):
                if margins[a, b, t] > 0.0:
                    winners[size], losers[size], sizes[size] = a, b, margins[a, b, t]
                    size += 1
        above = np.zeros((n_alternatives, n_alternatives), dtype=np.bool_)  # and whatever follows from that
        for edge in np.argsort(-sizes[:size], kind="mergesort"):
            winner, loser = winners[edge], losers[edge]
            if above[loser, winner] or above[winner, loser]:
                continue
            for a in range(n_alternatives):
                if a == winner or above[a, winner]:
                    for b in range(n_alternatives):
                        if b == loser or above[loser, b]:
                            above[a, b] = True
        remaining = np.ones(n_alternatives, dtype=np.bool_)
        for _ in range(n_alternatives):
            beaten = np.zeros(n_alternatives, dtype=np.bool_)
            for a in range(n_alternatives):
                for b in range(n_alternatives):
                    beaten[b] |= remaining[a] and remaining[b] and above[a, b]
            for a in range(n_alternatives):
                remaining[a] = remaining[a] and beaten[a]
                scores[a, t] -= 1.0 if remaining[a] else 0.0


@register("ranked_pairs", aliases=("tideman",))
@dataclass(frozen=True)
class RankedPairs(MarginRule):
    """Lock victories in by margin, unless they close a cycle; choose what nothing locked is above.

    No number per alternative expresses this order: scores are places. With tied margins, whoever wins under some order
    of them wins, up to 8 alternatives; beyond, ties fall to the declared order.
    """

    formula = staticmethod(ranked_pairs_scores)
