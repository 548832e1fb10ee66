"""Comparing many candidates together: the set that contains the best.

`best_set` is the model confidence set of Hansen, Lunde and Nason 2011 with the range statistic T_R: as long as the
largest studentised difference between two members is larger than chance allows for all of their pairs together, the
member that it speaks against is taken out. All candidates that are truly best stay in with the probability `level`,
whatever their number; in particular nobody is taken out where all are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.statistics.proportions import normal_quantile
from accordant.statistics.small_samples import widened

ALIKE = 0.99  # who decides alike in such a share is compared as one
UNDEFINED = 0.05  # candidates without a value on more resamples than this are not compared


@dataclass(frozen=True, eq=False)
class BestSet:
    """Which candidates cannot be told from the best.

    Attributes
    ----------
    compared
        Whether a candidate was compared at all, shape (candidate,).
    member
        Whether it is in the set, shape (candidate,); those not compared are not.
    better
        For a candidate taken out, one that is better; −1 for all others, shape (candidate,).
    """

    compared: Mask
    member: Mask
    better: NDArray[np.intp]


def best_set(
    values: Values, drawn: Values, *, level: float = 0.95, able: Mask | None = None, error: float = 0.0
) -> BestSet:
    """Return the set that contains the best candidate; more is better.

    Parameters
    ----------
    values
        Shape (candidate,); NaN is not compared.
    drawn
        The same on resamples, paired, shape (resample, candidate).
    level
        Probability with which all of the best stay in the set.
    able
        Who is compared, shape (candidate,); everybody by default.
    error
        Smallest standard error that a difference can have, such as the change that one more unit can bring. Without
        it, candidates that differ on few units would be told apart by the luck of these few, and those that differ
        alike on all units would not be told apart at all.
    """
    n = len(values)
    compared = ~np.isnan(values) & (np.isnan(drawn).mean(axis=0) <= UNDEFINED)
    if able is not None:
        compared &= able
    member, better = compared.copy(), np.full(n, -1, dtype=np.intp)
    places = np.flatnonzero(compared)
    if len(places) < 2 or not len(drawn):
        return BestSet(compared, member, better)
    kept = drawn[~np.isnan(drawn[:, places]).any(axis=1)][:, places]
    if not len(kept):
        return BestSet(compared, member, better)
    statistic, extreme = _studentised(values[places], kept, error)
    inside = np.ones(len(places), dtype=bool)
    while inside.sum() > 1:
        now = np.flatnonzero(inside)
        critical = max(float(np.quantile(extreme(now), level)), normal_quantile(level))
        worst, by = np.unravel_index(np.argmax(statistic[np.ix_(now, now)]), (len(now), len(now)))
        if not statistic[now[worst], now[by]] > critical:
            break
        inside[now[worst]] = False
        member[places[now[worst]]], better[places[now[worst]]] = False, places[now[by]]
    return BestSet(compared, member, better)


class _Extreme:
    """The largest studentised deviation over pairs of some candidates, on every resample."""

    def __init__(self, deviations: Values, inverse: Values) -> None:
        self._deviations, self._inverse = deviations, inverse

    def __call__(self, some: NDArray[np.intp]) -> Values:
        """Return it, shape (resample,)."""
        largest = np.zeros(len(self._deviations))
        for place, i in enumerate(some):
            others = some[place + 1 :]
            if len(others):
                gaps = np.abs(self._deviations[:, others] - self._deviations[:, [i]]) * self._inverse[i, others]
                np.maximum(largest, gaps.max(axis=1), out=largest)
        return largest


def _studentised(values: Values, drawn: Values, error: float) -> tuple[Values, _Extreme]:
    """Return (v_j − v_i) / se_ij, shape (i, j), and the same for deviations on resamples."""
    deviations = drawn - drawn.mean(axis=0)
    covariance = np.atleast_2d(np.cov(deviations, rowvar=False, bias=True))
    variances = np.diag(covariance)
    squares = np.maximum(variances[:, None] + variances[None, :] - 2 * covariance, 0.0)
    inverse, careful = _inverse_root(squares), _inverse_root(np.maximum(squares, error**2))
    return (values[None, :] - values[:, None]) * careful, _Extreme(deviations, inverse)


def _inverse_root(squares: Values) -> Values:
    """Return 1 / √x, and 0 where x is 0 up to rounding."""
    return np.asarray(np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 1e-24))


def leaders(codes: NDArray[np.integer], share: float = ALIKE) -> NDArray[np.intp]:
    """Return for each row of codes the first row that agrees with it in at least a share of columns.

    A row that agrees with no leader before it leads itself, so every row agrees with its leader.

    Parameters
    ----------
    codes
        Shape (row, column); for decisions: strategy × context.
    share
        Smallest share of equal entries, in [0, 1].
    """
    return first_alike(len(codes), lambda row, leader: bool((codes[row] == codes[leader]).mean() >= share))


def first_alike(n: int, alike: Callable[[int, int], bool]) -> NDArray[np.intp]:
    """Return for each of `n` rows the first one that is like it, by a function of both; see `leaders`."""
    first = np.arange(n, dtype=np.intp)
    for row in range(n):
        for leader in range(row):
            if first[leader] == leader and alike(row, leader):
                first[row] = leader
                break
    return first


def joint_level(drawn: Values, level: float = 0.95) -> float:
    """Return the level whose percentile intervals of single values hold together at a level.

    With it, the share of resamples that lie within the limits of all values at once is the level wanted: the quantile
    form of sup-t bands (Montiel Olea and Plagborg-Møller 2019, Algorithm 2). Values that move together cost little.

    Parameters
    ----------
    drawn
        Resampled values, paired, shape (resample, value); resamples with NaN are left out, and values that never vary.
    level
        Coverage together, in (0, 1).

    Raises
    ------
    InputError
        If `level` is not in (0, 1).
    """
    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    known = drawn[:, ~np.isnan(drawn).all(axis=0)]
    known = known[~np.isnan(known).any(axis=1)]
    if len(known) < 2:
        return level
    known = known[:, np.ptp(known, axis=0) > 0]
    if known.shape[1] < 2:
        return level
    ordered = np.sort(known, axis=0)
    last = len(known) - 1
    tails = np.empty(known.shape)
    for k in range(known.shape[1]):
        # of equal values the place that lies least far out
        above = np.searchsorted(ordered[:, k], known[:, k], side="right") - 1
        below = last - np.searchsorted(ordered[:, k], known[:, k], side="left")
        tails[:, k] = np.minimum(above, below) / last
    tail = float(np.quantile(tails.min(axis=1), 1 - level))
    return float(np.clip(1 - 2 * tail, level, 1 - 1e-9))


def joint_band(
    values: Values, drawn: Values, *, n: int, level: float = 0.95, error: Values | float = 0.0
) -> tuple[Values, Values]:
    """Return intervals of several values that hold together: v ± q se, each of shape (value,).

    q is the quantile of the largest studentised deviation over resamples (sup-t band, Montiel Olea and
    Plagborg-Møller 2019, Algorithm 2 with standard errors), of deviations that `widened` stretches for few units.

    Parameters
    ----------
    values
        On all units, shape (value,).
    drawn
        The same on resamples, paired, shape (resample, value); resamples with NaN are left out.
    n
        Units that are resampled.
    level
        Coverage of all of them together, in (0, 1).
    error
        Smallest standard error of each value, such as the change that one more unit can bring.

    Raises
    ------
    InputError
        If `level` is not in (0, 1), or fewer than two resamples are left.
    """
    least = normal_quantile(level)
    known = drawn[~np.isnan(drawn).any(axis=1)]
    if len(known) < 2:
        raise InputError(f"{len(known)} resamples without NaN; allowed: 2 or more")
    deviations = widened(known, n, level) - known.mean(axis=0)
    errors = known.std(axis=0)
    sizes = np.divide(np.abs(deviations), errors, out=np.zeros_like(deviations), where=errors > 0)
    quantile = max(float(np.quantile(sizes.max(axis=1), level)), least)
    half = quantile * np.maximum(errors, error)
    return np.asarray(values - half), np.asarray(values + half)


def difference_bounds(
    first: tuple[Values, Values, Values], second: tuple[Values, Values, Values], *, level: float, together: float
) -> tuple[Values, Values]:
    """Return bounds of second − first that hold together, from intervals of each; whatever the two have in common.

    If 2k intervals hold together, k differences lie between differences of their ends. That needs no assumption on how
    estimates depend on each other; for independent ones it is too wide. Single intervals are widened to Bonferroni's
    level over 2k by the quotient of normal quantiles, each side by itself [ours].

    Parameters
    ----------
    first, second
        Values, lower and upper limits, each of shape (value,).
    level
        Coverage of each of these intervals, in (0, 1).
    together
        Coverage of all differences together, in (0, 1).
    """
    k = max(len(first[0]), 1)
    factor = max(1.0, normal_quantile(1 - (1 - together) / (2 * k)) / normal_quantile(level))
    (value, low, high), (other, other_low, other_high) = first, second
    gap, down, up = other - value, (high - value) + (other - other_low), (value - low) + (other_high - other)
    return np.asarray(gap - factor * down), np.asarray(gap + factor * up)
