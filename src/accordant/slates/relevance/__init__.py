"""Relevance that is learned from what users consumed before.

interactions  who consumed what, how often, when, and after which item
recommender   fit(interactions, catalogue) → scores of items for requests, and the registry that knows each by name
choosing      a recommender by its name, with the seed of a run
popular       the baseline: the same for everybody
counts        rows of a sparse matrix of users and items

The others stand one in a file: transitions, neighbours, factorisation, ranker.
"""

from __future__ import annotations

from accordant.slates.relevance.interactions import NOBODY, NOWHERE, Interactions
from accordant.slates.relevance.recommender import Fitted, Recommender, recommenders, register, relative
from accordant.slates.relevance.recommender_choice import recommender_of

create = recommenders.create
names = recommenders.names

__all__ = [
    "NOBODY",
    "NOWHERE",
    "Fitted",
    "Interactions",
    "Recommender",
    "create",
    "names",
    "recommender_of",
    "recommenders",
    "register",
    "relative",
]
