"""Dynamic slates: whoever has been served least so far has voting weight in the next list.

SCRUF-D (Burke and others; repository that-recsys-lab/scruf_d, MIT); formulas follow the official code. A fairness
agent is a stakeholder here, and the recommender of the code is the stakeholder who is the user.

Words used here::

    history        the last slates, and what each gave to every stakeholder
    fairness       m_i in [0, 1] of the history for a stakeholder; 1: nothing is owed. See `history`
    compatibility  c_i in [0, 1] of a stakeholder with the user at hand
    share          of the voting weight that is given to a stakeholder for this user. See `allocation`
    protected      items that a stakeholder wants to see shown
"""

from __future__ import annotations

from accordant.slates.rules.dynamic.allocation import VotingWeightAllocation, weight_allocations
from accordant.slates.rules.dynamic.history import FairnessOfHistory, History, HistoryFairness, history_fairness
from accordant.slates.rules.dynamic.rule import Dynamic, compatibilities

__all__ = [
    "Dynamic", "FairnessOfHistory", "History", "HistoryFairness", "VotingWeightAllocation", "compatibilities",
    "history_fairness", "weight_allocations",
]  # fmt: skip
