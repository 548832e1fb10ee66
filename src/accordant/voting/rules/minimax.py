"""Minimax: the smallest worst defeat (Simpson 1969, Kramer 1977)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.strategy import register
from accordant.voting.rules.rule import MarginRule


def minimax_scores(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return minus the largest margin by which each alternative loses, 0 if it loses to none.

    Parameters
    ----------
    margins
        Shape (a, b, context).

    Returns
    -------
    Shape (alternative, context), at most 0.
    """
    return np.asarray(margins.min(axis=1))


@register("minimax", aliases=("simpson",))
@dataclass(frozen=True)
class Minimax(MarginRule):
    """Choose the smallest worst defeat, measured by margins."""

    in_weight: ClassVar[bool] = True

    def score_margins(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the worst defeats."""
        return minimax_scores(margins)
