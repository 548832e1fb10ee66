"""Elicitation: which comparison to ask next, until the decision is settled.

priors.py     what is believed before the first answer
beliefs.py    what is believed after some answers
slices.py     how the exact posterior is sampled
stakes.py     the decision that questions are asked for
criteria.py   what the answer to a question is worth
stopping.py   when to stop
asking.py     one question after the other
simulated.py  people who answer as a known reward says

Words used here: a *question* shows two items; an *answer* says which is better, that they are equal, or that the person
cannot say; the *decision at stake* is the action that the reward leads to, alone or through a strategy together with
other stakeholders; it is *settled* when one action is right with high probability.
"""

from __future__ import annotations

from accordant.preferences.elicitation.asking import (
    Answer,
    Elicited,
    Inquiry,
    Question,
    Session,
    all_pairs,
    elicit,
)
from accordant.preferences.elicitation.beliefs import Belief
from accordant.preferences.elicitation.criteria import CRITERIA, Criterion
from accordant.preferences.elicitation.priors import NormalPrior
from accordant.preferences.elicitation.simulated import simulated_person
from accordant.preferences.elicitation.stakes import ChosenBy, CollectiveChoice, DecisionAtStake, OwnChoice
from accordant.preferences.elicitation.stopping import Standing, Stopping

__all__ = [
    "CRITERIA", "Answer", "Belief", "ChosenBy", "CollectiveChoice", "Criterion", "DecisionAtStake", "Elicited",
    "Inquiry", "NormalPrior", "OwnChoice", "Question", "Session", "Standing", "Stopping", "all_pairs", "elicit",
    "simulated_person",
]  # fmt: skip
