"""Relevance that is learned from what users consumed before.

recommender    who consumed what, when, and after which item; fit(interactions, catalogue) → scores of items;
               the registry that knows each recommender by name
counts         those that count: popular (the baseline, the same for everybody), transitions, neighbours
factorisation  users and items as vectors
ranker         any model of scikit-learn on what the others say
"""

from __future__ import annotations

from accordant.slates.relevance.recommender import (
    NOBODY,
    NOWHERE,
    Fitted,
    Interactions,
    Recommender,
    recommender_of,
    recommenders,
    register,
    relative,
)

create = recommenders.create
names = recommenders.names

__all__ = [
    "NOBODY", "NOWHERE", "Fitted", "Interactions", "Recommender", "create", "names", "recommender_of", "recommenders",
    "register", "relative",
]  # fmt: skip
