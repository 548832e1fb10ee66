"""Elicitation: which comparison to ask next, until the decision is settled.

priors.py             what is believed before the first answer
posterior.py          what is believed after some answers
annealed_sampling.py  draws from the posterior, on a path from normal distributions
slices.py             moves that leave the posterior as it is
decision_value.py     the decision that questions are asked for
criteria.py           what the answer to a question is worth
stopping_rule.py      when to stop
query_selection.py    one question after the other
simulated_people.py   people who answer as a known reward says

Words used here: a *question* shows two items; an *answer* says which is better, that they are equal, or that the person
cannot say; the *decision at stake* is the action that the reward leads to, alone or through a strategy together with
other stakeholders; it is *settled* when one action is right with high probability.
"""

from __future__ import annotations

from accordant.preferences.elicitation.criteria import CRITERIA, Criterion
from accordant.preferences.elicitation.decision_value import ChosenBy, CollectiveChoice, DecisionAtStake, OwnChoice
from accordant.preferences.elicitation.posterior import Posterior
from accordant.preferences.elicitation.priors import NormalPrior, ScalePrior
from accordant.preferences.elicitation.query_selection import (
    Answer,
    Elicited,
    Inquiry,
    Question,
    Session,
    all_pairs,
    elicit,
)
from accordant.preferences.elicitation.simulated_people import simulated_person
from accordant.preferences.elicitation.stopping_rule import Standing, Stopping

__all__ = [
    "CRITERIA",
    "Answer",
    "ChosenBy",
    "CollectiveChoice",
    "Criterion",
    "DecisionAtStake",
    "Elicited",
    "Inquiry",
    "NormalPrior",
    "OwnChoice",
    "Posterior",
    "Question",
    "ScalePrior",
    "Session",
    "Standing",
    "Stopping",
    "all_pairs",
    "elicit",
    "simulated_person",
]  # fmt: skip
