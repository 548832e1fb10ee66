"""Judging one pair of metrics from what was computed for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.evaluation.conflict.attainable import MOST_POINTS, Pool
from accordant.evaluation.conflict.exploratory_estimates import ExploratoryEstimate, Material
from accordant.evaluation.conflict.fronts import Hindsight, concession, kendall, oriented, slack
from accordant.evaluation.conflict.hypotheses import HeldOutTotals, confirmed
from accordant.evaluation.conflict.pairs import Concessions, Grounds, PairConflict, verdict
from accordant.json_values import finite
from accordant.statistics import Estimate, percentile_interval


def judged(
    material: Material,
    estimate: ExploratoryEstimate,
    held_out: HeldOutTotals | None,
    interval: tuple[float, float] | None,
) -> PairConflict:
    """Return the result on a pair; `interval` is that of the concession with hindsight, None if it is not known."""
    columns, goals, pool = estimate.columns, estimate.goals, material.pool
    strategies = pool.only("strategy")
    sample = settled(material, estimate)
    improvements = [] if held_out is None else confirmed(material, estimate, held_out)
    reach = material.hindsight.get(columns)
    concessions = _concessions(estimate, pool, reach, interval) if estimate.conflict else None
    grounds = Grounds(
        estimate.differs, estimate.relation, estimate.single, sample.single_share, sample.apart,
        any(improvement.missing for improvement in improvements), interval, material.level,
        any(improvement.confirmed for improvement in improvements),
    )  # fmt: skip
    names = [strategies.policies[row].name for row in estimate.candidates]
    return PairConflict(
        metrics=(material.metrics[columns[0]], material.metrics[columns[1]]),
        goals=goals,
        verdict=verdict(grounds),
        grounds=grounds,
        best=(names[estimate.best[0]], names[estimate.best[1]]) if names else None,
        costs=sample.costs,
        kendall=(kendall(estimate.better), kendall(oriented(material.tried[:, list(columns)], goals))),
        front=strategies.front(columns, goals),
        mixture_front=pool.only("strategy", "mixture").front(columns, goals, MOST_POINTS),
        rule_front=pool.only("strategy", "reweighed", "bounded").front(columns, goals, MOST_POINTS),
        hindsight_front=None if reach is None else tuple((float(a), float(b)) for a, b in reach.front()),
        linear=(bool(material.linear[columns[0]]), bool(material.linear[columns[1]])),
        concessions=concessions,
        improvements=tuple(improvements),
        reasons=tuple(_reasons(material, estimate, strategies)),
    )


@dataclass(frozen=True)
class Settled:
    """What the sample settles about the two best candidates.

    Attributes
    ----------
    costs
        What each is behind in the other metric, paired; None if no candidate is defined on both.
    single_share, apart
        See `Grounds`.
    """

    costs: tuple[Estimate, Estimate] | None
    single_share: float | None
    apart: bool | None


def settled(material: Material, estimate: ExploratoryEstimate) -> Settled:
    """Return what each best candidate costs in the other metric, how often one is best in both, and if they differ."""
    if not len(estimate.better):
        return Settled(None, None, None)
    (a, b), points = estimate.best, estimate.better
    costs = points[a, 0] - points[b, 0], points[b, 1] - points[a, 1]
    if material.drawn is None:
        return Settled((Estimate(float(costs[0])), Estimate(float(costs[1]))), None, None)
    drawn = oriented(material.drawn[estimate.candidates][:, :, list(estimate.columns)], estimate.goals)
    tops = np.where(np.isnan(drawn), -np.inf, drawn).max(axis=0)
    single = (drawn >= tops - slack(points)).all(axis=2).any(axis=0)
    paired = np.stack([drawn[a, :, 0] - drawn[b, :, 0], drawn[b, :, 1] - drawn[a, :, 1]], axis=1)
    limits = percentile_interval(paired, material.level)
    first, second = (
        Estimate(float(costs[m]), finite(limits.low[m]), finite(limits.high[m]), undefined=float(limits.undefined[m]))
        for m in (0, 1)
    )
    return Settled((first, second), float(single.mean()), bool((limits.low > slack(points)).all()))


def _concessions(
    estimate: ExploratoryEstimate, pool: Pool, reach: Hindsight | None, interval: tuple[float, float] | None
) -> Concessions:
    """Return how much of the span has to be given up, over ever larger sets of policies."""
    ideal = estimate.better.max(axis=0)

    def over(*kinds: str) -> float | None:
        """Return the concession over the policies of some kinds."""
        return concession(pool.only(*kinds).pair(estimate.columns, estimate.goals), ideal, estimate.span)  # type: ignore[arg-type]

    return Concessions(
        over("strategy"),
        over("strategy", "mixture"),
        over("strategy", "reweighed", "bounded"),
        None if reach is None else reach.concession(ideal, estimate.span),
        interval,
    )


def _reasons(material: Material, estimate: ExploratoryEstimate, strategies: Pool) -> Sequence[str]:
    """Return what was not computed, and why."""
    reasons = [material.reasons[m] for m in dict.fromkeys(estimate.columns) if m in material.reasons]
    left = [policy.name for p, policy in enumerate(strategies.policies) if p not in estimate.candidates]
    if left:
        reasons.append(f"not defined on both metrics: {', '.join(left)}")
    if estimate.conflict and material.halved is None:
        reasons.append("nothing was resampled, so no improvement can be confirmed")
    return reasons
