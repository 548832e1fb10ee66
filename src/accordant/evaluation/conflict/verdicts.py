"""Verdicts on a pair of metrics: a closed set of words, each by a rule on computed numbers.

In this order; the first that applies:

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

from dataclasses import dataclass
from typing import Literal, get_args

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


ROUNDING = 1e-9  # concessions are shares of a span; a linear programme leaves this much
