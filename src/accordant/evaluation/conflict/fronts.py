"""Fronts of two metrics: of points, and with hindsight; and the sampling error of the concession with hindsight.

The front with hindsight (`Hindsight`) is the best that any policy could have reached on these contexts, had it known
what follows. For metrics that add over contexts the sums of all (randomised) policies form a convex set, and the policy
that takes argmax_a λ₁ θ₁[a, t] + λ₂ θ₂[a, t] in each context reaches its farthest point in direction λ (weighted sums
find all supported points: Geoffrion 1968). Directions on a grid give points inside the set and straight lines outside
of it; so whatever is said about the whole front holds between the two.

The front with hindsight reads realised outcomes. No rule for new people can promise it: it says which conflicts remain
even then.

Its sampling error (`concession_interval`): a policy that takes the best action in each context for one direction does
so on every resample of these contexts too. So the farthest points are followed from resample to resample by the metrics
themselves, together with the candidates, whose ideal and span are read anew. Directions are taken sparsely for this;
what that costs on the sample is added back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant import statistics
from accordant.arrays import Codes, Mask, Values
from accordant.decisions import Decisions
from accordant.evaluation.composite import EQUAL
from accordant.evaluation.conflict.totals import Additive, Totals
from accordant.evidence import Evidence
from accordant.metrics.metric import Goal, Metric
from accordant.statistics import percentile_interval

LEVEL = 1e-15  # contributions of single contexts that differ by less are level
DIRECTIONS = 101  # per quadrant: at most 0.9 degrees apart
EVERY = 5  # one in so many directions is followed over resamples: at most 4.5 degrees apart
MOST_RESAMPLES = 200  # limits at 95 % are the fifth value from either end


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
    sizes = [float(np.abs(sign).sum()) for sign in signs]
    if not all(sizes):
        return None
    return float((signs[0] * signs[1]).sum() / np.sqrt(sizes[0] * sizes[1]))


@dataclass(frozen=True, eq=False)
class Hindsight:
    """What policies that know what follows could reach.

    Attributes
    ----------
    corners
        Signed values of two metrics that some deterministic policy reaches, shape (corner, 2).
    directions, supports
        Weights of the signed values and the largest weighted value that any policy reaches, shape (direction, 2) and
        (direction,).
    goals
        Goals of the two metrics.
    """

    corners: Values
    directions: Values
    supports: Values
    goals: tuple[Goal, Goal]

    @classmethod
    def of(cls, first: Additive, second: Additive, goals: tuple[Goal, Goal]) -> Hindsight:
        """Take the best action in each context, direction by direction."""
        directions = _directions(goals)
        columns = np.arange(first.contributions.shape[1])
        corners = np.array(
            [
                [part.constant + part.contributions[codes, columns].sum() for part in (first, second)]
                for codes in _farthest((first, second), directions, goals)
            ]
        )
        return cls(corners, directions, (directions * corners).sum(axis=1), goals)

    def front(self) -> Values:
        """Return the corners, and their mixtures without a gap, that no other of them dominates, shape (point, 2)."""
        points = np.unique(np.concatenate([self.corners, *(self._crossings(m) for m in (0, 1))]), axis=0)
        better = np.column_stack([_better(points[:, m], goal) for m, goal in enumerate(self.goals)])
        chosen = points[front(better)]
        return np.asarray(chosen[np.argsort(-_better(chosen[:, 0], self.goals[0]), kind="stable")])

    def concession(self, ideal: Values, span: Values) -> tuple[float, float]:
        """Return bounds on the smallest share of the span that any policy gives up, see `concession`.

        The upper bound is reached by a mixture of the corners (linear programme); the lower bound is `needed`.

        Parameters
        ----------
        ideal, span
            Oriented, shape (2,).
        """
        least = float(needed(self.directions, self.supports[:, None], ideal[None], span[None], self.goals)[0])
        return least, max(least, self._reached(ideal, span))

    def _reached(self, ideal: Values, span: Values) -> float:
        """Return the smallest concession of a mixture of the corners."""
        from scipy.optimize import linprog

        rows, limits = [], []
        for m, goal in enumerate(self.goals):
            for sign in (-1.0, 1.0) if goal == "zero" else (1.0 if goal == "min" else -1.0,):
                rows.append([*(sign * self.corners[:, m] / span[m]), -1.0])
                limits.append(-ideal[m] / span[m])
        n = len(self.corners)
        done = linprog(
            [*np.zeros(n), 1.0], A_ub=rows, b_ub=limits, A_eq=[[*np.ones(n), 0.0]], b_eq=[1.0],
            bounds=[*[(0, None)] * n, (None, None)],
        )  # fmt: skip
        return float(done.fun)

    def _crossings(self, metric: int) -> Values:
        """Return mixtures of neighbouring corners at which a gap is zero, shape (point, 2)."""
        if self.goals[metric] != "zero":
            return np.empty((0, 2))
        here, there = self.corners, np.roll(self.corners, -1, axis=0)
        at = np.flatnonzero(here[:, metric] * there[:, metric] < 0)
        share = there[at, metric] / (there[at, metric] - here[at, metric])
        mixtures = share[:, None] * here[at] + (1 - share[:, None]) * there[at]
        mixtures[:, metric] = 0.0
        return np.asarray(mixtures)


def farthest(parts: tuple[Additive, Additive], directions: Values, goals: tuple[Goal, Goal]) -> Codes:
    """Return the actions of the policy that goes farthest in each direction, shape (direction, context)."""
    return np.stack(list(_farthest(parts, directions, goals)))


def _farthest(parts: tuple[Additive, Additive], directions: Values, goals: tuple[Goal, Goal]) -> Iterator[Codes]:
    """Yield the actions direction by direction."""
    thetas = np.stack([part.contributions for part in parts])
    for direction in directions:
        scores = np.tensordot(direction, thetas, axes=1)
        best = scores >= scores.max(axis=0) - LEVEL
        # at an end of the sweep one metric does not count; it decides between actions that are level in the other
        other = np.where(direction == 0, [_sign(goal) for goal in goals], 0.0)
        tie_break = np.tensordot(other, thetas, axes=1) if other.any() else scores
        yield np.where(best, tie_break, -np.inf).argmax(axis=0)


def needed(directions: Values, supports: Values, ideal: Values, span: Values, goals: tuple[Goal, Goal]) -> Values:
    """Return the concession that no policy can avoid, shape (resample,).

    A direction d reaches no more than its support, and needs |d| · ideal − c |d| · span. No gap is smaller than 0.

    Parameters
    ----------
    directions, goals
        See `Hindsight`.
    supports
        Shape (direction, resample).
    ideal, span
        Oriented, shape (resample, 2).
    """
    sizes = np.abs(directions)
    bounds = ((sizes @ ideal.T - supports) / (sizes @ span.T)).max(axis=0)
    for m, goal in enumerate(goals):
        if goal == "zero":
            bounds = np.maximum(bounds, ideal[:, m] / span[:, m])
    return np.asarray(bounds)


def _sign(goal: Goal) -> float:
    """Return how a metric counts at the end of a sweep; a gap does not."""
    return {"max": 1.0, "min": -1.0, "zero": 0.0}[goal]


def _better(values: Values, goal: Goal) -> Values:
    return {"max": values, "min": -values, "zero": -np.abs(values)}[goal]


def _directions(goals: tuple[Goal, Goal]) -> Values:
    """Return directions in which some goal lies, in order round the circle, shape (direction, 2)."""
    angles = np.linspace(0, np.pi / 2, DIRECTIONS)
    quadrant = np.column_stack([np.cos(angles), np.sin(angles)])
    quadrant[0], quadrant[-1] = (1.0, 0.0), (0.0, 1.0)
    signs = [(1.0, -1.0) if goal == "zero" else (_sign(goal),) for goal in goals]
    directions = np.concatenate([quadrant * (a, b) for a in signs[0] for b in signs[1]]) + 0.0
    directions = np.unique(directions, axis=0)
    return np.asarray(directions[np.argsort(np.arctan2(directions[:, 1], directions[:, 0]), kind="stable")])


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
        _concessions(figures, len(candidates), which.ravel(), directions, reach.goals, near)
        for figures in (sample, drawn)
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
    concessions = needed(directions, supports, target, wide, goals)
    return np.where(apart | np.isnan(concessions), concessions, np.minimum(concessions, 0.0))
