"""Norms of what stakeholders lack to their ideal points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled

Values = NDArray[np.float64]


def distance_to_ideal(
    values: Values, ideal: Values, weights: Values, distance: Values, *, exponent: float, two_sided: bool
) -> None:
    """Write (Σ_i w_i |u*[i, t] − E[i, a, t]|^p)^(1/p), or max_i w_i |…| for p = ∞, shape (action, context).

    Parameters
    ----------
    values
        E, shape (stakeholder, action, context).
    ideal
        u*, shape (stakeholder, context).
    weights
        Shape (stakeholder,).
    exponent
        p, at least 1.
    two_sided
        Whether exceeding an ideal (possible with fixed ideal points) counts like falling short of it.
    """
    if np.isinf(exponent):
        largest_shortfall(values, ideal, weights, two_sided, distance)
    elif exponent in (1, 2):
        sum_of_shortfalls(values, ideal, weights, two_sided, exponent == 2, distance)
        if exponent == 2:
            np.sqrt(distance, out=distance)
    else:
        shortfall = ideal[:, None] - values
        shortfall = np.abs(shortfall) if two_sided else np.maximum(0.0, shortfall)
        largest = shortfall.max(axis=0)  # high powers of small numbers vanish, so they are taken relative to it
        shortfall /= np.where(largest > 0, largest, 1.0)
        np.multiply(largest, np.tensordot(weights, shortfall**exponent, axes=1) ** (1.0 / exponent), out=distance)


@compiled
def largest_shortfall(values: Values, ideal: Values, weights: Values, two_sided: bool, largest: Values) -> None:
    """Write max_i w_i |u*[i, t] − E[i, a, t]|, one-sided unless told, shape (action, context)."""
    n_stakeholders, n_actions, n_contexts = values.shape
    largest[:] = 0.0
    for i in range(n_stakeholders):
        best, weight = ideal[i], weights[i]
        for a in range(n_actions):
            out, row = largest[a], values[i, a]
            for t in range(n_contexts):
                lacking = weight * (best[t] - row[t])
                lacking = -lacking if two_sided and lacking < 0.0 else lacking
                out[t] = lacking if lacking > out[t] else out[t]


@compiled
def sum_of_shortfalls(
    values: Values, ideal: Values, weights: Values, two_sided: bool, squared: bool, total: Values
) -> None:
    """Write Σ_i w_i |u*[i, t] − E[i, a, t]| or of squares, one-sided unless told, shape (action, context)."""
    n_stakeholders, n_actions, n_contexts = values.shape
    total[:] = 0.0
    for i in range(n_stakeholders):
        best, weight = ideal[i], weights[i]
        for a in range(n_actions):
            out, row = total[a], values[i, a]
            for t in range(n_contexts):
                lacking = best[t] - row[t]
                if lacking < 0.0:
                    lacking = -lacking if two_sided else 0.0
                out[t] += weight * (lacking * lacking if squared else lacking)
