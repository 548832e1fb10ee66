"""Attainable policies: those that read E and nothing that follows, and lotteries over decisions that were computed.

reweighed     the utilitarian rule under many stakeholder weights
bounded       a rule under a bound on a group gap (see `parity_price`)
probes        rules that nobody would propose: any weights and any bonus per action. They only tell whether two
              metrics can come apart at all
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.decisions import Decisions
from accordant.evaluation.conflict.fronts import front, oriented
from accordant.evaluation.conflict.pairs import Kind, Point
from accordant.evaluation.conflict.totals import Totals, mixed
from accordant.metrics.metric import Goal
from accordant.strategies import create
from accordant.utilities import ExpectedRewards

MOST_WEIGHTS = 100  # weight vectors tried; the grid is the finest one that has no more
PROBES = 60


def reweighed(expected: ExpectedRewards) -> dict[str, Decisions]:
    """Return the decisions of the utilitarian rule under a grid of stakeholder weights, by ``utilitarian(w, …)``."""
    decisions = {}
    for weights in weight_grid(len(expected.stakeholders)):
        name = f"utilitarian({', '.join(f'{weight:.3g}' for weight in weights)})"
        decisions[name] = create("utilitarian", {"weights": weights})(expected)
    return decisions


def weight_grid(n_stakeholders: int) -> list[tuple[float, ...]]:
    """Return weights i / steps that sum to 1, with as many steps as 100 vectors allow."""
    steps = 1
    while n_stakeholders > 1 and steps < MOST_WEIGHTS - 1 and _grid_size(steps + 1, n_stakeholders) <= MOST_WEIGHTS:
        steps += 1
    return [tuple(part / steps for part in parts) for parts in _parts(steps, n_stakeholders)]


def _grid_size(steps: int, n_stakeholders: int) -> int:
    return sum(1 for _ in _parts(steps, n_stakeholders))


def _parts(total: int, places: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a whole number as a sum of numbers of at least 0."""
    if places == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _parts(total - first, places - 1):
            yield (first, *rest)


def probes(expected: ExpectedRewards, generator: np.random.Generator) -> dict[str, Decisions]:
    """Return decisions under random stakeholder weights of either sign and a random bonus per action."""
    n_stakeholders, n_actions, n = expected.values.shape
    decisions = {}
    for k in range(PROBES):
        scores = np.tensordot(generator.normal(size=n_stakeholders), expected.values, axes=1)
        scores = scores + generator.normal(scale=0.5, size=(n_actions, 1))
        codes = scores.argmax(axis=0)
        decisions[f"probe {k}"] = Decisions("probe", expected.actions, codes, np.zeros(n, dtype=bool))
    return decisions


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
        mixture_values = totals.values(mixed(sums, first, second, np.array(shares))[:, None])[:, 0]
        values = np.concatenate([values, mixture_values])
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
    straight = np.ones(pool.values.shape[1], dtype=bool)
    for p, policy in enumerate(pool.policies):
        if len(policy.parts) > 1:
            mean = sum(share * pool.values[at[name]] for name, share in policy.parts.items())
            gap = np.abs(pool.values[p] - mean)
            straight &= ~(gap > CLOSE * np.maximum(1.0, np.abs(mean)))  # NaN says nothing either way
    return straight
