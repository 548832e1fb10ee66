"""Whether the winner survives the sampling error of the metrics: shares of weights, resample by resample.

Every resample of contexts gives metric values, and these divide the simplex anew. Shares are estimated with the same
evenly drawn weights in every resample, so that differences between resamples come from the metrics alone. Uncertain
criteria and unknown weights together: Lahdelma and Salminen 2001 (SMAA-2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.evaluation.composite import EQUAL
from accordant.statistics import percentile_interval

DRAWS_PER_RESAMPLE = 2_000  # standard error of a share in one resample at most 0.011


@dataclass(frozen=True)
class Survival:
    """One candidate over all resamples.

    Attributes
    ----------
    strategy
        Its name.
    share, low, high
        Mean share of all weights at which it wins, and percentile interval over resamples; strategies with equal
        scores share a weight vector.
    unranked
        Share of resamples in which a weighted metric is not defined for it, so that it wins nowhere.
    """

    strategy: str
    share: float
    low: float
    high: float
    unranked: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "strategy": self.strategy,
            "share": self.share,
            "low": self.low,
            "high": self.high,
            "unranked": self.unranked,
        }


@dataclass(frozen=True)
class SamplingError:
    """All candidates over all resamples, largest mean share first.

    Attributes
    ----------
    strategies
        One entry per candidate.
    resamples, draws, level
        Resamples of contexts, weight vectors drawn (the same for all resamples), coverage of the intervals.
    """

    strategies: tuple[Survival, ...]
    resamples: int
    draws: int
    level: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "strategies": [each.to_json() for each in self.strategies],
            "resamples": self.resamples,
            "draws": self.draws,
            "level": self.level,
        }


def sampling_error(
    normalised: Values,
    strategies: Sequence[str],
    weights: Values,
    candidates: NDArray[np.bool_],
    *,
    level: float = 0.95,
) -> SamplingError:
    """Return how shares vary over resamples.

    Parameters
    ----------
    normalised
        Normalised anew in each resample, weighted metrics only, shape (resample, strategy, metric); NaN where a metric
        is not defined.
    strategies
        Names.
    weights
        Drawn weights, shape (draw, metric).
    candidates
        Who can win, shape (strategy,).
    level
        Coverage of the intervals.

    Raises
    ------
    InputError
        If there is no resample or nobody can win.
    """
    if not len(normalised) or not candidates.any():
        raise InputError("sampling error needs at least one resample and one candidate")
    rows, names = normalised[:, candidates], [strategies[s] for s in np.flatnonzero(candidates)]
    shares = np.stack([_shares(each, weights) for each in rows])
    limits = percentile_interval(shares, level)
    unranked = np.isnan(rows).any(axis=-1).mean(axis=0)
    found = [
        Survival(
            name,
            float(shares[:, s].mean()),
            float(limits.low[s]),
            float(limits.high[s]),
            float(unranked[s]),
        )
        for s, name in enumerate(names)
    ]
    found.sort(key=lambda each: -each.share)
    return SamplingError(tuple(found), len(rows), len(weights), level)


def _shares(rows: Values, weights: Values) -> Values:
    """Return the share of weight vectors at which each row wins, equals sharing, shape (strategy,)."""
    ranked = ~np.isnan(rows).any(axis=1)
    found = np.zeros(len(rows))
    if ranked.any():
        scores = rows[ranked] @ weights.T
        first = scores >= scores.max(axis=0) - EQUAL
        found[ranked] = (first / first.sum(axis=0)).mean(axis=1)
    return found
