"""A recommender by its name, with the seed of a run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from accordant.slates.relevance.recommender import Recommender, recommenders


def recommender_of(name: str, parameters: Mapping[str, Any], seed: int) -> Recommender:
    """Return a recommender; one that draws gets the seed, unless its parameters hold one.

    Raises
    ------
    UnknownNameError
        If there is no such recommender.
    """
    draws = "seed" in inspect.signature(recommenders.factory(name)).parameters
    return recommenders.create(name, ({"seed": seed} if draws else {}) | dict(parameters))
