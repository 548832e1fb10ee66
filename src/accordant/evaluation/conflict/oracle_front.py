"""The front with hindsight: the best that any policy could have reached on these contexts, had it known what follows.

For metrics that add over contexts the sums of all (randomised) policies form a convex set, and the policy that takes
argmax_a λ₁ θ₁[a, t] + λ₂ θ₂[a, t] in each context reaches its farthest point in direction λ (weighted sums find all
supported points: Geoffrion 1968). Directions on a grid give points inside the set and straight lines outside of it;
so whatever is said about the whole front holds between the two.

This front reads realised outcomes. No rule for new people can promise it: it says which conflicts remain even then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Codes, Values
from accordant.evaluation.conflict.additive import Additive
from accordant.evaluation.conflict.orientation import front
from accordant.metrics.metric import Goal

LEVEL = 1e-15  # contributions of single contexts that differ by less are level
DIRECTIONS = 101  # per quadrant: at most 0.9 degrees apart


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
        """Return bounds on the smallest share of the span that any policy gives up, see `orientation.concession`.

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
        found = share[:, None] * here[at] + (1 - share[:, None]) * there[at]
        found[:, metric] = 0.0
        return np.asarray(found)


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
    found = np.concatenate([quadrant * (a, b) for a in signs[0] for b in signs[1]]) + 0.0
    found = np.unique(found, axis=0)
    return np.asarray(found[np.argsort(np.arctan2(found[:, 1], found[:, 0]), kind="stable")])
