"""Judging one pair of metrics from what was computed for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.evaluation.bootstrap import percentile_interval
from accordant.evaluation.composite import EQUAL
from accordant.evaluation.conflict.hindsight import Hindsight
from accordant.evaluation.conflict.orientation import concession, front, kendall, oriented, slack
from accordant.evaluation.conflict.pairs import Concessions, Improvement, PairConflict, Point
from accordant.evaluation.conflict.pool import MOST_POINTS, Policy, Pool
from accordant.evaluation.conflict.totals import Totals
from accordant.evaluation.conflict.verdicts import Grounds, Relation, verdict
from accordant.evaluation.leaderboard import Estimate, finite
from accordant.metrics.metric import Goal

Values = NDArray[np.float64]
LEAST_DISTINCT = 6  # fewer different values in order prove nothing about construction


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
    reasons: Mapping[int, str]
    level: float


@dataclass(frozen=True, eq=False)
class Draft:
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
    chosen
        Candidate on the front to the policy that was chosen against it.
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
    chosen: Mapping[str, Policy]

    @property
    def conflict(self) -> bool:
        """Whether different candidates are best, and nothing but construction could explain it."""
        return self.differs and not self.single and self.relation == "none"


def draft(material: Material, columns: tuple[int, int]) -> Draft:
    """Look at a pair on the sample, and choose policies against the candidates on its front."""
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
    found = Draft(
        columns, goals, candidates, better, best, span, differs,
        bool(len(better)) and bool((span <= near).any()), _relation(material, columns, goals), {},
    )  # fmt: skip
    if not found.conflict or material.halved is None:
        return found
    return Draft(**{**vars(found), "chosen": _chosen(material.halved, pool, found)})


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


def _chosen(halved: Pool, pool: Pool, found: Draft) -> dict[str, Policy]:
    """Return, for each candidate on the front, the policy with the largest smaller gain on the choosing half."""
    new, old = halved.only("mixture", "reweighed", "bounded"), halved.only("strategy")
    values, former = (each.pair(found.columns, found.goals) for each in (new, old))
    chosen = {}
    for row in found.candidates[front(found.better)]:
        name = pool.policies[row].name
        gains = ((values - former[old.named(name)]) / found.span).min(axis=1)
        gains = np.where(np.isnan(gains), -np.inf, gains)
        if gains.max(initial=-np.inf) > EQUAL:
            chosen[name] = new.policies[int(gains.argmax())]
    return chosen


@dataclass(frozen=True, eq=False)
class Judging:
    """Sums on the judging half, of all policies that were chosen and those they challenge: as it is, and resampled."""

    point: Totals
    drawn: Totals


def judged(material: Material, found: Draft, judging: Judging | None) -> PairConflict:
    """Return the result on a pair."""
    columns, goals, pool = found.columns, found.goals, material.pool
    strategies = pool.only("strategy")
    costs, single_share, apart = _settled(material, found)
    improvements = [] if judging is None else _confirmed(material, found, judging)
    reach = material.hindsight.get(columns)
    concessions = _concessions(found, pool, reach) if found.conflict else None
    grounds = Grounds(
        found.differs, found.relation, found.single, single_share, apart,
        any(each.confirmed for each in improvements), None if concessions is None else concessions.hindsight,
        material.level,
    )  # fmt: skip
    names = [strategies.policies[row].name for row in found.candidates]
    return PairConflict(
        metrics=(material.metrics[columns[0]], material.metrics[columns[1]]),
        goals=goals,
        verdict=verdict(grounds),
        grounds=grounds,
        best=(names[found.best[0]], names[found.best[1]]) if names else None,
        costs=costs,
        kendall=(kendall(found.better), kendall(oriented(material.tried[:, list(columns)], goals))),
        front=strategies.front(columns, goals),
        mixture_front=pool.only("strategy", "mixture").front(columns, goals, MOST_POINTS),
        rule_front=pool.only("strategy", "reweighed", "bounded").front(columns, goals, MOST_POINTS),
        hindsight_front=None if reach is None else tuple((float(a), float(b)) for a, b in reach.front()),
        linear=(bool(material.linear[columns[0]]), bool(material.linear[columns[1]])),
        concessions=concessions,
        improvements=tuple(improvements),
        reasons=tuple(_reasons(material, found, strategies)),
    )


def _settled(material: Material, found: Draft) -> tuple[tuple[Estimate, Estimate] | None, float | None, bool | None]:
    """Return what each best candidate costs in the other metric, how often one is best in both, and if they differ."""
    if not len(found.better):
        return None, None, None
    (a, b), points = found.best, found.better
    costs = points[a, 0] - points[b, 0], points[b, 1] - points[a, 1]
    if material.drawn is None:
        return (Estimate(float(costs[0])), Estimate(float(costs[1]))), None, None
    drawn = oriented(material.drawn[found.candidates][:, :, list(found.columns)], found.goals)
    tops = np.where(np.isnan(drawn), -np.inf, drawn).max(axis=0)
    single = (drawn >= tops - slack(points)).all(axis=2).any(axis=0)
    paired = np.stack([drawn[a, :, 0] - drawn[b, :, 0], drawn[b, :, 1] - drawn[a, :, 1]], axis=1)
    limits = percentile_interval(paired, material.level)
    estimates = tuple(
        Estimate(float(costs[m]), finite(limits.low[m]), finite(limits.high[m]), float(limits.undefined[m]))
        for m in (0, 1)
    )
    apart = bool((limits.low > slack(points)).all())
    return (estimates[0], estimates[1]), float(single.mean()), apart


def _confirmed(material: Material, found: Draft, judging: Judging) -> list[Improvement]:
    """Judge the chosen policies on the judging half; several candidates share the level (Bonferroni)."""
    improvements = []
    level = 1 - (1 - material.level) / max(1, len(found.chosen))
    for over, policy in found.chosen.items():
        limits = percentile_interval(_gains(judging.drawn, policy, over, found), level)
        value = _gains(judging.point, policy, over, found)[0]
        confirmed = bool((limits.low > slack(found.better)).all() and not limits.undefined.any())
        first, second = (
            Estimate(finite(value[m]), finite(limits.low[m]), finite(limits.high[m]), float(limits.undefined[m]))
            for m in (0, 1)
        )
        improvements.append(Improvement(over, _point(material.totals, policy, found), (first, second), confirmed))
    return improvements


def _gains(totals: Totals, policy: Policy, over: str, found: Draft) -> Values:
    """Return what a policy gains over a candidate in both metrics, more is better, shape (resample, 2)."""
    values = totals.values(np.stack([policy.sums(totals), totals.row(over)]))
    better = oriented(values[:, :, list(found.columns)], found.goals)
    return np.asarray(better[0] - better[1])


def _point(totals: Totals, policy: Policy, found: Draft) -> Point:
    """Return a policy with its values on all contexts."""
    first, second = totals.values(policy.sums(totals)[None])[0, 0, list(found.columns)].tolist()
    return Point(policy.name, policy.kind, (first, second), policy.parts if len(policy.parts) > 1 else {})


def _concessions(found: Draft, pool: Pool, reach: Hindsight | None) -> Concessions:
    """Return how much of the span has to be given up, over ever larger sets of policies."""
    ideal = found.better.max(axis=0)

    def over(*kinds: str) -> float | None:
        """Return the concession over the policies of some kinds."""
        return concession(pool.only(*kinds).pair(found.columns, found.goals), ideal, found.span)  # type: ignore[arg-type]

    return Concessions(
        over("strategy"),
        over("strategy", "mixture"),
        over("strategy", "reweighed", "bounded"),
        None if reach is None else reach.concession(ideal, found.span),
    )


def _reasons(material: Material, found: Draft, strategies: Pool) -> Sequence[str]:
    """Return what was not computed, and why."""
    reasons = [material.reasons[m] for m in dict.fromkeys(found.columns) if m in material.reasons]
    left = [policy.name for p, policy in enumerate(strategies.policies) if p not in found.candidates]
    if left:
        reasons.append(f"not defined on both metrics: {', '.join(left)}")
    if found.conflict and material.halved is None:
        reasons.append("nothing was resampled, so no improvement can be confirmed")
    return reasons
