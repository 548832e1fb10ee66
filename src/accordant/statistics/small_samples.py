"""Means of few units, or of units that are nearly all the same, where the plain bootstrap is too sure.

widened         resampled values for `best_set` with the tails of Student's t      few units
sparse_mean     an interval of a mean of values that are nearly all the same       few units that differ
mean_estimate   percentile bootstrap, or `sparse_mean` where it knows too little
student_mean    Student's t, for so few that resamples cannot leave the range of what was seen
share_estimate  a share, by Wilson's interval
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.statistics.estimate import Estimate
from accordant.statistics.proportions import bounded, wilson
from accordant.statistics.resampling import percentile_estimate, resample_counts, wider_level

Seen = Values | Sequence[float | None] | Sequence[bool | None]

SAME = 1e-12  # values that differ by no more than rounding are the same
FEW = 20  # units other than the rest from which on the bootstrap knows how they spread


def widened(drawn: Values, n: int, level: float = 0.95) -> Values:
    """Return resampled values of candidates, spread out for a comparison of all of them with few units.

    The largest studentised difference over all pairs is compared with the tail of a distribution, far out where many
    are compared. Resamples have the normal tail with the variance of the sample; deviations are stretched to the tail
    of Student's t with n − 1 degrees of freedom, fewer where there are few resamples, at Bonferroni's level over pairs,
    and by √(n / (n − 1)) [ours].

    Parameters
    ----------
    drawn
        Shape (resample, candidate).
    n
        Units that are resampled, at least 2.
    level
        Of the comparison, in (0, 1).
    """
    from scipy import stats

    size, k = max(n, 2), max(drawn.shape[1], 2)
    tail = (1 - level) / (k * (k - 1))
    freedom = 1 / (1 / (size - 1) + 1 / max(len(drawn) - 1, 1))  # few resamples do not know the variance either
    stretch = stats.t.isf(tail, freedom) / stats.norm.isf(tail) * np.sqrt(size / (size - 1))
    known = ~np.isnan(drawn)
    counts = known.sum(axis=0)
    centre = np.divide(np.where(known, drawn, 0.0).sum(axis=0), counts, out=np.zeros(len(counts)), where=counts > 0)
    return np.asarray(centre + stretch * (drawn - centre))


def sparse_mean(values: Values, low: float, high: float, level: float = 0.95) -> tuple[float, float]:
    """Return an interval of the mean of values in a known range, most of which are the same.

    The mean is the commonest value, plus the mean excess above it, minus the mean shortfall below it. Each of the two
    has the interval of `bounded`, so that nothing seen in n units still allows what n units can miss; they are put
    together as Newcombe 1998 does for two shares (method 10), with the correlation of what cannot happen at once
    (Zou and Donner 2008). For a paired difference of two shares, where values are −1, 0 and 1, this is an interval from
    the two kinds of discordant pairs.

    Parameters
    ----------
    values
        Of independent units, shape (unit,), at least one.
    low, high
        The range, low < high.
    level
        Coverage, in (0, 1).
    """
    n, common = len(values), commonest(values)
    above, below = np.maximum(values - common, 0.0), np.maximum(common - values, 0.0)
    up, up_low, up_high = _part(above, high - common, n, level)
    down, down_low, down_high = _part(below, common - low, n, level)
    both = float(np.corrcoef(above, below)[0, 1]) if above.std() > 0 and below.std() > 0 else 0.0
    least = _together((up, up_low), (down, down_high), both)
    most = _together((up, up_high), (down, down_low), both)
    value = common + up - down
    return max(low, value - least), min(high, value + most)


def mean_estimate(
    seen: Seen, generator: np.random.Generator, *, resamples: int = 1000, level: float = 0.95,
    within: tuple[float, float] | None = None,
) -> Estimate:  # fmt: skip
    """Return the mean of values of independent units with an interval that never has the width zero.

    That of the percentile bootstrap, wider for few units (`wider_level`), unless fewer than 20 units, and fewer than
    half of them, differ from the commonest value: then that of `sparse_mean` where the range is known. Where it is not,
    and all are the same, there is none.

    Parameters
    ----------
    seen
        A value of each unit; None or NaN where there is none.
    generator, resamples
        Of the bootstrap.
    level
        Coverage, in (0, 1).
    within
        Smallest and largest possible value; None if there is no such bound.
    """
    values = _known(seen)
    n = len(values)
    if n == 0:
        return Estimate(None, n=0, reason="defined nowhere")
    value = float(values.mean())
    others = int((np.abs(values - commonest(values)) > SAME).sum())
    if others < FEW and 2 * others < n and within is not None and within[0] < within[1]:
        low, high = sparse_mean(values, *within, level)
        return Estimate(value, min(low, value), max(high, value), level, n)
    if others == 0:
        return Estimate(value, n=n, reason="all values are the same, and their range is not known")
    drawn = resample_counts(n, resamples, generator) @ values / n
    estimate = percentile_estimate(value, drawn, float(wider_level(level, n)), n)
    return Estimate(estimate.value, estimate.low, estimate.high, level, n, estimate.undefined)


def student_mean(
    seen: Seen, level: float = 0.95, *, comparisons: int = 1, within: tuple[float, float] | None = None
) -> Estimate:
    """Return the mean of a handful of independent values with the interval v̄ ± t s / √n of Student 1908.

    Resamples of n values have no mean beyond the smallest and the largest of them, between which the true median lies
    with the probability 1 − 2^(1 − n) only: 0.875 for four. Student's interval covers for values that are normal, and
    few are enough where they are symmetric.

    Parameters
    ----------
    seen
        A value of each unit; None or NaN where there is none.
    level
        Coverage, in (0, 1): of this interval or, with Bonferroni's correction, of all comparisons together.
    comparisons
        How many intervals are read together, at least 1.
    within
        Smallest and largest possible value, to which limits are cut; None if there is no such bound.

    Raises
    ------
    InputError
        If `level` is not in (0, 1), or there is less than one comparison.
    """
    from scipy import special

    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    if comparisons < 1:
        raise InputError(f"comparisons is {comparisons}; allowed: at least 1")
    values = _known(seen)
    n = len(values)
    if n == 0:
        return Estimate(None, n=0, reason="defined nowhere")
    value = float(values.mean())
    if n == 1:
        return Estimate(value, n=1, reason="one value does not tell how they spread")
    if float(np.ptp(values)) <= SAME:
        return Estimate(value, n=n, reason="all values are the same")
    reach = float(special.stdtrit(n - 1, 1 - (1 - level) / (2 * comparisons)) * values.std(ddof=1) / np.sqrt(n))
    low, high = value - reach, value + reach
    if within is not None:
        low, high = min(max(low, within[0]), value), max(min(high, within[1]), value)
    return Estimate(value, low, high, level, n)


def share_estimate(seen: Seen, level: float = 0.95) -> Estimate:
    """Return the share of units that have something, with Wilson's interval.

    Parameters
    ----------
    seen
        Whether each unit has it; None or NaN where that is not defined.
    level
        Coverage, in (0, 1).
    """
    values = _known(seen)
    n = len(values)
    if n == 0:
        return Estimate(None, n=0, reason="defined nowhere")
    share = float(values.mean())
    low, high = wilson(share, n, level)
    return Estimate(share, float(low), float(high), level, n)


def commonest(values: Values) -> float:
    """Return the value that most are equal to up to rounding; the smallest among equals."""
    ordered = np.sort(values)
    starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf) > SAME)
    sizes = np.diff(starts, append=len(ordered))
    return float(ordered[starts[np.argmax(sizes)]])


def _part(values: Values, width: float, n: int, level: float) -> tuple[float, float, float]:
    """Return the mean of values between 0 and a width, with its limits."""
    mean = float(values.mean())
    if width <= 0:
        return mean, mean, mean
    low, high = bounded(mean, n, 0.0, width, level)
    return mean, min(mean, float(low)), max(mean, float(high))


def _together(one: tuple[float, float], other: tuple[float, float], correlation: float) -> float:
    """Return how far a difference reaches, from how far both parts do, each given with its mean."""
    a, b = abs(one[1] - one[0]), abs(other[1] - other[0])
    return float(np.sqrt(max(a * a - 2 * correlation * a * b + b * b, 0.0)))


def _known(seen: Seen) -> Values:
    """Return what is defined."""
    values = np.array(seen, dtype=np.float64)  # None becomes NaN
    return np.asarray(values[~np.isnan(values)])
