"""Logarithms of weighted products, the scores of Nash's two rules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled

Values = NDArray[np.float64]

GROUP = 24  # factors multiplied before a logarithm is taken: 24 gains of 1e-12 are still above the smallest float


def log_product(factors: Values, weights: Values, *, at_most: float, count_as: float, total: Values) -> None:
    """Write Σ_i w_i log f(factors[i, a, t]), shape (action, context).

    Where weights are equal, logarithms of products replace sums of logarithms: the same number, but for rounding,
    with fewer logarithms.

    Parameters
    ----------
    factors
        Shape (stakeholder, action, context).
    weights
        Shape (stakeholder,), above 0.
    at_most, count_as
        A factor of at most `at_most` counts as `count_as`; 0 makes a product with such a factor −inf.
    total
        Where the result goes, shape (action, context).
    """
    group = GROUP if (weights == weights[0]).all() else 1
    total[:] = 0.0
    part = np.empty_like(total) if len(factors) > group else total
    with np.errstate(divide="ignore"):
        for start in range(0, len(factors), group):
            product(factors[start : start + group], at_most, count_as, part)
            np.log(part, out=part)
            if weights[start] != 1:
                part *= weights[start]
            if part is not total:
                total += part


@compiled
def product(factors: Values, at_most: float, count_as: float, result: Values) -> None:
    """Write ∏_i factors[i, a, t], in which factors of at most `at_most` count as `count_as`."""
    n_factors, n_actions, n_contexts = factors.shape
    for a in range(n_actions):
        out = result[a]
        out[:] = 1.0
        for i in range(n_factors):
            row = factors[i, a]
            for t in range(n_contexts):
                out[t] *= row[t] if row[t] > at_most else count_as
