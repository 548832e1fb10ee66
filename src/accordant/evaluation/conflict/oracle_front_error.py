"""The sampling error of the concession with hindsight.

A policy that takes the best action in each context for one direction does so on every resample of these contexts too.
So the farthest points are followed from resample to resample by the metrics themselves, together with the candidates,
whose ideal and span are read anew. Directions are taken sparsely here; what that costs on the sample is added back.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.decisions import Decisions
from accordant.evaluation.conflict.additive import Additive
from accordant.evaluation.conflict.oracle_front import Hindsight, farthest, needed
from accordant.evaluation.conflict.orientation import oriented, slack
from accordant.evaluation.conflict.totals import Totals
from accordant.evidence import Evidence
from accordant.metrics.metric import Goal, Metric
from accordant.statistics import percentile_interval

EVERY = 5  # of the directions: at most 4.5 degrees apart
MOST_RESAMPLES = 200  # limits at 95 % are the fifth value from either end


def concession_interval(
    bounds: tuple[float, float],
    reach: Hindsight,
    parts: tuple[Additive, Additive],
    candidates: Mapping[str, Decisions],
    evidence: Evidence,
    metrics: Mapping[str, Metric],
    *,
    resamples: int,
    level: float,
    generator: np.random.Generator,
) -> tuple[float, float] | None:
    """Return a percentile interval of the smallest concession with hindsight; None if no resample defines it.

    Parameters
    ----------
    bounds
        Bounds on the concession on the sample, which take all directions.
    reach, parts
        Both metrics with hindsight, and as sums over contexts.
    candidates
        Those that are defined on both.
    evidence, metrics
        Contexts; the two metrics by label.
    resamples, level, generator
        At most 200 resamples are drawn.
    """
    directions = reach.directions[::EVERY]
    codes, which = np.unique(farthest(parts, directions, reach.goals), axis=0, return_inverse=True)
    none = np.zeros(evidence.n_contexts, dtype=bool)
    policies = {
        f"hindsight {k}": Decisions("hindsight", evidence.expected.actions, c, none) for k, c in enumerate(codes)
    }
    every, named = np.arange(evidence.n_contexts), {**candidates, **policies}
    number = min(resamples, MOST_RESAMPLES)
    drawn = Totals.resampled(named, evidence, metrics, every, number, generator).values()
    sample = Totals.on(named, evidence, metrics).values()
    near = slack(oriented(sample[: len(candidates), 0], reach.goals))
    point, values = (
        _concessions(each, len(candidates), which.ravel(), directions, reach.goals, near) for each in (sample, drawn)
    )
    limits = percentile_interval(values[:, None], level)
    if limits.undefined[0] == 1 or np.isnan(point[0]):
        return None
    return float(limits.low[0] + bounds[0] - point[0]), float(limits.high[0] + bounds[1] - point[0])


def _concessions(
    values: Values,
    n_candidates: int,
    which: NDArray[np.intp],
    directions: Values,
    goals: tuple[Goal, Goal],
    near: Values,
) -> Values:
    """Return a lower bound on each resample, shape (resample,); 0 where one candidate is best in both.

    Parameters
    ----------
    values
        Signed values of candidates and of policies with hindsight, shape (policy, resample, 2).
    which
        The policy of each direction.
    """
    better = oriented(values[:n_candidates], goals)
    better = np.where(np.isnan(better).any(axis=2, keepdims=True), -np.inf, better)
    ideal = better.max(axis=0)
    tops = better >= ideal - near
    # of those that are best in one metric, the best in the other one
    ends = [np.where(tops[:, :, m], better[:, :, 1 - m], -np.inf).max(axis=0) for m in (0, 1)]
    span = np.column_stack([ideal[:, 0] - ends[1], ideal[:, 1] - ends[0]])
    apart = (span > near).all(axis=1) & np.isfinite(ideal).all(axis=1)
    supports = np.einsum("drm,dm->dr", values[n_candidates:][which], directions)
    wide = np.where(apart[:, None], span, 1.0)
    target = np.where(np.isfinite(ideal), ideal, np.nan)
    found = needed(directions, supports, target, wide, goals)
    return np.where(apart | np.isnan(found), found, np.minimum(found, 0.0))
