"""The composite score with frozen ranges as one metric of decisions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError

GOALS = ("max", "min")


def frozen_composite(
    tables: Sequence[ArrayLike],
    *,
    goals: Sequence[str],
    weights: Sequence[float],
    ranges: Sequence[tuple[float, float]],
) -> Values:
    """Return θ_t(a) whose mean over contexts is Σ_h w_h s̃_h, the composite score with ranges as they were at E.

    Normalised values, (s − low) / (high − low) or (high − s) / (high − low), are not cut off at 0 and 1. The range of
    the result in a context is at most Σ_h w_h R_h / (high_h − low_h).

    Parameters
    ----------
    tables
        For each metric θ_h of shape (action, context), whose mean over contexts is the metric.
    goals
        ``"max"`` or ``"min"`` for each. A metric that should be 0 is not linear, so the schema has no constants for it.
    weights
        w_h, at least 0.
    ranges
        (low, high) of each metric over the candidate strategies at E, low below high.

    Returns
    -------
    Values of shape (action, context), for `paper_bound` with total ``"mean"``.

    Raises
    ------
    InputError
        If lengths differ, a weight is negative or a range is empty.
    UnknownNameError
        If a goal is unknown.
    """
    arrays = [np.asarray(table, dtype=np.float64) for table in tables]
    if not arrays or len({len(arrays), len(goals), len(weights), len(ranges)}) != 1:
        raise InputError(
            f"{len(arrays)} tables, {len(goals)} goals, {len(weights)} weights, {len(ranges)} ranges; "
            "allowed: one of each per metric, at least one metric"
        )
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 2:
        raise InputError(f"tables have shapes {[array.shape for array in arrays]}; allowed: one (action, context)")
    theta = np.zeros(arrays[0].shape)
    for array, goal, weight, (low, high) in zip(arrays, goals, weights, ranges, strict=True):
        if goal not in GOALS:
            raise UnknownNameError("goal of a linear metric", goal, GOALS)
        if not (weight >= 0 and high > low):
            raise InputError(f"weight {weight} and range ({low}, {high}); allowed: at least 0, and low below high")
        theta += weight * (array - low if goal == "max" else high - array) / (high - low)
    return theta
