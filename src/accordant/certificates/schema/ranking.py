"""Lemma 20, as stated, and why it is no certificate of a ranking."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError

GOALS = ("max", "min")


def frozen_composite(
    tables: Sequence[ArrayLike],
    *,
    goals: Sequence[str],
    weights: Sequence[float],
    ranges: Sequence[tuple[float, float]],
) -> Values:
    """Return θ_t(a) whose mean over contexts is Σ_h w_h s̃_h, the composite score with ranges as they were at E.

    Normalised values, (s − low) / (high − low) or (high − s) / (high − low), are not cut off at 0 and 1. The range of
    the result in a context is at most Σ_h w_h R_h / (high_h − low_h).

    Parameters
    ----------
    tables
        For each metric θ_h of shape (action, context), whose mean over contexts is the metric.
    goals
        ``"max"`` or ``"min"`` for each. A metric that should be 0 is not linear, so the schema has no constants for it.
    weights
        w_h, at least 0.
    ranges
        (low, high) of each metric over the candidate strategies at E, low below high.

    Returns
    -------
    Values of shape (action, context), for `paper_bound` with total ``"mean"``.

    Raises
    ------
    InputError
        If lengths differ, a weight is negative or a range is empty.
    UnknownNameError
        If a goal is unknown.
    """
    arrays = [np.asarray(table, dtype=np.float64) for table in tables]
    if not arrays or len({len(arrays), len(goals), len(weights), len(ranges)}) != 1:
        raise InputError(
            f"{len(arrays)} tables, {len(goals)} goals, {len(weights)} weights, {len(ranges)} ranges; "
            "allowed: one of each per metric, at least one metric"
        )
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 2:
        raise InputError(f"tables have shapes {[array.shape for array in arrays]}; allowed: one (action, context)")
    theta = np.zeros(arrays[0].shape)
    for array, goal, weight, (low, high) in zip(arrays, goals, weights, ranges, strict=True):
        if goal not in GOALS:
            raise UnknownNameError("goal of a linear metric", goal, GOALS)
        if not (weight >= 0 and high > low):
            raise InputError(f"weight {weight} and range ({low}, {high}); allowed: at least 0, and low below high")
        theta += weight * (array - low if goal == "max" else high - array) / (high - low)
    return theta


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
