"""Selection Ψ: from scores of actions to decisions, with ties as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError

TIE_TOLERANCE = 1e-12  # scores this close, relative to max(1, |score|), count as equal
SINGLE_PRECISION_TOLERANCE = 1e-6  # the same for float32, which carries seven digits

Scores = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Selection:
    """What was selected: action codes and whether the primary score was tied, both of shape (context,)."""

    codes: NDArray[np.intp]
    tied: NDArray[np.bool_]


def select_best(scores: Scores, utilitarian: Scores) -> Selection:
    """Choose the action with the highest score; ties go to the utilitarian sum, then to declared order.

    Parameters
    ----------
    scores
        Primary scores Φ, shape (action, context); −inf is allowed, NaN is not.
    utilitarian
        Unweighted sum of E over those who have a say, shape (action, context); float32 if E is, which widens ties.
    """
    tolerance = SINGLE_PRECISION_TOLERANCE if utilitarian.dtype == np.float32 else TIE_TOLERANCE
    best = scores.max(axis=0)
    level = _at_best(scores, best, tolerance)
    codes = level.argmax(axis=0)
    tied = level.sum(axis=0) > 1
    rows = np.flatnonzero(tied)
    if rows.size:
        sums = np.where(level[:, rows], utilitarian[:, rows], -np.inf)
        codes[rows] = _at_best(sums, sums.max(axis=0), tolerance).argmax(axis=0)
    return Selection(codes, tied)


def softmax_policy(scores: Scores, temperature: float) -> NDArray[np.float64]:
    """Return π_a ∝ exp((Φ_a − max Φ) / τ), shape (action, context).

    As τ → 0 this becomes uniform over the tied maximisers, not the tie-broken action.

    Raises
    ------
    InputError
        If the temperature is not a positive number.
    """
    if not (np.isfinite(temperature) and temperature > 0):
        raise InputError(f"softmax temperature is {temperature}; allowed: above 0")
    best = scores.max(axis=0)
    # where every score is −inf all actions tie; inf − inf would be NaN
    distance = np.where(np.isneginf(best), 0.0, scores - np.where(np.isneginf(best), 0.0, best))
    distance = np.where(_at_best(scores, best), 0.0, distance).astype(np.float64)
    with np.errstate(over="ignore"):  # a tiny temperature carries the distance to −inf, whose weight is 0
        weights = np.exp(distance / temperature)
    return np.asarray(weights / weights.sum(axis=0), dtype=np.float64)


def _at_best(scores: Scores, best: Scores, tolerance: float = TIE_TOLERANCE) -> NDArray[np.bool_]:
    return np.asarray(scores >= best - tolerance * np.maximum(1.0, np.abs(best)))
