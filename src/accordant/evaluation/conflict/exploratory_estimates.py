"""A pair of metrics on the sample, before anything is confirmed: who is best in what, and what lies between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.evaluation.conflict.attainable import Policy, Pool
from accordant.evaluation.conflict.fronts import Hindsight, kendall, oriented, slack
from accordant.evaluation.conflict.pairs import Relation
from accordant.evaluation.conflict.totals import Additive, Totals
from accordant.metrics.metric import Goal

LEAST_DISTINCT = 6  # fewer different values in order prove nothing about construction


@dataclass(frozen=True)
class Claim:
    """That a policy is better in both metrics than a candidate; or that a rule lowers the concession of lotteries.

    Attributes
    ----------
    over
        The candidate; or of candidates and lotteries the one that concedes least.
    by
        The policy.
    compromise
        Which of the two is claimed.
    """

    over: Policy
    by: Policy
    compromise: bool = False


@dataclass(frozen=True, eq=False)
class Material:
    """What all pairs are judged from.

    Attributes
    ----------
    metrics, goals
        Labels and goals; the order of all columns.
    totals
        Sums over all contexts of everything tried, probes and references included.
    tried
        Their signed values, shape (policy, metric).
    pool
        Attainable policies on all contexts.
    linear
        Whether each metric of a lottery is the mixture of its values, shape (metric,).
    halved
        The pool on the choosing half; None if there is no judging half.
    drawn
        Signed values of the candidates on resamples of all contexts, shape (candidate, resample, metric); None if
        nothing was resampled.
    hindsight
        Metric positions to their front with hindsight, where it is known.
    parts
        Metric position to the metric as a sum over contexts, where it is one.
    reasons
        Metric position to the reason why it has none.
    level
        Coverage.
    """

    metrics: tuple[str, ...]
    goals: tuple[Goal, ...]
    totals: Totals
    tried: Values
    pool: Pool
    linear: NDArray[np.bool_]
    halved: Pool | None
    drawn: Values | None
    hindsight: Mapping[tuple[int, int], Hindsight]
    parts: Mapping[int, Additive]
    reasons: Mapping[int, str]
    level: float


@dataclass(frozen=True, eq=False)
class ExploratoryEstimate:
    """A pair before improvements are confirmed.

    Attributes
    ----------
    columns, goals
        The metrics.
    candidates
        Position of each candidate in the pool that is defined on both.
    better
        Their values turned so that more is better, shape (candidate, 2).
    best
        Positions among them: best in the first metric, in the second; of equal ones the best in the other.
    span
        What lies between these two in each metric, shape (2,).
    differs, single, relation
        See `Grounds`.
    claims
        What is to be confirmed.
    rivals
        Candidates whose lotteries make the front of mixtures, which claims about rules have to pass.
    """

    columns: tuple[int, int]
    goals: tuple[Goal, Goal]
    candidates: NDArray[np.intp]
    better: Values
    best: tuple[int, int]
    span: Values
    differs: bool
    single: bool
    relation: Relation
    claims: tuple[Claim, ...]
    rivals: tuple[str, ...]

    @property
    def conflict(self) -> bool:
        """Whether different candidates are best, and nothing but construction could explain it."""
        return self.differs and not self.single and self.relation == "none"


def exploratory_estimate(material: Material, columns: tuple[int, int]) -> ExploratoryEstimate:
    """Look at a pair on the sample."""
    goals = material.goals[columns[0]], material.goals[columns[1]]
    pool = material.pool.only("strategy")
    better = pool.pair(columns, goals)
    candidates = np.flatnonzero(~np.isnan(better).any(axis=1))
    better = better[candidates]
    near = slack(better)
    differs = len(better) > 1 and bool((np.ptp(better, axis=0) > near).all())
    best = (0, 0)
    if len(better):
        tops = [np.flatnonzero(better[:, m] >= better[:, m].max() - near[m]) for m in (0, 1)]
        best = tuple(int(top[better[top, 1 - m].argmax()]) for m, top in enumerate(tops))  # type: ignore[assignment]
    span = np.abs(better[best[0]] - better[best[1]]) if len(better) else np.zeros(2)
    single = bool(len(better)) and bool((span <= near).any())
    relation = _relation(material, columns, goals)
    return ExploratoryEstimate(columns, goals, candidates, better, best, span, differs, single, relation, (), ())


def _relation(material: Material, columns: tuple[int, int], goals: tuple[Goal, Goal]) -> Relation:
    """Return how two metrics move together over everything tried."""
    values = oriented(material.tried[:, list(columns)], goals)
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) == 0 or min(len(np.unique(values[:, m].round(12))) for m in (0, 1)) < LEAST_DISTINCT:
        return "none"
    tau = kendall(values)
    if tau is not None and 1 - abs(tau) <= 1e-9:
        return "up" if tau > 0 else "down"
    return "none"
