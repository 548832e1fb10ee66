"""Verdicts on pairs of metrics, and what they rest on, as typed results.

Verdicts are a closed set of words, each by a rule on computed numbers. In this order; the first that applies:

    no difference            fewer than two candidates are defined on both, or all are equal on one
    same direction           one metric never falls where the other rises, over everything tried; or one candidate is
                             best in both, in at least `level` of the resamples
    opposed by construction  one metric never rises where the other rises, over everything tried
    undecided                which candidate is best in what is not settled by the sample
    missing strategy         an attainable rule is better in both than a candidate on the front and beyond all lotteries
                             between two candidates, or lowers their concession, confirmed
    a lottery improves       a policy is better in both than a candidate on the front, confirmed, but no rule is
                             confirmed to be beyond all lotteries
    inherent                 even with hindsight no policy reaches the best of both at once, beyond sampling error
    limited by prediction    with hindsight some policy does, beyond sampling error
    no improvement found     nothing confirmed, and what hindsight could do is not known or not settled by the sample
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from accordant.json_values import fields_json
from accordant.metrics.metric import Goal
from accordant.statistics import Estimate

Verdict = Literal[
    "no difference",
    "same direction",
    "opposed by construction",
    "undecided",
    "missing strategy",
    "a lottery improves",
    "inherent",
    "limited by prediction",
    "no improvement found",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Relation = Literal["up", "down", "none"]
Kind = Literal["strategy", "mixture", "reweighed", "bounded"]

ROUNDING = 1e-9  # concessions are shares of a span; a linear programme leaves this much


@dataclass(frozen=True)
class Grounds:
    """What a verdict rests on.

    Attributes
    ----------
    differs
        Whether two candidates or more are defined on both metrics and differ on each.
    relation
        Whether one metric rises (``up``) or falls (``down``) wherever the other rises, over everything tried.
    single
        Whether one candidate is best in both.
    single_share
        Share of resamples in which one candidate is best in both; None if nothing was resampled.
    apart
        Whether the two best candidates differ beyond sampling error in both metrics; None if nothing was resampled.
    improved
        Whether an improvement in both metrics by a rule beyond all lotteries was confirmed.
    hindsight
        Interval of the concession with hindsight; None if it is not known.
    level
        Coverage that is asked for.
    lottery
        Whether any improvement over a candidate was confirmed.
    """

    differs: bool
    relation: Relation
    single: bool
    single_share: float | None
    apart: bool | None
    improved: bool
    hindsight: tuple[float, float] | None
    level: float
    lottery: bool = False


def verdict(grounds: Grounds) -> Verdict:
    """Return the first verdict that applies; without resamples nothing is settled but what holds by construction."""
    if not grounds.differs:
        return "no difference"
    if grounds.relation == "up":
        return "same direction"
    if grounds.relation == "down":
        return "opposed by construction"
    if grounds.single:
        settled = grounds.single_share is not None and grounds.single_share >= grounds.level
        return "same direction" if settled else "undecided"
    if not grounds.apart:
        return "undecided"
    if grounds.improved:
        return "missing strategy"
    if grounds.lottery:
        return "a lottery improves"
    if grounds.hindsight is not None and grounds.hindsight[0] > ROUNDING:
        return "inherent"
    if grounds.hindsight is not None and grounds.hindsight[1] <= ROUNDING:
        return "limited by prediction"
    return "no improvement found"


@dataclass(frozen=True)
class Point:
    """A policy and its values of the two metrics.

    Attributes
    ----------
    name
        What it is; a mixture is named after its parts.
    kind
        A compared ``strategy``, a ``mixture`` of two of them, the utilitarian rule ``reweighed``, or a rule with a
        group gap ``bounded``.
    values
        Signed values of the two metrics.
    parts
        Mixture only: strategy to probability.
    """

    name: str
    kind: Kind
    values: tuple[float, float]
    parts: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self)


@dataclass(frozen=True)
class Improvement:
    """An attainable policy against a candidate on the front, or a rule against the best compromise of lotteries.

    Chosen on one half of the contexts as the policy whose smaller gain is largest, or that lowers the concession most;
    judged on the other half.

    Attributes
    ----------
    over
        The candidate; or the candidate or lottery that concedes least, if `compromise`.
    by
        The policy, with its values on all contexts.
    gains
        Paired gains in both metrics on the judging half, more is better, with intervals.
    confirmed
        Whether both intervals lie above 0; for a `compromise`, whether that of `beyond` lies above a hundredth.
    beyond
        Rules only, on the judging half with an interval: by which share of the span the rule lies beyond all lotteries
        between two candidates, each of which is worse by at least so much in some metric. For a `compromise` the share
        by which it lowers their concession if it is a candidate too.
    missing
        Whether it is confirmed, and a rule whose interval of `beyond` lies above 0.
    compromise
        Whether it is about the best compromise.
    """

    over: str
    by: Point
    gains: tuple[Estimate, Estimate]
    confirmed: bool
    beyond: Estimate | None = None
    missing: bool = False
    compromise: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self) | {
            "gains": [_limits(gain) for gain in self.gains],
            "beyond": None if self.beyond is None else _limits(self.beyond),
        }


@dataclass(frozen=True)
class Concessions:
    """The smallest share of the span between the two best candidates that has to be given up in the worse metric.

    0 is the best of both at once, 1 is one of the two best candidates; below 0 is better than the best in both.

    Attributes
    ----------
    strategies
        Over the candidates.
    mixtures
        Over candidates and lotteries between two of them.
    rules
        Over candidates, the reweighed utilitarian rule, and bounded rules.
    hindsight
        Bounds over all policies, had they known what follows; None if not known.
    hindsight_interval
        Interval over resamples of contexts; None if not known, or nothing is settled about the candidates already.
    """

    strategies: float | None
    mixtures: float | None
    rules: float | None
    hindsight: tuple[float, float] | None
    hindsight_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class PairConflict:
    """Whether two metrics are in conflict, and why.

    Attributes
    ----------
    metrics, goals
        Labels and goals.
    verdict
        See `verdicts`.
    grounds
        What the verdict rests on.
    best
        The candidates that are best in the first and in the second metric; None if none is defined on both.
    costs
        What the best in the second metric is behind in the first, and the best in the first in the second, paired.
    kendall
        Rank correlation of the two metrics over the candidates, goals turned so that more is better; and over
        everything tried. None if one of them never differs.
    front
        The candidates on the front, best in the first metric first.
    mixture_front, rule_front
        The same over mixtures, and over attainable rules.
    hindsight_front
        Signed values on the front with hindsight; None if not known.
    linear
        Whether each metric of a lottery is the mixture of its values (checked on all pairs of candidates).
    concessions
        See `Concessions`; None if there is no conflict among the candidates.
    improvements
        One per candidate on the front for which a better policy was chosen, and one on the best compromise.
    reasons
        What was not computed, and why.
    """

    metrics: tuple[str, str]
    goals: tuple[Goal, Goal]
    verdict: Verdict
    grounds: Grounds
    best: tuple[str, str] | None
    costs: tuple[Estimate, Estimate] | None
    kendall: tuple[float | None, float | None]
    front: tuple[Point, ...]
    mixture_front: tuple[Point, ...]
    rule_front: tuple[Point, ...]
    hindsight_front: tuple[tuple[float, float], ...] | None
    linear: tuple[bool, bool]
    concessions: Concessions | None
    improvements: tuple[Improvement, ...]
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self) | {
            "grounds": fields_json(self.grounds, "hindsight", "level"),
            "costs": None if self.costs is None else [_limits(cost) for cost in self.costs],
            "kendall": {"candidates": self.kendall[0], "everything": self.kendall[1]},
            "concessions": None if self.concessions is None else _concessions(self.concessions),
        }


def _limits(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _concessions(concessions: Concessions) -> dict[str, Any]:
    return {
        "strategies": concessions.strategies,
        "mixtures": concessions.mixtures,
        "rules": concessions.rules,
        "hindsight": None if concessions.hindsight is None else list(concessions.hindsight),
        "hindsight_interval": None if concessions.hindsight_interval is None else list(concessions.hindsight_interval),
    }
