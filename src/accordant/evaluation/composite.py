"""Composite score: the weighted sum of normalised metrics.

Vineis, Perelli and Tolomei 2025, Definition 11; the paper leaves open how a goal turns the scale round.

    goal   minmax (default)                          reference (official code, commit f15b820)
    max    (s − min) / (max − min)                   (s − min) / max(max − min, 1e-9), accuracy left raw
    min    (max − s) / (max − min)                   (max − s) / max(max − min, 1e-9)
    zero   (max|s| − |s|) / (max|s| − min|s|)        1 − |s| / max(max|s|, 1e-9)

``natural`` places a metric on its own range [lo, hi], so that a score does not depend on who else is listed: (s − lo) /
(hi − lo), (hi − s) / (hi − lo), or 1 − |s| / max(|lo|, |hi|).

With ``minmax``, a metric on which all candidates are equal gives 1 to all and is flagged uninformative.
Strategies outside the candidate set (oracle, random, logged) are placed on the candidates' scale without
influencing it, so their values may leave [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.metrics.metric import Goal

Values = NDArray[np.float64]
Normalisation = Literal["natural", "relative", "minmax", "reference"]
NORMALISATIONS: tuple[Normalisation, ...] = ("minmax", "reference")
EQUAL = 1e-12  # ranges up to this, relative to max(1, |s|), are rounding
FLOOR = 1e-9  # smallest divisor in the official code


@dataclass(frozen=True, eq=False)
class Composite:
    """Normalised metrics and composite scores.

    Attributes
    ----------
    scores
        Shape (..., strategy); NaN if unranked: a metric with positive weight is not defined.
    normalised
        Shape (..., strategy, metric); NaN where a metric is not defined.
    uninformative
        Whether all candidates are equal on a metric, shape (..., metric).
    weights
        Weights divided by their sum, shape (metric,).
    """

    scores: Values
    normalised: Values
    uninformative: NDArray[np.bool_]
    weights: Values


def composite_score(
    raw: Values,
    *,
    goals: Sequence[Goal],
    weights: Sequence[float],
    candidates: NDArray[np.bool_],
    normalisation: Normalisation = "minmax",
    accuracy: NDArray[np.bool_] | None = None,
    ranges: Sequence[tuple[float, float]] = (),
) -> Composite:
    """Return composite scores of raw metric values.

    Parameters
    ----------
    raw
        Shape (..., strategy, metric); NaN where a metric is not defined.
    goals
        One per metric.
    weights
        One per metric, at least 0 and not all 0; metrics with weight 0 are normalised but do not count.
    candidates
        Which strategies define the scale, shape (strategy,).
    normalisation
        ``natural``, ``relative`` (formerly ``minmax``) or ``reference``.
    accuracy
        Which metrics ``reference`` leaves raw, shape (metric,); none by default.
    ranges
        Smallest and largest possible value of each metric, for ``natural``.

    Raises
    ------
    InputError
        If shapes do not match, there is no candidate, or weights are negative or all 0.
    """
    shares = _shares(weights, raw.shape[-1])
    if candidates.shape != raw.shape[-2:-1] or len(goals) != raw.shape[-1]:
        raise InputError(f"{len(candidates)} candidates and {len(goals)} goals do not fit values of shape {raw.shape}")
    if not candidates.any():
        raise InputError("no candidate strategies; a composite score needs at least one")
    valid: tuple[str, ...] = get_args(Normalisation)
    if normalisation not in valid:
        raise InputError(f"unknown normalisation {normalisation!r}; valid: {', '.join(valid)}")
    kinds = np.array(goals)
    # from here on, more is better for 'max' and less is better for 'min' and 'zero'
    size = np.where(kinds == "zero", np.abs(raw), raw)
    low, high = _range(size[..., candidates, :])
    spread = high - low
    uninformative = spread <= EQUAL * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    if normalisation == "natural":
        normalised = _on_ranges(raw, kinds, ranges)
    elif normalisation in ("relative", "minmax"):
        better = np.where(kinds == "max", size - low, high - size)
        flat = uninformative & ~np.isnan(size)
        normalised = np.where(flat, 1.0, better / np.where(uninformative, 1.0, spread))
    else:
        span = np.maximum(spread, FLOOR)
        scaled = np.where(kinds == "max", (size - low) / span, (high - size) / span)
        normalised = np.where(kinds == "zero", 1 - size / np.maximum(high, FLOOR), scaled)
        if accuracy is not None:
            normalised = np.where(accuracy, raw, normalised)
    counted = shares > 0
    scores = np.asarray((normalised[..., counted] * shares[counted]).sum(axis=-1))
    return Composite(scores, np.asarray(normalised), np.asarray(uninformative).squeeze(axis=-2), shares)


def _on_ranges(raw: Values, kinds: NDArray[np.str_], ranges: Sequence[tuple[float, float]]) -> Values:
    """Return values on their own ranges, 1 best; never clipped."""
    if len(ranges) != raw.shape[-1] or any(not low < high for low, high in ranges):
        raise InputError(f"ranges {tuple(ranges)} are wrong; allowed: a smaller and a larger number for each metric")
    low, high = np.array(ranges, dtype=np.float64).T
    by_goal = np.where(kinds == "max", raw - low, high - raw) / (high - low)
    return np.where(kinds == "zero", 1 - np.abs(raw) / np.maximum(np.abs(low), np.abs(high)), by_goal)


def _shares(weights: Sequence[float], n_metrics: int) -> Values:
    """Return the weights divided by their sum."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_metrics,) or not np.isfinite(array).all() or (array < 0).any():
        raise InputError(f"metric weights {tuple(weights)} are wrong; allowed: {n_metrics} numbers of at least 0")
    if array.sum() <= 0:
        raise InputError("metric weights sum to 0; at least one must be positive")
    return np.asarray(array / array.sum())


def _range(values: Values) -> tuple[Values, Values]:
    """Return the smallest and largest defined value over strategies, shape (..., 1, metric); NaN if none."""
    missing = np.isnan(values)
    none = missing.all(axis=-2, keepdims=True)
    low = np.where(missing, np.inf, values).min(axis=-2, keepdims=True)
    high = np.where(missing, -np.inf, values).max(axis=-2, keepdims=True)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)
