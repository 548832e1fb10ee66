"""Lemma 20, as stated, and why it is no certificate of a ranking."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from accordant.errors import InputError

WHAT_IT_SAYS = (
    "smooth scores keep the order of sharp scores at the same E; whether the order survives a perturbation is not "
    "said, because the gap of sharp scores was measured before it"
)


@dataclass(frozen=True)
class RankingTest:
    """The condition of Vineis, Perelli and Tolomei 2025, Lemma 20.

    Attributes
    ----------
    order
        Rules from the highest sharp score down.
    smallest_gap
        min |S_g^0 − S_h^0| over pairs; inf for a single rule.
    largest_bias
        max (ε_g + ε_h) over pairs; 0 for a single rule.
    says
        What follows where the condition holds.
    """

    order: tuple[str, ...]
    smallest_gap: float
    largest_bias: float
    says: str = WHAT_IT_SAYS

    @property
    def holds(self) -> bool:
        """Whether the smallest gap exceeds the largest sum of two biases."""
        return self.smallest_gap > self.largest_bias

    @property
    def certifies_ranking(self) -> bool:
        """Never: one action, scores 0.6 and 0.5, biases 0, and a radius of 0.2 turns the order round."""
        return False


def lemma_20(scores: Mapping[str, float], biases: Mapping[str, float]) -> RankingTest:
    """Return the test of Lemma 20 for rules with sharp scores and biases ε = κ τ* (Corollary 19).

    Parameters
    ----------
    scores
        S^0 of each rule at E.
    biases
        ε of each rule, at least 0; inf where κ is.

    Raises
    ------
    InputError
        If there is no rule, the two name different rules, a score is not finite or a bias is NaN or negative.
    """
    if not scores or set(scores) != set(biases):
        raise InputError(
            f"scores of {sorted(scores)} and biases of {sorted(biases)}; allowed: the same rules, not none"
        )
    if not all(np.isfinite(score) for score in scores.values()) or not all(bias >= 0 for bias in biases.values()):
        raise InputError("a score is not finite, or a bias is NaN or negative")
    order = tuple(sorted(scores, key=lambda name: -scores[name]))
    pairs = list(itertools.combinations(order, 2))
    gap = min((scores[g] - scores[h] for g, h in pairs), default=np.inf)
    bias = max((biases[g] + biases[h] for g, h in pairs), default=0.0)
    return RankingTest(order, float(gap), float(bias))
