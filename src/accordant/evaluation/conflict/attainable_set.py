"""The pool: attainable policies as lotteries over decisions that were computed, with their metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.evaluation.conflict.orientation import front, oriented
from accordant.evaluation.conflict.pairs import Kind, Point
from accordant.evaluation.conflict.totals import Totals, mixed
from accordant.metrics.metric import Goal

SHARES = np.arange(1, 20) / 20  # lotteries between two strategies, in steps of 0.05
MOST_POINTS = 30  # shown of a front; the others lie between them
CLOSE = 1e-9  # relative to the values, up to which a mixture of values is the value of the mixture


@dataclass(frozen=True)
class Policy:
    """A lottery over computed decisions: name to probability; a single name for a policy by itself."""

    kind: Kind
    parts: Mapping[str, float] = field(hash=False)

    @property
    def name(self) -> str:
        """The name, or the parts with their probabilities."""
        if len(self.parts) == 1:
            return next(iter(self.parts))
        return " + ".join(f"{share:.3g} {name}" for name, share in self.parts.items())

    def sums(self, totals: Totals) -> Values:
        """Return its sums, shape (resample, column)."""
        return np.asarray(sum(share * totals.row(name) for name, share in self.parts.items()))


@dataclass(frozen=True, eq=False)
class Pool:
    """Policies with the signed values of all metrics, shape (policy, metric)."""

    policies: tuple[Policy, ...]
    values: Values

    def only(self, *kinds: Kind) -> Pool:
        """Return the policies of some kinds."""
        rows = [p for p, policy in enumerate(self.policies) if policy.kind in kinds]
        return Pool(tuple(self.policies[p] for p in rows), self.values[rows])

    def named(self, name: str) -> int:
        """Return the position of a policy that is no lottery."""
        return next(p for p, policy in enumerate(self.policies) if name in policy.parts and len(policy.parts) == 1)

    def pair(self, columns: tuple[int, int], goals: tuple[Goal, Goal]) -> Values:
        """Return two metrics turned so that more is better, shape (policy, 2)."""
        return oriented(self.values[:, list(columns)], goals)

    def point(self, row: int, columns: tuple[int, int]) -> Point:
        """Return a policy with its values of two metrics."""
        policy = self.policies[row]
        first, second = self.values[row, list(columns)].tolist()
        return Point(policy.name, policy.kind, (first, second), policy.parts if len(policy.parts) > 1 else {})

    def front(self, columns: tuple[int, int], goals: tuple[Goal, Goal], most: int | None = None) -> tuple[Point, ...]:
        """Return the policies that none of them dominates, best in the first metric first; at most `most`, evenly."""
        better = self.pair(columns, goals)
        rows = np.flatnonzero(front(better))
        rows = rows[np.lexsort((-better[rows, 1], -better[rows, 0]))]
        if most is not None and len(rows) > most:
            rows = rows[np.unique(np.linspace(0, len(rows) - 1, most).round().astype(int))]
        return tuple(self.point(int(row), columns) for row in rows)


def pool_of(totals: Totals, kinds: Mapping[str, Kind], goals: Sequence[Goal]) -> Pool:
    """Return computed policies, and lotteries between any two compared strategies.

    A gap may change its sign between two strategies; the lottery in which it vanishes is added if the gap is linear.

    Parameters
    ----------
    totals
        Sums on some contexts, a single resample.
    kinds
        Name to kind, of all policies to take.
    goals
        One per metric.
    """
    plain = [Policy(kind, {name: 1.0}) for name, kind in kinds.items()]
    sums = np.stack([policy.sums(totals)[0] for policy in plain])
    values = totals.values(sums[:, None])[:, 0]
    rows = [p for p, policy in enumerate(plain) if policy.kind == "strategy"]
    first, second, shares = _lotteries(rows, values, goals)
    mixtures = [
        Policy("mixture", {plain[a].name: share, plain[b].name: 1 - share})
        for a, b, share in zip(first, second, shares, strict=True)
    ]
    if mixtures:
        found = totals.values(mixed(sums, first, second, np.array(shares))[:, None])[:, 0]
        values = np.concatenate([values, found])
    return Pool((*plain, *mixtures), values)


def _lotteries(rows: Sequence[int], values: Values, goals: Sequence[Goal]) -> tuple[list[int], list[int], list[float]]:
    """Return pairs of policies and the probability of the first."""
    first: list[int] = []
    second: list[int] = []
    shares: list[float] = []
    for a, b in combinations(rows, 2):
        crossing = [
            float(values[b, m] / (values[b, m] - values[a, m]))
            for m, goal in enumerate(goals)
            if goal == "zero" and values[a, m] * values[b, m] < 0
        ]
        for share in (*SHARES.tolist(), *crossing):
            first.append(a)
            second.append(b)
            shares.append(share)
    return first, second, shares


def linear(pool: Pool) -> NDArray[np.bool_]:
    """Return for each metric whether all lotteries of the pool have the mixture of their parts' values."""
    at = {policy.name: p for p, policy in enumerate(pool.policies) if len(policy.parts) == 1}
    found = np.ones(pool.values.shape[1], dtype=bool)
    for p, policy in enumerate(pool.policies):
        if len(policy.parts) > 1:
            mean = sum(share * pool.values[at[name]] for name, share in policy.parts.items())
            gap = np.abs(pool.values[p] - mean)
            found &= ~(gap > CLOSE * np.maximum(1.0, np.abs(mean)))  # NaN says nothing either way
    return found
