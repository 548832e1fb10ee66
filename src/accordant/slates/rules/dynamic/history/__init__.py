"""How well the last slates did for each stakeholder, in [0, 1]: one way of measuring, one file."""

from __future__ import annotations

from accordant.slates.rules.dynamic.history.fairness import (
    FairnessOfHistory,
    HistoryFairness,
    history_fairness,
    register,
)
from accordant.slates.rules.dynamic.history.past import History

__all__ = ["FairnessOfHistory", "History", "HistoryFairness", "history_fairness", "register"]
