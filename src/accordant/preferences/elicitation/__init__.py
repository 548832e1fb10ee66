"""Elicitation: which comparison to ask next, until the decision is settled.

posterior.py        what is believed after some answers
sampling.py         draws from the posterior, on a path from normal distributions
decision_value.py   the decision that questions are asked for, and what an answer is worth to it
query_selection.py  one question after the other, until there is a reason to stop; people who answer as a reward says

Words used here: a *question* shows two items; an *answer* says which is better, that they are equal, or that the person
cannot say; the *decision at stake* is the action that the reward leads to, alone or through a strategy together with
other stakeholders; it is *settled* when one action is right with high probability.
"""

from __future__ import annotations

from accordant.preferences.elicitation.decision_value import (
    CRITERIA,
    ChosenBy,
    CollectiveChoice,
    Criterion,
    DecisionAtStake,
    OwnChoice,
)
from accordant.preferences.elicitation.posterior import Posterior
from accordant.preferences.elicitation.query_selection import (
    Answer,
    Elicited,
    Inquiry,
    Question,
    Session,
    Standing,
    Stopping,
    all_pairs,
    elicit,
    simulated_person,
)
from accordant.preferences.normal_belief import NormalPrior, ScalePrior

__all__ = [
    "CRITERIA", "Answer", "ChosenBy", "CollectiveChoice", "Criterion", "DecisionAtStake", "Elicited", "Inquiry",
    "NormalPrior", "OwnChoice", "Posterior", "Question", "ScalePrior", "Session", "Standing", "Stopping", "all_pairs",
    "elicit", "simulated_person",
]  # fmt: skip
