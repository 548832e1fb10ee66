"""Schulze: strongest paths of victories (Schulze 2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.strategies.strategy import register
from accordant.voting.rules.layout import MANY_CONTEXTS
from accordant.voting.rules.rule import MarginRule


def strongest_paths(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the strength of the strongest path between any two, shape (a, b, context); 0 without a path.

    A path is a chain of pairwise victories, as strong as the smallest margin in it (Schulze 2011). The algorithm is
    that of Floyd and Warshall.

    Parameters
    ----------
    margins
        Shape (a, b, context).
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
def widen(paths: NDArray[np.float64]) -> None:
    """Let every path lead through every alternative where that makes it stronger."""
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


def schulze_scores(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return minus how many alternatives beat each by a stronger path, shape (alternative, context).

    No number per alternative expresses the rule; these are places. "Has the stronger path" is transitive (Schulze
    2011), so whoever beats another is beaten by fewer, and the winners are those that nobody beats.

    Parameters
    ----------
    margins
        Shape (a, b, context).
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

    def score_margins(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the number of alternatives with a stronger path."""
        return schulze_scores(margins)
