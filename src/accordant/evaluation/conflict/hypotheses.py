"""Claims that a policy is better in both metrics: chosen on one half of the contexts, judged on the other.

Against each candidate on the front the policy with the largest smaller gain is chosen, be it a lottery or a rule; and
the rule that, if it were a candidate too, would lower the concession of lotteries most. A rule is *missing* if it is
better than a candidate on the front and beyond all lotteries, or if it does lower their concession. All lotteries are
computed anew on each resample of the judging half (see `beyond`).

`beyond` says how far a rule lies beyond the front of mixtures, the lotteries between two candidates. Along a lottery
each metric is linear in the probability if it adds over contexts; otherwise it is followed from one step of 0.05 to the
next. A gap counts on both sides, so a metric gives one line or two; the best lottery against a rule maximises the
smallest of these lines, which happens at an end or where two of them cross.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from typing import Self

import numpy as np

from accordant.arrays import Values
from accordant.evaluation.composite import EQUAL
from accordant.evaluation.conflict.attainable import SHARES, Policy, Pool
from accordant.evaluation.conflict.exploratory_estimates import Claim, ExploratoryEstimate, Material
from accordant.evaluation.conflict.fronts import front, oriented, slack
from accordant.evaluation.conflict.pairs import Improvement, Kind, Point
from accordant.evaluation.conflict.totals import Totals
from accordant.json_values import finite
from accordant.metrics.metric import Goal
from accordant.statistics import Estimate, percentile_interval


@dataclass(frozen=True, eq=False)
class Lotteries:
    """All lotteries between two of some candidates, as stretches on which two metrics are linear.

    Attributes
    ----------
    start, end
        Signed values where a stretch begins and ends, for each of the two metrics, shape (stretch, resample).
    linear
        Whether each lottery is a single stretch.
    """

    start: tuple[Values, Values]
    end: tuple[Values, Values]
    linear: bool = True

    @classmethod
    def of(cls, totals: Totals, names: Sequence[str], columns: tuple[int, int], *, linear: bool) -> Self:
        """Return the lotteries on these totals, in a single stretch each if both metrics are linear."""
        pairs = list(combinations(names, 2)) or list(combinations_with_replacement(names, 2))
        return cls._between(totals, pairs, columns, linear=linear)

    @classmethod
    def with_rule(
        cls, totals: Totals, rule: str, names: Sequence[str], columns: tuple[int, int], *, linear: bool
    ) -> Self:
        """Return the lotteries between a rule and each candidate."""
        return cls._between(totals, [(rule, name) for name in names], columns, linear=linear)

    @classmethod
    def _between(
        cls, totals: Totals, pairs: Sequence[tuple[str, str]], columns: tuple[int, int], *, linear: bool
    ) -> Self:
        """Return the lotteries between pairs of policies; linear ones are known from their ends."""
        first, second = (
            [totals.along(pair, LINE if linear else STEPS, column) for pair in pairs] for column in columns
        )
        start, end = (
            (np.concatenate([line[side] for line in first]), np.concatenate([line[side] for line in second]))
            for side in (slice(None, -1), slice(1, None))
        )
        return cls(start, end, linear)


STEPS = (0.0, *SHARES.tolist(), 1.0)
LINE = (0.0, 1.0)
AT_ONCE = 32_000  # values of stretches that are looked at together: they stay in the processor's cache


def beyond(rule: Values, goals: tuple[Goal, Goal], lotteries: Lotteries, span: Values) -> Values:
    """Return by which share of the span a rule lies beyond all lotteries, shape (resample,).

    Each lottery is worse than the rule by at least so much in some metric; below 0, some lottery is better in both by
    so much. For the ideal in place of a rule it is the concession of all lotteries. NaN if the rule is not defined, or
    no lottery is.

    Parameters
    ----------
    rule
        Its values turned so that more is better, shape (resample, 2).
    goals, span
        As for `concession`; the span is above 0.
    lotteries
        On the same resamples.
    """
    stretches, resamples = lotteries.start[0].shape
    height = max(1, AT_ONCE // max(1, resamples))
    own = (rule[:, 0], rule[:, 1])
    highest = None
    for first in range(0, stretches, height):
        part = slice(first, first + height)
        start, end = (
            _lines((side[0][part], side[1][part]), own, goals, span) for side in (lotteries.start, lotteries.end)
        )
        peak = np.fmax.reduce(_peaks(start, end), axis=0)
        highest = peak if highest is None else np.fmax(highest, peak)
    return np.asarray(-np.asarray(highest))


def _peaks(start: Sequence[Values], end: Sequence[Values]) -> Values:
    """Return the largest that the smallest line reaches on each stretch, which is at an end or where two lines cross.

    Parameters
    ----------
    start, end
        Lines where stretches begin and end, each of shape (stretch, resample).
    """
    best = np.fmax(functools.reduce(np.minimum, start), functools.reduce(np.minimum, end)).ravel()
    shape, start, end = start[0].shape, [line.ravel() for line in start], [line.ravel() for line in end]
    for first, second in combinations(range(len(start)), 2):
        here, there = start[first] - start[second], end[first] - end[second]
        cross = np.flatnonzero(here * there < 0)  # few stretches do
        share = here[cross] / (here[cross] - there[cross])
        between = np.min([(1 - share) * a[cross] + share * b[cross] for a, b in zip(start, end, strict=True)], axis=0)
        best[cross] = np.fmax(best[cross], between)
    return best.reshape(shape)


def _lines(
    values: tuple[Values, Values], own: tuple[Values, Values], goals: tuple[Goal, Goal], span: Values
) -> list[Values]:
    """Return what lotteries are ahead of a rule, a line for each metric and two for a gap."""
    lines = []
    for m, goal in enumerate(goals):
        signs = {"max": (1.0,), "min": (-1.0,), "zero": (-1.0, 1.0)}[goal]
        lines += [(sign * values[m] - own[m]) / span[m] for sign in signs]
    return lines


LEAST_RELIEF = 0.01  # of the span: between any two rules of a family lies a third that relieves by less
RULES: tuple[Kind, ...] = ("reweighed", "bounded")


def claimed(material: Material, estimate: ExploratoryEstimate) -> ExploratoryEstimate:
    """Return a pair with what is to be confirmed about it, chosen on the choosing half."""
    if not estimate.conflict or material.halved is None:
        return estimate
    claims = [
        *_against_candidates(material, estimate, material.halved),
        *_against_compromise(material, estimate, material.halved),
    ]
    return replace(estimate, claims=tuple(claims), rivals=_rivals(material, estimate, material.halved))


def _against_candidates(material: Material, estimate: ExploratoryEstimate, halved: Pool) -> list[Claim]:
    """Choose a policy against each candidate on the front."""
    new, old, pool = halved.only("mixture", *RULES), halved.only("strategy"), material.pool.only("strategy")
    values, former = (policies.pair(estimate.columns, estimate.goals) for policies in (new, old))
    claims = []
    for row in estimate.candidates[front(estimate.better)]:
        over = pool.policies[row]
        gains = ((values - former[old.named(over.name)]) / estimate.span).min(axis=1)
        gains = np.where(np.isnan(gains), -np.inf, gains)
        if gains.max(initial=-np.inf) > EQUAL:
            claims.append(Claim(over, new.policies[int(gains.argmax())]))
    return claims


def _against_compromise(material: Material, estimate: ExploratoryEstimate, halved: Pool) -> list[Claim]:
    """Choose the rule that would lower the concession most, against the candidate or lottery that concedes least."""
    old, rules = halved.only("strategy", "mixture"), halved.only(*RULES)
    better = old.pair(estimate.columns, estimate.goals)
    ideal = np.array([better[old.named(name), m] for m, name in enumerate(_best(material, estimate))])
    conceded = ((ideal - better) / estimate.span).max(axis=1)
    conceded = np.where(np.isnan(conceded), np.inf, conceded)
    ends = halved.only("strategy").values[:, list(estimate.columns)].T[:, :, None]
    first, second = np.triu_indices(ends.shape[1])
    between = Lotteries((ends[0][first], ends[1][first]), (ends[0][second], ends[1][second]))
    straight = beyond(ideal[None], estimate.goals, between, estimate.span)[0]
    least = np.fmin(conceded.min(), straight)  # lotteries were computed in steps
    relief = np.zeros(len(rules.policies))
    # no lottery starts where another ends: rules stand where resamples do
    start = rules.values[:, list(estimate.columns)].T[:, None, :]
    shape = (ends.shape[1], len(relief))
    lotteries = Lotteries(
        (np.broadcast_to(start[0], shape), np.broadcast_to(start[1], shape)),
        (np.broadcast_to(ends[0], shape), np.broadcast_to(ends[1], shape)),
    )
    relief = least - beyond(np.broadcast_to(ideal, (len(relief), 2)), estimate.goals, lotteries, estimate.span)
    relief = np.where(np.isnan(relief), 0.0, relief)
    if relief.max(initial=0.0) <= LEAST_RELIEF:
        return []
    return [Claim(old.policies[int(conceded.argmin())], rules.policies[int(relief.argmax())], compromise=True)]


def _rivals(material: Material, estimate: ExploratoryEstimate, halved: Pool) -> tuple[str, ...]:
    """Return the two best candidates, and all with a part in the front of mixtures (all contexts, or choosing half)."""
    names = dict.fromkeys(_best(material, estimate))
    for pool in (material.pool.only("strategy", "mixture"), halved.only("strategy", "mixture")):
        for row in np.flatnonzero(front(pool.pair(estimate.columns, estimate.goals))):
            names |= dict.fromkeys(pool.policies[row].parts)
    return tuple(names)


def _best(material: Material, estimate: ExploratoryEstimate) -> tuple[str, str]:
    """Return the names of the best in the first metric and in the second."""
    policies = material.pool.only("strategy").policies
    first, second = estimate.best
    return policies[estimate.candidates[first]].name, policies[estimate.candidates[second]].name


@dataclass(frozen=True, eq=False)
class HeldOutTotals:
    """Sums on the judging half, of all policies that claims speak of: as it is, and resampled."""

    point: Totals
    drawn: Totals


def confirmed(material: Material, estimate: ExploratoryEstimate, held_out: HeldOutTotals) -> list[Improvement]:
    """Judge the claims on the judging half; all of a pair share the level (Bonferroni)."""
    level = 1 - (1 - material.level) / max(1, len(estimate.claims))
    rules = any(claim.by.kind in RULES for claim in estimate.claims)
    lotteries = [
        Lotteries.of(
            totals, estimate.rivals, estimate.columns, linear=bool(material.linear[list(estimate.columns)].all())
        )
        for totals in (held_out.point, held_out.drawn)
        if rules
    ]
    improvements = []
    for claim in estimate.claims:
        gains = [_gains(totals, claim, estimate) for totals in (held_out.point, held_out.drawn)]
        ahead = None
        if claim.by.kind in RULES:
            ahead = _ahead(claim, _best(material, estimate), estimate, lotteries, held_out, level)
        improvements.append(_improvement(material, estimate, claim, (gains[0], gains[1]), ahead, level))
    return improvements


def _improvement(
    material: Material,
    estimate: ExploratoryEstimate,
    claim: Claim,
    gains: tuple[Values, Values],
    ahead: Estimate | None,
    level: float,
) -> Improvement:
    """Return a claim with intervals; one on the best compromise holds if the rule concedes less."""
    limits = percentile_interval(gains[1], level)
    holds = bool((limits.low > slack(estimate.better)).all() and not limits.undefined.any())
    past = (
        ahead is not None
        and ahead.low is not None
        and ahead.low > (LEAST_RELIEF if claim.compromise else EQUAL)
        and not ahead.undefined
    )
    first, second = (
        Estimate(
            finite(gains[0][0, m]), finite(limits.low[m]), finite(limits.high[m]), undefined=float(limits.undefined[m])
        )
        for m in (0, 1)
    )
    return Improvement(
        claim.over.name, _point(material.totals, claim.by, estimate), (first, second),
        past if claim.compromise else holds, ahead, past and (holds or claim.compromise), claim.compromise,
    )  # fmt: skip


def _gains(totals: Totals, claim: Claim, estimate: ExploratoryEstimate) -> Values:
    """Return what a policy gains over the other in both metrics, more is better, shape (resample, 2)."""
    values = totals.values(np.stack([claim.by.sums(totals), claim.over.sums(totals)]), estimate.columns)
    better = oriented(values, estimate.goals)
    return np.asarray(better[0] - better[1])


def _ahead(
    claim: Claim,
    best: tuple[str, str],
    estimate: ExploratoryEstimate,
    lotteries: list[Lotteries],
    held_out: HeldOutTotals,
    level: float,
) -> Estimate:
    """Return by which share of the span a rule passes all lotteries."""
    point, drawn = (
        _passed(claim, best, estimate, between, totals)
        for between, totals in zip(lotteries, (held_out.point, held_out.drawn), strict=True)
    )
    limits = percentile_interval(drawn[:, None], level)
    return Estimate(
        finite(point[0]), finite(limits.low[0]), finite(limits.high[0]), undefined=float(limits.undefined[0])
    )


def _passed(
    claim: Claim, best: tuple[str, str], estimate: ExploratoryEstimate, lotteries: Lotteries, totals: Totals
) -> Values:
    """Return how far a rule is beyond all lotteries, or by how much it lowers their concession, shape (resample,)."""
    rule = claim.by.sums(totals)
    sums = np.stack([rule, *(totals.row(name) for name in best)])
    own, first, second = oriented(totals.values(sums, estimate.columns), estimate.goals)
    if not claim.compromise:
        return beyond(own, estimate.goals, lotteries, estimate.span)
    ideal = np.column_stack([first[:, 0], second[:, 1]])
    more = Lotteries.with_rule(totals, claim.by.name, estimate.rivals, estimate.columns, linear=lotteries.linear)
    without, beside = (beyond(ideal, estimate.goals, between, estimate.span) for between in (lotteries, more))
    return np.asarray(np.maximum(without - beside, 0.0))


def _point(totals: Totals, policy: Policy, estimate: ExploratoryEstimate) -> Point:
    """Return a policy with its values on all contexts."""
    first, second = totals.values(policy.sums(totals)[None], estimate.columns)[0, 0].tolist()
    return Point(policy.name, policy.kind, (first, second), policy.parts if len(policy.parts) > 1 else {})
