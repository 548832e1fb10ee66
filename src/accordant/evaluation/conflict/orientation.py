"""Two metrics at a time, turned so that more is better: fronts, and what a compromise has to give up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accordant import statistics
from accordant.arrays import Mask, Values
from accordant.evaluation.composite import EQUAL
from accordant.metrics.metric import Goal


def oriented(values: Values, goals: Sequence[Goal]) -> Values:
    """Return values turned so that more is better: v for ``max``, −v for ``min``, −|v| for ``zero``.

    Parameters
    ----------
    values
        Shape (..., metric).
    goals
        One per metric.
    """
    kinds = np.array(goals)
    return np.asarray(np.where(kinds == "max", values, np.where(kinds == "min", -values, -np.abs(values))))


def slack(points: Values) -> Values:
    """Return up to which difference values of each metric are equal, shape (metric,)."""
    known = np.where(np.isnan(points), 0.0, np.abs(points))
    return np.asarray(EQUAL * np.maximum(1.0, known.max(axis=0, initial=0.0)))


def front(points: Values) -> Mask:
    """Return which points no other point dominates, shape (point,); see `accordant.statistics.front`.

    Parameters
    ----------
    points
        Oriented, shape (point, 2).
    """
    return statistics.front(points, slack(points))


def concession(points: Values, ideal: Values, span: Values) -> float | None:
    """Return the smallest share of the span that some point gives up against the ideal in its worse metric.

    0 reaches the ideal in both, 1 gives one of them up entirely, below 0 is better than the ideal in both (Chebyshev
    distance to the ideal point: Yu 1973; Zeleny 1973).

    Parameters
    ----------
    points
        Oriented, shape (point, 2).
    ideal, span
        Best value of each metric, and what lies between it and the value at the other's best, above 0; shape (2,).
    """
    known = points[~np.isnan(points).any(axis=1)]
    if not len(known):
        return None
    return float(((ideal - known) / span).max(axis=1).min())


def kendall(points: Values) -> float | None:
    """Return Kendall's tau-b of the two metrics (Kendall 1945); None if one of them never differs."""
    known = points[~np.isnan(points).any(axis=1)]
    near = slack(points)
    signs = [
        np.where(np.abs(gaps := column[:, None] - column) <= e, 0.0, np.sign(gaps))
        for column, e in zip(known.T, near, strict=True)
    ]
    sizes = [float(np.abs(each).sum()) for each in signs]
    if not all(sizes):
        return None
    return float((signs[0] * signs[1]).sum() / np.sqrt(sizes[0] * sizes[1]))
