"""What long slates look like: theorems 1 to 3 of Peng, Raghavan, Pierson, Kleinberg and Garg (2024).

An allocation is γ-homogeneous if the share of type t is p_t^γ / Σ_i p_i^γ: γ = 0 shows all types alike, γ = 1 shows
each as often as it is wanted (calibration), γ = ∞ shows the likeliest alone. As n → ∞ with k fixed (theorem 1),

    finite discrete             γ = 0              bounded, density ~ c (M − x)^(β−1)    γ = β / (β + 1)
    exponential                 γ = 1              Pareto, α > 1                         γ = α / (α − 1)
    everything consumed         γ = ∞

For chances c (i + d)^(−α) of the i-th item (theorem 2): k = 1 gives 0 for α < 1, 1 / (1 + c) for α = 1 and 1 / α for
α > 1; everything consumed gives 1 / α.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.consumption.trials import Bernoulli, Discrete, RankedChances
from accordant.slates.consumption.values import (
    BoundedBeta,
    Exponential,
    Pareto,
    Uniform,
    ValueDistribution,
    checked_numbers,
    checked_probabilities,
    whole_number,
)


def limit_gamma(values: ValueDistribution, consumed: int | None = 1) -> float:
    """Return γ of the limit n → ∞, for one distribution that all types share.

    Parameters
    ----------
    values
        A distribution of this package, except `FinitePool`, which has no long slates.
    consumed
        k ≥ 1, which stays fixed; None if everything is consumed. With `RankedChances` only 1 or None.

    Raises
    ------
    InputError
        If no theorem covers the case.
    """
    if consumed is not None:
        whole_number("consumed", consumed, 1)
    if isinstance(values, RankedChances):
        return _ranked(values, consumed)
    rule = FIXED.get(type(values))
    if rule is None:
        allowed = ", ".join(kind.__name__ for kind in (*FIXED, RankedChances))
        raise InputError(f"values are {type(values).__name__}; the theorems cover: {allowed}")
    return math.inf if consumed is None else rule(values)


def homogeneous_shares(probabilities: ArrayLike, gamma: float) -> Values:
    """Return p_t^γ / Σ_i p_i^γ, shape (type,); a type that nobody wants gets 0, also for γ = 0.

    Parameters
    ----------
    probabilities
        p_t, shape (type,), with sum 1.
    gamma
        At least 0; ∞ shares equally among the likeliest.

    Raises
    ------
    InputError
        If a parameter is outside its range.
    """
    p = checked_probabilities("probabilities", probabilities)
    if not gamma >= 0:
        raise InputError(f"gamma is {gamma}; allowed: at least 0, or infinite")
    relative = p / p.max()
    powers = np.where(relative == 1.0, 1.0, 0.0) if math.isinf(gamma) else np.where(p > 0, relative**gamma, 0.0)
    return np.asarray(powers / powers.sum())


def chance_shares(probabilities: ArrayLike, chances: ArrayLike, consumed: int | None = 1) -> Values:
    """Return the limit of theorem 3, where an item of type t pleases with chance q_t, shape (type,).

    With k = 1 shares are proportional to 1 / log(1 / (1 − q_t)), whatever the probabilities above 0; if everything is
    consumed, the types with the largest p_t q_t share equally.

    Parameters
    ----------
    probabilities
        p_t, shape (type,), with sum 1; a type that nobody wants gets 0.
    chances
        q_t above 0 and at most 1, shape (type,); a type with chance 1 needs one item, so its share goes to 0.
    consumed
        1, or None for everything.

    Raises
    ------
    InputError
        If a parameter is outside its range, or every wanted type has chance 1.
    """
    p, q = checked_probabilities("probabilities", probabilities), checked_numbers("chances", chances, "type")
    if q.shape != p.shape or not ((q > 0) & (q <= 1)).all():
        raise InputError(f"chances are {q.tolist()}; allowed: one above 0, at most 1, for each of {len(p)} types")
    if consumed is None:
        weights = (p * q == (p * q).max()).astype(np.float64)
    elif consumed == 1:
        with np.errstate(divide="ignore"):
            weights = np.where(p > 0, -1.0 / np.log1p(-q), 0.0)
        if not weights.any():
            raise InputError("every wanted type pleases with chance 1; one item of each is enough, there is no limit")
    else:
        raise InputError(f"consumed is {consumed!r}; theorem 3 covers: 1, None")
    return np.asarray(weights / weights.sum())


def _levels(values: Discrete) -> float:
    """Return 0, unless the value is always the same."""
    _, reached = values.steps
    if not (reached < 1).any():
        raise InputError("values are always the same; more than k items of a type add nothing, there is no limit")
    return 0.0


def _bernoulli(values: Bernoulli) -> float:
    """Return 0, unless every item pleases."""
    return _levels(Discrete([0.0, 1.0], [1.0 - values.chance, values.chance]))


def _ranked(values: RankedChances, consumed: int | None) -> float:
    """Return γ of theorem 2."""
    if consumed is None:
        return math.inf if values.decay == 0 else 1.0 / values.decay
    if consumed != 1:
        raise InputError(f"consumed is {consumed}; theorem 2 covers: 1, None")
    if values.first == 1:
        raise InputError("the first item always pleases; more items of a type add nothing, there is no limit")
    if values.decay == 1:
        return 1.0 / (1.0 + values.factor)
    return 0.0 if values.decay < 1 else 1.0 / values.decay


FIXED: dict[type, Callable[[Any], float]] = {  # γ for fixed k
    Uniform: lambda values: values.shape / (values.shape + 1.0),
    BoundedBeta: lambda values: values.shape / (values.shape + 1.0),
    Exponential: lambda _: 1.0,
    Pareto: lambda values: values.tail / (values.tail - 1.0),
    Bernoulli: _bernoulli,
    Discrete: _levels,
}
