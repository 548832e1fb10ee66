"""Weighted power means of expected rewards: the welfare that α-fairness and Atkinson's index share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.compiled import compiled
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.reductions import log_product, weighted_sum
from accordant.strategies.welfare.nash_social_welfare import FLOOR

NEARLY_ONE = 1e-6  # so near to 1, ε is 1: the root of order 1 − ε would lose its digits


def equally_distributed_equivalent(block: Block, weights: Values, aversion: float) -> Values:
    """Return (Σ_i w_i E[i, a, t]^(1 − ε))^(1 / (1 − ε)) with weights that sum to 1, shape (action, context).

    The reward that, given to everybody alike, would be as good as the rewards at hand (Atkinson 1970, section 3). For
    ε = 0 it is the mean, for ε = 1 the geometric mean ∏_i E^w_i, for ε = ∞ the minimum.

    Parameters
    ----------
    block
        Expected rewards of those with a say; for ε ≥ 1 rewards below 1e-6 count as 1e-6.
    weights
        Shape (stakeholder,), above 0.
    aversion
        ε (also called α), in [0, ∞].
    """
    weights = weights / weights.sum()
    if np.isinf(aversion):
        return block.smallest
    scores, power = block.scores(), 1.0 - aversion
    if power == 1:
        weighted_sum(block.values, weights, scores)
    elif abs(power) < NEARLY_ONE:
        log_product(block.values, block.zeros, weights, at_most=FLOOR, count_as=FLOOR, out=scores)
        np.exp(scores, out=scores)
    elif power == -1:
        weighted_harmonic_mean(block.values, weights, FLOOR, scores)
    elif power == 0.5:
        roots = np.maximum(block.values, 0.0, out=block.scratch.take(*block.values.shape))
        weighted_sum(np.sqrt(roots, out=roots), weights, scores)
        np.square(scores, out=scores)
    elif power > 0:
        powers = np.maximum(block.values, 0.0, out=block.scratch.take(*block.values.shape))
        weighted_sum(np.power(powers, power, out=powers), weights, scores)
        np.power(scores, 1.0 / power, out=scores)
    else:
        # powers of small numbers overflow, so rewards are taken relative to the smallest
        relative = np.maximum(block.values, FLOOR, out=block.scratch.take(*block.values.shape))
        smallest = np.maximum(block.smallest, FLOOR)
        relative /= smallest
        weighted_sum(np.power(relative, power, out=relative), weights, scores)
        np.multiply(smallest, np.power(scores, 1.0 / power, out=scores), out=scores)
    return scores


@compiled
def weighted_harmonic_mean(values: Values, weights: Values, floor: float, mean: Values) -> None:
    """Write 1 / Σ_i w_i / max(floor, E[i, a, t]), the power mean of α = 2, shape (action, context)."""
    n_stakeholders, n_actions, n_contexts = values.shape
    for a in range(n_actions):
        out = mean[a]
        out[:] = 0.0
        for i in range(n_stakeholders):
            row, weight = values[i, a], weights[i]
            for t in range(n_contexts):
                out[t] += weight / (row[t] if row[t] > floor else floor)
        for t in range(n_contexts):
            out[t] = 1.0 / out[t]


def checked_aversion(name: str, value: float) -> None:
    """Refuse an inequality aversion outside [0, ∞]."""
    if not value >= 0:
        raise InputError(f"{name} is {value}; allowed: at least 0, or inf")


def floored(block: Block, aversion: float) -> dict[str, NDArray[np.bool_]]:
    """Return the flag ``floored`` of contexts in which the floor, not the data, decides, if there is a floor."""
    return {"floored": np.asarray((block.smallest < FLOOR).any(axis=0))} if 1 <= aversion < np.inf else {}
