"""How far values in groups are from being alike: differences and ratios, and limits of the farthest of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.statistics import percentile_interval

FARTHEST_LOG_RATIO = 700.0  # of a value and 0: finite, and its exponential is 0 or more than any ratio


@dataclass(frozen=True)
class Comparison:
    """How values are compared: larger is farther from being alike.

    Attributes
    ----------
    of
        Values of all rows and each group, shape (draw, 1 + group), to comparisons, shape (draw, comparison).
    shown
        From the largest comparison to the number that is shown.
    alike
        The comparison of values that are alike.
    """

    of: Callable[[Values], Values]
    shown: Callable[[float], float]
    alike: float


def differences(sides: Callable[[Values], tuple[Values, Values]]) -> Comparison:
    """Return differences, in both directions."""

    def of(values: Values) -> Values:
        """Return both sides' differences, shape (draw, 2 · pair)."""
        first, second = sides(values)
        return np.concatenate([first - second, second - first], axis=1)

    return Comparison(of, float, 0.0)


def ratios(sides: Callable[[Values], tuple[Values, Values]]) -> Comparison:
    """Return minus the logarithm of ratios, in both directions: the largest belongs to the smallest ratio."""

    def of(values: Values) -> Values:
        """Return the logarithms, shape (draw, 2 · pair); NaN where a value is below 0 or both are 0."""
        first, second = (np.where(side < 0, np.nan, side) for side in sides(values))
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = np.clip(np.log(second) - np.log(first), -FARTHEST_LOG_RATIO, FARTHEST_LOG_RATIO)
        return np.concatenate([gap, -gap], axis=1)

    return Comparison(of, lambda gap: float(np.exp(-gap)), 0.0)


def pairs(values: Values) -> tuple[Values, Values]:
    """Return both sides of every pair of groups."""
    first, second = np.triu_indices(values.shape[1] - 1, k=1)
    return values[:, 1:][:, first], values[:, 1:][:, second]


def to_overall(values: Values) -> tuple[Values, Values]:
    """Return every group, and all rows."""
    return values[:, 1:], np.broadcast_to(values[:, :1], values[:, 1:].shape)


def largest_limits(drawn: Values, level: float) -> tuple[float, float]:
    """Return limits of the largest of several quantities.

    The largest is at least every lower limit that holds for all together, and at most the largest of the single upper
    limits: the one that is truly largest is among them.

    Parameters
    ----------
    drawn
        Shape (draw, quantity), NaN where there is none; each quantity stands there with both signs.
    level
        Coverage, in (0, 1).
    """
    tail = (1 - level) / 2
    single = percentile_interval(drawn, level)
    ranks = np.argsort(np.argsort(drawn, axis=0, kind="stable"), axis=0, kind="stable") / max(1, len(drawn) - 1)
    lowest = np.where(np.isnan(drawn), 1.0, ranks).min(axis=1)  # the most surprising quantity of each draw
    together = float(np.clip(np.quantile(lowest, tail), 1e-9, tail))
    low = percentile_interval(drawn, 1 - 2 * together).low
    return float(np.nanmax(low)), float(np.nanmax(single.high))
