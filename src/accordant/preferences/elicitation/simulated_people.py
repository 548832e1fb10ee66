"""Simulated people: they answer at random, as a known reward says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from accordant.errors import InputError
from accordant.preferences.elicitation.posterior import chance
from accordant.preferences.elicitation.query_selection import Answer, Question
from accordant.preferences.measures.arrays import numbers


def simulated_person(
    coefficients: Any, items: Any, generator: np.random.Generator, lapse: float = 0.0
) -> Callable[[Question], Answer]:
    """Return a function from questions to the answers "first" and "second".

    Parameters
    ----------
    coefficients
        Of the true reward, shape (feature,).
    items
        Features of the items, shape (item, feature).
    generator
        Source of the answers.
    lapse
        Share of answers given without looking, in [0, 1).

    Raises
    ------
    InputError
        If a shape or a number is wrong.
    """
    if not 0 <= lapse < 1:
        raise InputError(f"lapse is {lapse}; allowed: at least 0, below 1")
    features = np.asarray(items, dtype=np.float64)
    rewards = features @ numbers("coefficients", coefficients, "feature", features.shape[1])

    def respond(question: Question) -> Answer:
        """Answer one question."""
        margin = np.asarray(rewards[question.first] - rewards[question.second])
        return "first" if generator.random() < chance(margin, lapse) else "second"

    return respond
