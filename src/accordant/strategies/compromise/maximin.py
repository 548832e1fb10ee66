"""Maximin: the action whose worst-off stakeholder is best off (Rawls 1971)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise.rule import Compromise, Scored
from accordant.strategies.strategy import Scores, register
from accordant.utilities import ExpectedRewards


def worst_off(values: NDArray[np.floating]) -> Scores:
    """Return min_i E[i, a, t], shape (action, context)."""
    return np.asarray(values.min(axis=0))


@register("maximin")
@dataclass(frozen=True)
class Maximin(Compromise):
    """Maximise the smallest expected reward. Weights have no effect, except that weight 0 leaves somebody out."""

    def score(self, expected: ExpectedRewards, weights: NDArray[np.float64]) -> Scored:
        """Return the reward of the worst-off stakeholder."""
        return Scored(worst_off(expected.values if (weights > 0).all() else expected.values[weights > 0]))
