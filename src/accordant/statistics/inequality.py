"""Inequality of numbers of at least 0: Gini, Theil, Atkinson and Jain, along the last axis.

None depends on the unit: x and 2x are as unequal. All are NaN where all numbers are 0.
"""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values


def gini(values: Values) -> Values:
    """Return Σ_ij |x_i − x_j| / (2 n Σ_i x_i), in [0, 1 − 1/n] (Gini 1912; Sen 1973).

    Computed from order statistics: Σ_r (2 r − n − 1) x_(r) / (n Σ x) with ranks r from 1.

    Parameters
    ----------
    values
        At least 0, shape (..., n); NaN is left out.

    Returns
    -------
    Shape (...); NaN where there is no number, or all are 0.
    """
    ordered = np.sort(values, axis=-1)  # NaN goes to the end
    known = ~np.isnan(ordered)
    count = known.sum(axis=-1, keepdims=True)
    ranks = np.arange(1, ordered.shape[-1] + 1)
    filled = _scaled(np.where(known, ordered, 0.0))
    spread = ((2 * ranks - count - 1) * filled).sum(axis=-1)
    total = count[..., 0] * filled.sum(axis=-1)
    relative = np.divide(spread, total, out=np.full(np.shape(total), np.nan), where=total != 0)
    coefficient: Values = np.maximum(relative, 0.0)
    return coefficient


def theil(values: Values) -> Values:
    """Return mean (x / x̄) log (x / x̄), in [0, log n], with 0 log 0 = 0 (Theil 1967).

    Parameters
    ----------
    values
        At least 0, shape (..., n).
    """
    share = _relative(values)
    index: Values = np.maximum(0.0, (share * np.log(np.where(share > 0, share, 1.0))).mean(axis=-1))
    return index


def atkinson(values: Values, epsilon: float) -> Values:
    """Return 1 − (equally distributed equivalent) / x̄, in [0, 1] (Atkinson 1970).

    The equivalent is (mean x^(1−ε))^(1/(1−ε)), and the geometric mean for ε = 1. From ε = 1 on, one number of 0 makes
    the index 1. Computed from logarithms: powers do not overflow, and nothing is lost near ε = 1.

    Parameters
    ----------
    values
        At least 0, shape (..., n).
    epsilon
        Aversion to inequality, above 0.
    """
    share = _relative(values)
    power = 1.0 - epsilon
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(share)  # −∞ for 0
        if power == 0:
            logarithm = logs.mean(axis=-1)
        else:
            powers = power * logs
            highest = powers.max(axis=-1, keepdims=True)
            logarithm = (highest[..., 0] + np.log1p(np.expm1(powers - highest).mean(axis=-1))) / power
    equivalent = np.where((share == 0).any(axis=-1), 0.0, np.exp(logarithm)) if epsilon >= 1 else np.exp(logarithm)
    known = ~np.isnan(share).any(axis=-1)
    return np.where(known, np.clip(1.0 - equivalent, 0.0, 1.0), np.nan)[()]


def jain(values: Values) -> Values:
    """Return (Σ x)² / (n Σ x²), in [1/n, 1]: 1 where all are equal (Jain, Chiu and Hawe 1984).

    Parameters
    ----------
    values
        At least 0, shape (..., n).
    """
    index: Values = np.minimum(1.0, 1.0 / np.square(_relative(values)).mean(axis=-1))
    return index


def _relative(values: Values) -> Values:
    """Return values divided by their mean, NaN where all are 0."""
    scaled = _scaled(values)
    mean = scaled.mean(axis=-1, keepdims=True)
    return np.asarray(np.divide(scaled, mean, out=np.full(np.shape(values), np.nan), where=mean > 0))


def _scaled(values: Values) -> Values:
    """Return values divided by a power of 2, which rounds nothing: the largest is below 1, and sums are finite."""
    _, exponent = np.frexp(np.max(values, axis=-1, keepdims=True, initial=0.0))
    return np.asarray(np.ldexp(values, -exponent))
