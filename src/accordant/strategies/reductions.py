"""Weighted sums and products over stakeholders, which several rules share."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.compiled import compiled

GROUP = 24  # factors multiplied before a logarithm is taken: 24 of them at 1e-12 are still above `NOTHING`
NOTHING = 1e-300  # stands for a product of 0, whose own logarithm would be many times slower to take


@compiled
def weighted_sum(values: Values, weights: Values, total: Values) -> None:
    """Write Σ_i w_i E[i, a, t], added in the order of i, shape (action, context)."""
    n_stakeholders, n_actions, n_contexts = values.shape
    for a in range(n_actions):
        out = total[a]
        out[:] = 0.0
        for i in range(n_stakeholders):
            row, weight = values[i, a], weights[i]
            for t in range(n_contexts):
                out[t] += weight * row[t]


def log_product(
    factors: Values, less: Values, weights: Values, *, at_most: float, count_as: float, out: Values
) -> None:
    """Write Σ_i w_i log f(factors[i, a, t] − less[i, t]), shape (action, context).

    Where weights are equal, logarithms of products replace sums of logarithms: the same number, but for rounding,
    with fewer logarithms.

    Parameters
    ----------
    factors
        Shape (stakeholder, action, context).
    less
        What is subtracted first, shape (stakeholder, context).
    weights
        Shape (stakeholder,), above 0.
    at_most, count_as
        f: a factor of at most `at_most` (1e-12 or more) counts as `count_as`; 0 makes its product −inf.
    out
        Where the result goes.
    """
    group = GROUP if (weights == weights[0]).all() else 1
    part = out if len(factors) <= group else np.empty_like(out)
    for start in range(0, len(factors), group):
        several = slice(start, start + group)
        floored_product(factors[several], less[several], at_most, count_as, part)
        np.log(part, out=part)
        if count_as == 0 or weights[start] != 1:
            weigh_and_restore(part, float(weights[start]), float(np.log(NOTHING)))
        if start:
            out += part
        elif part is not out:
            out[:] = part


@compiled
def floored_product(factors: Values, less: Values, at_most: float, count_as: float, out: Values) -> None:
    """Write max(`NOTHING`, ∏_i f(factors[i, a, t] − less[i, t])), shape (action, context)."""
    n_factors, n_actions, n_contexts = factors.shape
    for a in range(n_actions):
        result = out[a]
        result[:] = 1.0
        for i in range(n_factors):
            row, zero = factors[i, a], less[i]
            for t in range(n_contexts):
                factor = row[t] - zero[t]
                result[t] *= factor if factor > at_most else count_as
        for t in range(n_contexts):
            whole = result[t]
            result[t] = whole if whole > NOTHING else NOTHING


@compiled
def weigh_and_restore(logarithms: Values, weight: float, nothing: float) -> None:
    """Multiply by the weight, in place; logarithms of at most `nothing` become −inf."""
    n_actions, n_contexts = logarithms.shape
    for a in range(n_actions):
        row = logarithms[a]
        for t in range(n_contexts):
            value = row[t]
            row[t] = weight * value if value > nothing else -np.inf
