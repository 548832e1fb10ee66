"""Selection Ψ: from scores of actions to decisions, with ties as data, or to a policy over actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Floats, Integers, Mask, Values
from accordant.errors import InputError
from accordant.kernels import light

TIE_TOLERANCE = 1e-12  # scores this close, relative to max(1, |score|), count as equal
SINGLE_PRECISION_TOLERANCE = 1e-6  # the same for float32, which carries seven digits
CHUNK = 1024  # contexts whose best scores and codes stay in the first-level cache


def code_type(n_actions: int) -> np.dtype[Any]:
    """Return the smallest signed integer that holds every action code."""
    return np.min_scalar_type(-n_actions)


@dataclass(frozen=True, eq=False)
class Selection:
    """What was selected: action codes and whether the primary score was tied, both of shape (context,)."""

    codes: Integers
    tied: Mask


def select_best(scores: Floats, utilitarian: Floats, tolerance: float = TIE_TOLERANCE) -> Selection:
    """Choose the action with the highest score; ties go to the utilitarian sum, then to declared order.

    Parameters
    ----------
    scores
        Primary scores Φ, shape (action, context); −inf is allowed, NaN is not.
    utilitarian
        Unweighted sum of E over those who have a say, shape (action, context).
    tolerance
        Scores this close, relative to max(1, |best score|), count as equal.

    Raises
    ------
    InputError
        If scores have another shape than E has actions and contexts, or one is NaN or +inf.
    """
    if scores.shape != utilitarian.shape:
        raise InputError(f"scores have shape {scores.shape}; allowed: (action, context), here {utilitarian.shape}")
    best, totals = (np.ascontiguousarray(values, dtype=np.float64) for values in (scores, utilitarian))
    codes = np.empty(scores.shape[1], dtype=code_type(len(scores)))
    tied = np.empty(scores.shape[1], dtype=bool)
    if _select(best, totals, tolerance, codes, tied) < best.size:
        raise InputError("a score is NaN or +inf; allowed: numbers and -inf")
    return Selection(codes, tied)


def softmax_policy(scores: Floats, temperature: float, tolerance: float = TIE_TOLERANCE) -> Values:
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
    distance = np.where(scores >= best - tolerance * np.maximum(1.0, np.abs(best)), 0.0, distance).astype(np.float64)
    with np.errstate(over="ignore"):  # a tiny temperature carries the distance to −inf, whose weight is 0
        weights = np.exp(distance / temperature)
    return np.asarray(weights / weights.sum(axis=0), dtype=np.float64)


def proportional_policy(scores: Floats, *, logarithmic: bool = False) -> Values:
    """Return π_a ∝ Φ_a, or ∝ exp(Φ_a) where Φ is the logarithm of a product, shape (action, context).

    Where every score is 0, all actions are equally likely. The policy is Luce's choice rule (Luce 1959).

    Raises
    ------
    InputError
        If a score is negative: a share cannot be.
    """
    if logarithmic:
        return softmax_policy(scores, 1.0, tolerance=0.0)
    if scores.size and scores.min() < 0:
        raise InputError(
            f"selection 'proportional' needs scores of at least 0, and one is {scores.min():g}; use selection 'softmax'"
        )
    total = scores.sum(axis=0)
    return np.asarray(np.where(total > 0, scores, 1.0) / np.where(total > 0, total, len(scores)), dtype=np.float64)


def epsilon_greedy_policy(codes: Integers, n_actions: int, epsilon: float) -> Values:
    """Return 1 − ε on the chosen action plus ε / A on every action, shape (action, context)."""
    policy = np.full((n_actions, len(codes)), epsilon / n_actions)
    policy[codes, np.arange(len(codes))] += 1.0 - epsilon
    return policy


@light
def _select(scores: Values, totals: Values, tolerance: float, codes: Integers, tied: Mask) -> int:
    """Write the best action and whether it is tied, `CHUNK` contexts at a time; return how many scores are allowed.

    In NumPy::

        best = scores.max(axis=0)
        level = scores >= best - tolerance * np.maximum(1.0, abs(best))
        tied[:] = level.sum(axis=0) > 1
        highest = np.where(level, totals, -np.inf).max(axis=0)
        heaviest = level & (totals >= highest - tolerance * np.maximum(1.0, abs(highest)))
        codes[:] = np.where(tied, heaviest.argmax(axis=0), scores.argmax(axis=0))
        result = (scores < np.inf).sum()
    """
    n_actions, n_contexts = scores.shape
    nobody = -np.inf if n_actions > 1 else np.nan  # −inf ties with −inf, but one action ties with nobody
    allowed = 0
    best, second, first = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    for start in range(0, n_contexts, CHUNK):
        size = min(CHUNK, n_contexts - start)
        row = scores[0, start : start + size]
        for k in range(size):
            best[k] = row[k]
            second[k] = nobody
            first[k] = 0.0
            allowed += 1 if row[k] < np.inf else 0
        for a in range(1, n_actions):
            row, action = scores[a, start : start + size], float(a)
            for k in range(size):
                score, leader = row[k], best[k]
                higher = score > leader
                other = leader if higher else score
                best[k] = score if higher else leader
                first[k] = action if higher else first[k]
                second[k] = other if other > second[k] else second[k]
                allowed += 1 if score < np.inf else 0
        chosen, level = codes[start : start + size], tied[start : start + size]
        n_tied = 0
        for k in range(size):
            magnitude = abs(best[k])
            best[k] -= tolerance * (magnitude if magnitude > 1.0 else 1.0)
            n_tied += 1 if second[k] >= best[k] else 0
        for k in range(size):
            level[k] = second[k] >= best[k]
        for k in range(size):
            chosen[k] = codes.dtype.type(first[k])
        if n_tied == 0:
            continue
        highest = second
        highest[:size] = -np.inf
        for a in range(n_actions):
            row, total = scores[a, start : start + size], totals[a, start : start + size]
            for k in range(size):
                sum_here, reached = total[k], highest[k]
                highest[k] = sum_here if row[k] >= best[k] and sum_here > reached else reached
        for k in range(size):
            magnitude = abs(highest[k])
            highest[k] -= tolerance * (magnitude if magnitude > 1.0 else 1.0)
        for a in range(n_actions - 1, -1, -1):
            row, total, action = scores[a, start : start + size], totals[a, start : start + size], float(a)
            for k in range(size):
                first[k] = action if row[k] >= best[k] and total[k] >= highest[k] else first[k]
        for k in range(size):
            chosen[k] = codes.dtype.type(first[k])
    return allowed
