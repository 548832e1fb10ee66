"""Bootstrap: weights of units on resamples, and percentile intervals.

A resample is a vector of weights, so that whatever is a function of sums costs one matrix product. Interchangeable
units are drawn together as one multinomial; units that belong together (rows of one person, requests of one user) are
drawn together as a cluster.

Source: Efron 1979; percentile intervals: Efron and Tibshirani 1993, Section 13.3; bias: Efron 1981; clusters: Davison
and Hinkley 1997, Section 3.8; wider quantiles for few units: Hesterberg 2015, Section 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.json_values import finite
from accordant.statistics.estimate import Estimate

BLOCK = 2_000_000  # weights held at a time (16 MB)
ROUNDING = 1e-12  # values nearer than this, relative to max(1, |value|), are equal
MOST_ON_ONE_SIDE = 0.84  # a bias of one standard error; more cannot be told from a resampling that went wrong


@dataclass(frozen=True, eq=False)
class Units:
    """What is resampled: units, patterns of interchangeable units, or units in clusters.

    Attributes
    ----------
    members
        A unit that stands for each pattern, shape (pattern,).
    sizes
        Units of each pattern, shape (pattern,).
    patterns
        Pattern of each unit, shape (unit,).
    clusters
        Cluster of each unit, numbered from 0 without gaps, shape (unit,); None if units are independent. Clusters are
        never patterns.
    """

    members: Codes
    sizes: NDArray[np.int64]
    patterns: Codes
    clusters: Codes | None = None

    @classmethod
    def single(cls, n: int, clusters: Codes | None = None) -> Units:
        """Return `n` units, each its own pattern."""
        every = np.arange(n)
        return cls(every, np.ones(n, dtype=np.int64), every, clusters)

    @classmethod
    def alike(cls, columns: list[Codes], n: int) -> Units:
        """Return units with the same codes in every column as patterns."""
        codes: Codes = np.zeros(n, dtype=np.intp)
        size: int = 1
        for column in columns:
            width = int(column.max(initial=0)) + 1
            codes, size = _renumbered(codes * width + column, size * width)
        first = np.empty(size, dtype=np.intp)
        first[codes[::-1]] = np.arange(n)[::-1]
        return cls(first, np.bincount(codes, minlength=size), codes)

    @property
    def collapsed(self) -> bool:
        """Whether there are patterns of several units."""
        return len(self.members) < len(self.patterns)


@dataclass(frozen=True, eq=False)
class WeightBlock:
    """How often some units were drawn in some resamples: weights of shape (resample, unit)."""

    resamples: slice
    units: slice
    weights: Values


@dataclass(frozen=True, eq=False)
class Interval:
    """Percentile intervals.

    Attributes
    ----------
    low, high
        Limits; NaN if no resample has a value.
    undefined
        Share of resamples without a value; they are left out of the limits.
    """

    low: Values
    high: Values
    undefined: Values


def weight_blocks(units: Units, resamples: int, generator: np.random.Generator) -> Iterator[WeightBlock]:
    """Yield, block by block, how often each pattern is drawn when units are drawn with replacement.

    Clusters are drawn whole, as many as there are; the weights of a resample are then divided by their mean, so that
    sums over it stand for as many units as there are.
    """
    n, n_patterns = len(units.patterns), len(units.members)
    if units.clusters is not None:
        yield from _cluster_blocks(units.clusters, resamples, generator)
    elif units.collapsed:
        step = max(1, BLOCK // n_patterns)
        for start in range(0, resamples, step):
            stop = min(resamples, start + step)
            counts = generator.multinomial(n, units.sizes / n, size=stop - start)
            yield WeightBlock(slice(start, stop), slice(None), counts.astype(np.float64))
    else:
        # first how many draws fall into each block of units, then where inside the block they fall
        size = max(1, BLOCK // resamples)
        firsts = range(0, n, size)
        widths = [min(size, n - first) for first in firsts]
        draws = generator.multinomial(n, np.array(widths) / n, size=resamples)
        for k, (first, width) in enumerate(zip(firsts, widths, strict=True)):
            resample = np.repeat(np.arange(resamples), draws[:, k])
            cell = resample * width + generator.integers(0, width, size=len(resample))
            counts = np.bincount(cell, minlength=resamples * width).reshape(resamples, width)
            yield WeightBlock(slice(0, resamples), slice(first, first + width), counts.astype(np.float64))


def resample_counts(n: int, resamples: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return how often each of `n` units is drawn in each resample, shape (resample, unit)."""
    return np.asarray(generator.multinomial(n, np.full(n, 1.0 / n), size=resamples), dtype=np.intp)


def percentile_interval(
    values: Values, level: Values | float = 0.95, estimates: Values | float | None = None
) -> Interval:
    """Return percentile limits over the first axis, ignoring NaN, interpolating between order statistics.

    With estimates the limits also hold those that are corrected for bias (Efron 1981): where more than half of the
    resamples lie on one side of the estimate, as they do for a gap near zero, the estimate may be off by as much.

    Parameters
    ----------
    values
        Shape (resample, ...).
    level
        Coverage, in (0, 1); one number, or one for each entry behind the first axis.
    estimates
        Values without resampling, around which bias is corrected; None for plain percentiles.

    Raises
    ------
    InputError
        If `level` is not in (0, 1).
    """
    from scipy import special

    levels = np.broadcast_to(np.asarray(level, dtype=np.float64), values.shape[1:])
    if not ((levels > 0) & (levels < 1)).all():
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    ordered = np.sort(values, axis=0)  # NaN goes to the end
    n = np.asarray((~np.isnan(values)).sum(axis=0))
    limits = []
    shift = 0.0 if estimates is None else _bias(values, n, estimates)
    for tail, outer in (((1 - levels) / 2, np.minimum), ((1 + levels) / 2, np.maximum)):
        q = tail if estimates is None else outer(tail, special.ndtr(2 * shift + special.ndtri(tail)))
        place = q * np.maximum(n - 1, 0)
        below = np.floor(place).astype(np.intp)
        above = np.minimum(below + 1, np.maximum(n - 1, 0))
        first, second = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (below, above))
        limits.append(np.asarray(first + (place - below) * (second - first)))
    return Interval(limits[0], limits[1], 1 - n / len(values))


def _bias(values: Values, n: NDArray[np.integer], estimates: Values | float) -> Values:
    """Return the normal quantile of the share of resamples below the estimate, equal ones counting half."""
    from scipy import special

    size = ROUNDING * np.maximum(1.0, np.abs(estimates))
    with np.errstate(invalid="ignore"):
        below = (values < estimates - size).sum(axis=0) + 0.5 * (np.abs(values - estimates) <= size).sum(axis=0)
    share = np.divide(below, n, out=np.full(np.shape(below), 0.5), where=n > 0)
    return np.asarray(special.ndtri(np.clip(share, 1 - MOST_ON_ONE_SIDE, MOST_ON_ONE_SIDE)))


def wider_level(level: float, n: Values | float) -> Values:
    """Return the level whose percentile limits cover `level` for means of `n` units (Hesterberg 2015, Section 3.3).

    A percentile interval of a mean is that of a normal distribution with the variance of the sample: too narrow by the
    quantile of Student's t with n − 1 degrees of freedom, and by √(n / (n − 1)).

    Parameters
    ----------
    level
        Coverage wanted, in (0, 1).
    n
        Number of units, or an effective number; fewer than 2 count as 2.
    """
    from scipy import special

    size = np.maximum(np.asarray(n, dtype=np.float64), 2.0)
    wide = np.sqrt(size / (size - 1)) * special.stdtrit(size - 1, (1 + level) / 2)
    return np.asarray(np.minimum(2 * special.ndtr(wide) - 1, 1 - 1e-9))


def refit_variance(refits: Values) -> Values:
    """Return the variance between the mean of refits without each part of the data and the fit on all of it.

    If leaving out part k changes the value by δ_k, and these are independent, then that mean differs from the value of
    the whole by the mean of the δ_k: its variance is Σ_k (v_k − v̄)² / (K (K − 1)). Source: ours, after the linear
    expansion behind the delete-a-group jackknife (Kott 2001).

    Parameters
    ----------
    refits
        Values without each of K parts, shape (K, ...); fewer than two give 0, as does what is not defined.
    """
    k = len(refits)
    if k < 2:
        return np.zeros(refits.shape[1:])
    return np.asarray(np.nan_to_num(np.square(refits - refits.mean(axis=0)).sum(axis=0) / (k * (k - 1))))


def percentile_estimate(value: float, drawn: Values, level: float = 0.95, n: float | None = None) -> Estimate:
    """Return a value with percentile limits from its resampled values.

    Parameters
    ----------
    value
        On all units; NaN if it is not defined.
    drawn
        Resampled values, NaN where there is none, shape (resample,).
    level
        Coverage, in (0, 1).
    n
        How many units it rests on.
    """
    limits = percentile_interval(drawn, level)
    low, high = (None if np.isnan(value) else finite(limit) for limit in (limits.low, limits.high))
    return Estimate(finite(value), low, high, level, n, float(limits.undefined))


def cluster_codes(labels: NDArray[Any]) -> Codes:
    """Return the number of each unit's cluster, in order of first appearance, shape (unit,)."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[codes.ravel()], dtype=np.intp)


def _cluster_blocks(clusters: Codes, resamples: int, generator: np.random.Generator) -> Iterator[WeightBlock]:
    """Yield the weights of whole clusters, a block of resamples at a time."""
    n, n_clusters = len(clusters), int(clusters.max(initial=-1)) + 1
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        stop = min(resamples, start + step)
        weights = resample_counts(n_clusters, stop - start, generator).astype(np.float64)[:, clusters]
        yield WeightBlock(slice(start, stop), slice(None), weights * (n / weights.sum(axis=1, keepdims=True)))


def _renumbered(codes: Codes, size: int) -> tuple[Codes, int]:
    """Return codes renumbered 0, 1, … in the same order, and how many there are."""
    present = np.bincount(codes, minlength=size) > 0
    return (np.cumsum(present) - 1)[codes], int(present.sum())
