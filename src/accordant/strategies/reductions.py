"""Reductions of E that rules share: sums, products and extremes over stakeholders or actions, and their order."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.kernels import light

GROUP = 24  # factors multiplied before a logarithm is taken: 24 of them at 1e-12 are still above `NOTHING`
NOTHING = 1e-300  # stands for a product of 0, whose own logarithm would be many times slower to take


@light
def sum_over_stakeholders(values: Values, total: Values) -> None:
    """Write Σ_i values[i, a, t], added in the order of i, shape (action, context).

    In NumPy::

        total[:] = values.sum(axis=0)
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    for a in range(n_actions):
        out = total[a]
        out[:] = values[0, a]
        for i in range(1, n_stakeholders):
            row = values[i, a]
            for t in range(n_contexts):
                out[t] += row[t]


def extend(row: Values, highest: bool, out: Values) -> None:
    """Replace what is reached by what a row has beyond it, each of shape (context,); a part of kernels."""
    if highest:
        for t in range(len(out)):
            value, reached = row[t], out[t]
            out[t] = value if value > reached else reached
    else:
        for t in range(len(out)):
            value, reached = row[t], out[t]
            out[t] = value if value < reached else reached


@light
def extremes_over_actions(values: Values, highest: bool, extreme: Values) -> None:
    """Write min_a of values[i, a, t], or max_a if `highest`, shape (stakeholder, context).

    In NumPy::

        extreme[:] = values.max(axis=1) if highest else values.min(axis=1)
    """
    n_stakeholders, n_actions = values.shape[:2]
    for i in range(n_stakeholders):
        out = extreme[i]
        out[:] = values[i, 0]
        for a in range(1, n_actions):
            extend(values[i, a], highest, out)


@light
def extremes_over_stakeholders(values: Values, highest: bool, extreme: Values) -> None:
    """Write min_i of values[i, a, t], or max_i if `highest`, shape (action, context).

    In NumPy::

        extreme[:] = values.max(axis=0) if highest else values.min(axis=0)
    """
    n_stakeholders, n_actions = values.shape[:2]
    for a in range(n_actions):
        out = extreme[a]
        out[:] = values[0, a]
        for i in range(1, n_stakeholders):
            extend(values[i, a], highest, out)


@light
def sort_few(values: Values, ranked: Values) -> None:
    """Write values sorted over the first axis by comparing neighbours, whole rows at a time.

    In NumPy::

        ranked[:] = np.sort(values, axis=0)
    """
    n_ranks, n_actions, n_contexts = values.shape
    for a in range(n_actions):
        for k in range(n_ranks):
            ranked[k, a, :] = values[k, a]
        for end in range(n_ranks - 1, 0, -1):
            for k in range(end):
                lower, upper = ranked[k, a], ranked[k + 1, a]
                for t in range(n_contexts):
                    first, second = lower[t], upper[t]
                    lower[t] = first if first < second else second
                    upper[t] = second if first < second else first


@light
def weighted_sum(values: Values, weights: Values, total: Values) -> None:
    """Write Σ_i w_i E[i, a, t], added in the order of i, shape (action, context).

    In NumPy::

        total[:] = np.tensordot(weights, values, axes=1)
    """
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


@light
def floored_product(factors: Values, less: Values, at_most: float, count_as: float, out: Values) -> None:
    """Write max(`NOTHING`, ∏_i f(factors[i, a, t] − less[i, t])), shape (action, context).

    In NumPy::

        gaps = factors - less[:, None]
        out[:] = np.maximum(NOTHING, np.where(gaps > at_most, gaps, count_as).prod(axis=0))
    """
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


@light
def weigh_and_restore(logarithms: Values, weight: float, nothing: float) -> None:
    """Multiply by the weight, in place; logarithms of at most `nothing` become −inf.

    In NumPy::

        logarithms[:] = np.where(logarithms > nothing, weight * logarithms, -np.inf)
    """
    n_actions, n_contexts = logarithms.shape
    for a in range(n_actions):
        row = logarithms[a]
        for t in range(n_contexts):
            value = row[t]
            row[t] = weight * value if value > nothing else -np.inf
