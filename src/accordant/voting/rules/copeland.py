"""Copeland: most pairwise victories less defeats (Copeland 1951)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.strategy import register
from accordant.voting.rules.rule import MarginRule


def copeland_scores(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many alternatives each beats less how many beat it, shape (alternative, context).

    Parameters
    ----------
    margins
        Shape (a, b, context).
    """
    return np.asarray(np.sign(margins).sum(axis=1))


@register("copeland")
@dataclass(frozen=True)
class Copeland(MarginRule):
    """Choose the most pairwise victories less defeats; a drawn pair counts for neither."""

    def score_margins(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return victories less defeats."""
        return copeland_scores(margins)
