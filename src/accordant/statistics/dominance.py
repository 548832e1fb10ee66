"""Pareto dominance: at least as good in everything, better in something; more is better throughout."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Floats, Mask, Values


def dominates(values: Values, slack: float) -> Mask:
    """Return whether one point is at least as good as another on all axes and better on one.

    Parameters
    ----------
    values
        Shape (..., point, axis); a point with NaN neither dominates nor is dominated.
    slack
        Up to which difference values are equal.

    Returns
    -------
    Shape (..., point, other point): whether the point dominates the other.
    """
    gaps = values[..., :, None, :] - values[..., None, :, :]
    return np.asarray((gaps >= -slack).all(axis=-1) & (gaps > slack).any(axis=-1))


def dominated_by(values: Floats, other: int, slack: float) -> Mask:
    """Return where one alternative is at least as good for everybody, and better for somebody, shape (action, context).

    Parameters
    ----------
    values
        Shape (stakeholder, action, context), such as E.
    other
        Position of that alternative.
    slack
        By how much more it must be to be better; nobody may have less at all.
    """
    rival = values[:, other, None]
    return np.asarray((rival >= values).all(axis=0) & (rival > values + slack).any(axis=0))


def front(points: Values, slack: Values) -> Mask:
    """Return which points in the plane no other point dominates; equal points all stay, shape (point,).

    One sweep over points by falling first value: a point stays if its second value is not behind the best so far. What
    is ahead in the first value by less than the slack alone stays too, though `dominates` would take it out.

    Parameters
    ----------
    points
        Shape (point, 2); a point with NaN is never on the front.
    slack
        Up to which difference values of each axis are equal, shape (2,).
    """
    known = np.flatnonzero(~np.isnan(points).any(axis=1))
    on_front = np.zeros(len(points), dtype=bool)
    best, at = -np.inf, np.inf
    for k in known[np.lexsort((-points[known, 1], -points[known, 0]))]:
        first, second = points[k]
        level = second >= best - slack[1] and (second > best + slack[1] or first >= at - slack[0])
        if level:
            on_front[k] = True
        if second > best + slack[1]:
            best, at = second, first
    return on_front
