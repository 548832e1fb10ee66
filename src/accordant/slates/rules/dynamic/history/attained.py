"""Attained: the mean normalised utility of the last slates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.slates.rules.dynamic.history.fairness import FairnessOfHistory, HistoryFairness, register
from accordant.slates.rules.dynamic.history.past import History

ALIKE = "all lists so far were alike for this stakeholder"


@register("attained")
@dataclass(frozen=True)
class Attained(HistoryFairness):
    """m_i is the mean of (u_i − worst) / (ideal − worst) over the last slates [ours]; slates with NaN are left out."""

    def measured(self, history: History, protected: NDArray[np.bool_]) -> FairnessOfHistory:
        """Return means; NaN for whom every slate was alike."""
        del protected
        unknown = np.isnan(history.attained)
        if not unknown.any():
            return FairnessOfHistory(history.attained.mean(axis=1))
        counts = (~unknown).sum(axis=1)
        sums = np.where(unknown, 0.0, history.attained).sum(axis=1)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        return FairnessOfHistory(means, {int(i): ALIKE for i in np.flatnonzero(counts == 0)})
