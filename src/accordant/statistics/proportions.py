"""Intervals for shares that know small counts: where nothing was seen, they do not say that nothing can happen.

    wilson       one share                              Wilson 1927
    newcombe     the difference of two shares           Newcombe 1998, method 10
    spread       largest minus smallest of many shares  from simultaneous differences, below
    ratio        smallest divided by largest            from simultaneous shares, below
    bounded      a mean of values in a known range      Wilson's interval for the mean over the range

Every function works on arrays. Counts may be fractional: expected numbers, or numbers of clusters.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError

Limits = tuple[Values, Values]


def wilson(share: Values | float, n: Values | float, level: float = 0.95) -> Limits:
    """Return the score interval of a share (Wilson 1927).

    Parameters
    ----------
    share
        Share seen, in [0, 1].
    n
        Units that it was seen in, same shape; the interval is NaN where this is 0.
    level
        Coverage, in (0, 1).

    Raises
    ------
    InputError
        If `level` is not in (0, 1).
    """
    p, size = (np.asarray(number, dtype=np.float64) for number in (share, n))
    z = normal_quantile(level)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (p + z * z / (2 * size)) / (1 + z * z / size)
        half = z * np.sqrt(p * (1 - p) / size + z * z / (4 * size * size)) / (1 + z * z / size)
        low, high = np.minimum(p, np.maximum(centre - half, 0.0)), np.maximum(p, np.minimum(centre + half, 1.0))
    return np.where(p <= 0, 0.0 * low, low)[()], np.where(p >= 1, 1.0 + 0.0 * high, high)[()]


def newcombe(
    first: Values | float, n_first: Values | float, second: Values | float, n_second: Values | float,
    level: float = 0.95,
) -> Limits:  # fmt: skip
    """Return the interval of a difference of two independent shares, first − second (Newcombe 1998, method 10).

    Parameters
    ----------
    first, n_first, second, n_second
        The shares and the units that each was seen in.
    level
        Coverage, in (0, 1).
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    (low, high), (other_low, other_high) = wilson(one, n_first, level), wilson(other, n_second, level)
    gap = one - other
    return (
        gap - np.sqrt((one - low) ** 2 + (other_high - other) ** 2),
        gap + np.sqrt((high - one) ** 2 + (other - other_low) ** 2),
    )


def spread(shares: Values, n: Values, level: float = 0.95) -> Limits:
    """Return an interval of the largest minus the smallest of several independent shares.

    The largest difference is at least each lower limit of simultaneous differences (Bonferroni over pairs), and at most
    the largest upper limit of single differences: the pair that is truly farthest apart is among them. For two shares
    the upper limit is Newcombe's.

    Parameters
    ----------
    shares, n
        Shares and the units that each was seen in, shape (..., group), at least two groups.
    level
        Coverage, in (0, 1).
    """
    k = shares.shape[-1]
    pairs = k * (k - 1) // 2
    low, high = np.zeros(shares.shape[:-1]), np.zeros(shares.shape[:-1])
    for i in range(k):
        for j in range(k):
            if i != j:
                pair = shares[..., i], n[..., i], shares[..., j], n[..., j]
                low = np.maximum(low, newcombe(*pair, 1 - (1 - level) / pairs)[0])
                high = np.maximum(high, newcombe(*pair, level)[1])
    return low, high


def ratio(shares: Values, n: Values, level: float = 0.95) -> Limits:
    """Return an interval of the smallest divided by the largest of several independent shares.

    Between what simultaneous intervals of the shares allow (Bonferroni), so it is wider than need be.

    Parameters
    ----------
    shares, n, level
        As for `spread`.
    """
    low, high = wilson(shares, n, 1 - (1 - level) / shares.shape[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(high.max(axis=-1) > 0, low.min(axis=-1) / high.max(axis=-1), 0.0)
        most = np.where(low.max(axis=-1) > 0, high.min(axis=-1) / low.max(axis=-1), 1.0)
    return least, np.minimum(most, 1.0)


def bounded(mean: Values | float, n: Values | float, low: float, high: float, level: float = 0.95) -> Limits:
    """Return an interval of the mean of values within a known range: Wilson's, with the range taken as [0, 1].

    A variable in [0, 1] with mean μ has a variance of at most μ (1 − μ), that of a share, so the interval is as wide as
    any such variable may need.

    Parameters
    ----------
    mean, n
        The mean, and the units that it was taken over.
    low, high
        The range.
    level
        Coverage, in (0, 1).
    """
    if not high > low:
        raise InputError(f"a range from {low} to {high} has no width")
    share = np.clip((np.asarray(mean, dtype=np.float64) - low) / (high - low), 0.0, 1.0)
    least, most = wilson(share, n, level)
    return low + (high - low) * least, low + (high - low) * most


def normal_quantile(level: float) -> float:
    """Return the two-sided quantile of the normal distribution for a level in (0, 1)."""
    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    return NormalDist().inv_cdf((1 + level) / 2)
