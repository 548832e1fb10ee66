"""Norms of what stakeholders lack to their ideal points."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.compiled import compiled
from accordant.strategies.block import Block
from accordant.strategies.reductions import weighted_sum

MULTIPLIED = 8  # whole exponents up to here are products of shortfalls, which is faster than powers
NEGLIGIBLE = 1e-30  # stands for a relative shortfall of 0, whose power is slow to take


def distance_to_ideal(block: Block, ideal: Values, weights: Values, *, exponent: float, two_sided: bool) -> Values:
    """Return (Σ_i w_i |u*[i, t] − E[i, a, t]|^p)^(1/p), or max_i w_i |…| for p = ∞, shape (action, context).

    Parameters
    ----------
    block
        E.
    ideal
        u*, shape (stakeholder, context).
    weights
        Shape (stakeholder,).
    exponent
        p, at least 1.
    two_sided
        Whether exceeding an ideal (possible with fixed ideal points) counts like falling short of it.
    """
    distance = block.scores()
    if np.isinf(exponent):
        largest_shortfall(block.values, ideal, weights, two_sided, distance)
    elif exponent <= MULTIPLIED and float(exponent).is_integer():
        sum_of_powers(block.values, ideal, weights, two_sided, int(exponent), distance)
        if exponent == 2:
            np.sqrt(distance, out=distance)
        elif exponent > 2:
            np.power(distance, 1.0 / exponent, out=distance)
    else:
        # high powers of small numbers vanish, so shortfalls are taken relative to the largest
        relative = np.subtract(ideal[:, None], block.values, out=block.scratch.take(*block.values.shape))
        if two_sided:
            np.abs(relative, out=relative)
        largest = np.maximum(relative.max(axis=0), 0.0)
        relative /= np.where(largest > 0, largest, 1.0)
        np.power(np.maximum(relative, NEGLIGIBLE, out=relative), exponent, out=relative)
        weighted_sum(relative, weights, distance)
        np.power(distance, 1.0 / exponent, out=distance)
        distance *= largest
    return distance


@compiled
def largest_shortfall(values: Values, ideal: Values, weights: Values, two_sided: bool, largest: Values) -> None:
    """Write max_i w_i |u*[i, t] − E[i, a, t]|, one-sided unless told, shape (action, context)."""
    n_stakeholders, n_actions, n_contexts = values.shape
    excess = 1.0 if two_sided else 0.0
    for a in range(n_actions):
        out = largest[a]
        out[:] = 0.0
        for i in range(n_stakeholders):
            best, weight, row = ideal[i], weights[i], values[i, a]
            for t in range(n_contexts):
                short = weight * (best[t] - row[t])
                beyond = -excess * short
                lacking = short if short > beyond else beyond
                reached = out[t]
                out[t] = lacking if lacking > reached else reached


@compiled
def sum_of_powers(
    values: Values, ideal: Values, weights: Values, two_sided: bool, exponent: int, total: Values
) -> None:
    """Write Σ_i w_i |u*[i, t] − E[i, a, t]|^p for a whole p, one-sided unless told, shape (action, context)."""
    n_stakeholders, n_actions, n_contexts = values.shape
    excess = 1.0 if two_sided else 0.0
    lacking, power = np.empty(n_contexts), np.empty(n_contexts)
    for a in range(n_actions):
        out = total[a]
        out[:] = 0.0
        for i in range(n_stakeholders):
            best, weight, row = ideal[i], weights[i], values[i, a]
            if exponent <= 2:
                square = exponent - 1.0
                for t in range(n_contexts):
                    short = best[t] - row[t]
                    beyond = -excess * short
                    lack = short if short > beyond else beyond
                    out[t] += weight * lack * (square * lack + (1.0 - square))
                continue
            for t in range(n_contexts):
                short = best[t] - row[t]
                beyond = -excess * short
                lacking[t] = short if short > beyond else beyond
                power[t] = lacking[t] * lacking[t]
            for _ in range(exponent - 2):
                for t in range(n_contexts):
                    power[t] *= lacking[t]
            for t in range(n_contexts):
                out[t] += weight * power[t]
