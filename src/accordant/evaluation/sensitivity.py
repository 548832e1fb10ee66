"""Sensitivity to unmeasured confounding: of the welfare of rules, and of comparisons between them.

Welfare is the weighted mean of all stakeholders' rewards. For an odds ratio Λ, every rule gets the interval of welfare
that a hidden reason of that strength allows (`accordant.statistics.sensitivity` has the formulas). Two rules are
compared where they decide differently only, because what both do alike cancels (Guerdan, Coston, Holstein and Wu, ICML
2024):

    V(π) − V(π')  ≥  E[ Σ_a max(π − π', 0)(a | x) lower_a  −  Σ_a max(π' − π, 0)(a | x) upper_a ]

and against the logged decisions, whose rewards were seen, V(π) − E[Y]. The bounds of single actions are sharp; those of
a difference are sharp for two actions and hold for more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from accordant.arrays import Values
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.learning.causal import clip_propensities
from accordant.statistics.resampling import Interval, Units, percentile_interval, weight_blocks, wider_level
from accordant.statistics.sensitivity import (
    GRID,
    OutcomeDistribution,
    SeenOutcomes,
    interpolated_turning_point,
    turning_point,
)

Against = Literal["runner-up", "logged"]

ODDS_RATIOS = (1.0, 1.5, 2.0, 3.0)  # at which intervals are given
DIFFERENT = 0.01  # share of contexts in which the runner-up must decide differently


@dataclass(frozen=True)
class ConfoundedInterval:
    """What hidden reasons up to one strength allow.

    Attributes
    ----------
    odds_ratio
        Λ.
    low, high
        Bounds of the value, estimated.
    lowest, highest
        Low limit of the lower bound and high limit of the upper one: with sampling error.
    """

    odds_ratio: float
    low: float
    high: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class RuleSensitivity:
    """One rule: its welfare without hidden reasons, and with them."""

    strategy: str
    welfare: float
    intervals: tuple[ConfoundedInterval, ...]


@dataclass(frozen=True)
class ComparisonSensitivity:
    """Two rules compared by welfare.

    Attributes
    ----------
    strategy, other
        Labels; the first is the selected rule.
    against
        What the other one is.
    different
        Share of contexts in which they decide differently, in [0, 1].
    difference
        Welfare of the first less that of the other, without hidden reasons.
    intervals
        The same with them.
    turning_point
        Smallest odds ratio at which the sign of the difference could be the other one; 1 if there is no difference,
        None if no odds ratio up to 100 suffices.
    turning_point_with_error
        The same with sampling error: 1 if the data cannot tell the two apart even without hidden reasons.
    """

    strategy: str
    other: str
    against: Against
    different: float
    difference: float
    intervals: tuple[ConfoundedInterval, ...]
    turning_point: float | None
    turning_point_with_error: float | None


@dataclass(frozen=True)
class Sensitivity:
    """What unmeasured confounding could do to welfare and to the choice of a rule.

    Attributes
    ----------
    n, resamples, level
        Contexts, bootstrap resamples, and coverage of what contains sampling error.
    rules
        Every rule.
    comparisons
        The selected rule against the runner-up and against the logged decisions, as far as there are these.
    features
        What leaving out each recorded column would amount to, as an odds ratio, largest first; see
        `accordant.evaluation.omitted_features`.
    observed
        Stakeholders whose rewards were only observed, so that their predicted rewards stand in for distributions.
    """

    n: int
    resamples: int
    level: float
    rules: tuple[RuleSensitivity, ...]
    comparisons: tuple[ComparisonSensitivity, ...]
    features: Mapping[str, float] = field(default_factory=dict)
    observed: tuple[str, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """Return what a reader must know, in words: one sentence for each comparison, and the benchmark."""
        spoken = [_compared(comparison) for comparison in self.comparisons]
        if spoken and self.features:
            name, odds_ratio = next(iter(self.features.items()))
            spoken.append(
                f"For scale: leaving out {name}, the strongest recorded column, would amount to {odds_ratio:.2f}."
            )
        return tuple(spoken)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values, with the sentences."""
        features = [{"column": name, "odds_ratio": value} for name, value in self.features.items()]
        return asdict(self) | {"features": features, "sentences": list(self.sentences())}


def _compared(comparison: ComparisonSensitivity) -> str:
    other = (
        f"{comparison.other}, next in the selection," if comparison.against == "runner-up" else "the logged decisions"
    )
    point, sure = comparison.turning_point, comparison.turning_point_with_error
    if sure == 1.0:
        return (
            f"Whether {comparison.strategy} or {other} has higher welfare cannot be told from these rows, even without "
            "hidden reasons behind past decisions."
        )
    more = "higher" if comparison.difference > 0 else "lower"
    claim = f"{comparison.strategy} has {more} welfare than {other} by {abs(comparison.difference):.3f}"
    if sure is None:
        return (
            f"{claim}: no hidden reason that multiplies the odds of an action by up to {GRID[-1]:.0f} turns this round."
        )
    then = "" if point is None else f" ({point:.2f} if sampling error is left aside)"
    return f"{claim}: a hidden reason that multiplies the odds of an action by {sure:.2f} could turn this round{then}."


@dataclass(frozen=True, eq=False)
class _Rule:
    """A rule as Σ_a p(a | x) × (reward of a) + known: the logged decisions are known altogether.

    Attributes
    ----------
    shares
        p, shape (action, context).
    known
        What is known without propensities, shape (context,).
    range
        In which its value must lie.
    """

    shares: Values
    known: Values
    range: tuple[float, float] = (0.0, 1.0)

    def less(self, other: _Rule) -> _Rule:
        """Return the difference."""
        return _Rule(self.shares - other.shares, self.known - other.known, (-1.0, 1.0))

    def terms(self, low: Values, high: Values, units: slice) -> tuple[Values, Values]:
        """Return lower and upper terms of some contexts from those of the actions there."""
        for_it, against_it = np.maximum(self.shares[:, units], 0.0), np.minimum(self.shares[:, units], 0.0)
        known = self.known[units]
        return (
            (for_it * low + against_it * high).sum(axis=0) + known,
            (for_it * high + against_it * low).sum(axis=0) + known,
        )


def sensitivity(
    decisions: Mapping[str, Decisions],
    evidence: Evidence,
    outcome_welfare: Values,
    *,
    order: Sequence[str],
    generator: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
    odds_ratios: Sequence[float] = ODDS_RATIOS,
    features: Mapping[str, float] | None = None,
    observed: Sequence[str] = (),
) -> Sensitivity:
    """Return how far welfare, and comparisons of the selected rule, could be due to unmeasured confounding.

    Parameters
    ----------
    decisions
        Label to decisions; those that follow the log are what others are compared with.
    evidence
        With propensities; the rewards of actions not taken are estimates.
    outcome_welfare
        Σ_i w_i q_i(x, a, o) over the stakeholders whose rewards are estimated, with weights that sum to 1 over all
        stakeholders, shape (action, outcome or node, context).
    order
        Labels of candidates, the selected rule first, then from best to worst.
    generator
        Draws resamples.
    resamples, level
        Of the percentile bootstrap.
    odds_ratios
        At which intervals are given, each at least 1.
    features, observed
        Kept in the result.

    Raises
    ------
    InputError
        If the rewards of all actions are known, there are no propensities, or nothing is to be resampled.
    """
    reason = not_applicable(evidence)
    if reason:
        raise InputError(reason)
    if resamples < 1:
        raise InputError(f"resamples is {resamples}; allowed: 1 or more")
    odds_ratios = sorted(set(odds_ratios))
    seen, rules = _read(decisions, evidence, outcome_welfare)
    pairs = _pairs(decisions, order)
    compared = [rules[first].less(rules[other]) for first, other, _ in pairs]
    quantities = [*rules.values(), *compared]
    points = _means(seen, quantities, 1.0)[0]
    signs = np.where(points[len(rules) :] > 0, 1.0, -1.0)

    def terms(units: slice) -> Values:
        """Return the terms of all bounds of all quantities, and those of turning points, in some contexts."""
        part, bounds = seen.take(units), []
        for odds_ratio in odds_ratios:
            bounds += _both(part, quantities, odds_ratio, units)
        for odds_ratio in GRID if compared else ():
            low, high = np.split(np.array(_both(part, compared, odds_ratio, units)), 2)
            bounds += list(np.where(signs[:, None] > 0, low, -high))
        return np.array(bounds)

    units = Units.single(len(evidence.log), evidence.clusters)
    drawn = _resampled(terms, units, resamples, generator)
    limits = percentile_interval(drawn, wider_level(level, evidence.n_independent))
    intervals = _intervals(seen, quantities, odds_ratios, limits, points)
    crossed = limits.low[len(limits.low) - len(GRID) * len(pairs) :].reshape(len(GRID), len(pairs))
    return Sensitivity(
        len(evidence.log),
        resamples,
        level,
        tuple(RuleSensitivity(label, float(points[k]), intervals[k]) for k, label in enumerate(rules)),
        tuple(
            ComparisonSensitivity(
                *pair,
                different=_different(decisions[pair[0]], decisions[pair[1]]),
                difference=float(points[len(rules) + k]),
                intervals=intervals[len(rules) + k],
                turning_point=turning_point(_bound(seen, compared[k], signs[k])),
                turning_point_with_error=interpolated_turning_point(crossed[:, k]),
            )
            for k, pair in enumerate(pairs)
        ),
        dict(features or {}),
        tuple(observed),
    )


def not_applicable(evidence: Evidence) -> str:
    """Return why there is nothing to analyse; empty if there is."""
    if evidence.hindsight:
        return "the reward of every action is known from what followed, so no unmeasured confounding can bias it"
    if evidence.propensities is None or evidence.observed_rewards is None:
        return "there are no propensities: an action was taken too rarely, or rewards were not estimated with them"
    return ""


def _read(
    decisions: Mapping[str, Decisions], evidence: Evidence, outcome_welfare: Values
) -> tuple[SeenOutcomes, dict[str, _Rule]]:
    """Return the estimated part of welfare as outcomes, and rules with the part that is known for every action."""
    assert evidence.prediction is not None
    assert evidence.propensities is not None
    assert evidence.observed_rewards is not None
    assert evidence.estimated is not None
    shares = evidence.problem.weights / evidence.problem.weights.sum()
    guessed, sure = np.where(evidence.estimated, shares, 0.0), np.where(evidence.estimated, 0.0, shares)
    expected = np.tensordot(guessed, evidence.expected.values.astype(np.float64), axes=1)
    distribution = OutcomeDistribution.of(outcome_welfare, evidence.prediction.weights, expected)
    actions, observed = evidence.log.actions, guessed @ evidence.observed_rewards
    seen = SeenOutcomes(actions, observed, clip_propensities(evidence.propensities), distribution)
    known = np.tensordot(sure, evidence.rewards, axes=1)
    rules = {}
    for label, decided in decisions.items():
        chosen = decided.probabilities()
        # what followed the logged decisions was seen, so nothing of their welfare is estimated
        fixed = (
            observed + known[actions, np.arange(len(actions))] if decided.follows_log else (chosen * known).sum(axis=0)
        )
        rules[label] = _Rule(np.zeros_like(chosen) if decided.follows_log else chosen, fixed)
    return seen, rules


def _pairs(decisions: Mapping[str, Decisions], order: Sequence[str]) -> list[tuple[str, str, Against]]:
    """Return the selected rule with the runner-up and with the logged decisions, as far as there are these."""
    first = order[0]
    others = (label for label in order[1:] if _different(decisions[first], decisions[label]) > DIFFERENT)
    pairs: list[tuple[str, str, Against]] = [(first, label, "runner-up") for label in list(others)[:1]]
    logged = [label for label, decided in decisions.items() if decided.follows_log and label != first]
    return [*pairs, *((first, label, "logged") for label in logged[:1])]


def _different(first: Decisions, other: Decisions) -> float:
    return float(np.abs(first.probabilities() - other.probabilities()).sum(axis=0).mean() / 2)


def _both(seen: SeenOutcomes, quantities: Sequence[_Rule], odds_ratio: float, units: slice) -> list[Values]:
    """Return the lower terms of all quantities, then the upper ones, in some contexts."""
    low, high = (seen.terms(odds_ratio, upper=upper) for upper in (False, True))
    bounds = [quantity.terms(low, high, units) for quantity in quantities]
    return [*(lower for lower, _ in bounds), *(upper for _, upper in bounds)]


def _means(seen: SeenOutcomes, quantities: Sequence[_Rule], odds_ratio: float) -> tuple[Values, Values]:
    """Return the lower and the upper bound of all quantities, each of shape (quantity,)."""
    means = np.array([terms.mean() for terms in _both(seen, quantities, odds_ratio, slice(None))])
    return means[: len(quantities)], means[len(quantities) :]


def _bound(seen: SeenOutcomes, quantity: _Rule, sign: float) -> Callable[[float], float]:
    """Return the function from an odds ratio to the bound of a difference that falls towards 0."""

    def bound(odds_ratio: float) -> float:
        """Return the lower bound, or minus the upper one, of the mean at an odds ratio."""
        low, high = _means(seen, [quantity], odds_ratio)
        return float(low[0] if sign > 0 else -high[0])

    return bound


def _resampled(
    terms: Callable[[slice], Values], units: Units, resamples: int, generator: np.random.Generator
) -> Values:
    """Return the means of all terms on resampled contexts, shape (resample, term)."""
    total: Values = np.zeros((resamples, 0))
    for block in weight_blocks(units, resamples, generator):
        part = terms(block.units)
        if not total.size:
            total = np.zeros((resamples, len(part)))
        total[block.resamples] += block.weights @ part.T
    return total / len(units.patterns)


def _intervals(
    seen: SeenOutcomes, quantities: Sequence[_Rule], odds_ratios: Sequence[float], limits: Interval, points: Values
) -> list[tuple[ConfoundedInterval, ...]]:
    """Return the intervals of each quantity at each odds ratio, from limits in the order of terms.

    What a weaker reason can do a stronger one can do as well, so intervals contain those at smaller odds ratios, which
    estimated bounds need not. None leaves the range of welfare, [0, 1] for rules, unless the estimate itself does.
    """
    n, ranges = len(quantities), np.array([quantity.range for quantity in quantities])
    floor, ceiling = np.minimum(ranges[:, 0], points), np.maximum(ranges[:, 1], points)
    shape = (len(odds_ratios), 2, n)
    means = np.array([_means(seen, quantities, odds_ratio) for odds_ratio in odds_ratios]).reshape(shape)
    size = int(np.prod(shape))
    lowest, highest = limits.low[:size].reshape(shape)[:, 0], limits.high[:size].reshape(shape)[:, 1]
    low, lowest = (np.maximum(np.minimum.accumulate(bound), floor) for bound in (means[:, 0], lowest))
    high, highest = (np.minimum(np.maximum.accumulate(bound), ceiling) for bound in (means[:, 1], highest))
    columns = np.stack([np.broadcast_to(np.array(odds_ratios)[:, None], low.shape), low, high, lowest, highest])
    return [tuple(ConfoundedInterval(*map(float, at)) for at in columns[:, :, k].T) for k in range(n)]
