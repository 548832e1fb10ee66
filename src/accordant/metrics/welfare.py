"""Welfare metrics: what the decisions gave the stakeholders, and how evenly.

The realised reward of an action is its reward given what really followed (`Evidence.rewards`).
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.metrics.expressions import (
    Expression,
    Fraction,
    GeometricMean,
    Largest,
    Smallest,
    Sum,
    columns_of,
    divided,
    magnitude,
    together,
    weighed,
)
from accordant.metrics.metric import SHARE, Goal, Range, SumMetric, register
from accordant.metrics.statistics import Sums, divide
from accordant.naming import position
from accordant.problem import DecisionProblem

UNKNOWN = (
    "rewards of actions not taken come from the models alone, because some action was hardly ever taken; how far they "
    "are off no resample shows"
)
UNSEEN = "the best action is not known in any context, because only the reward of the action taken was observed there"
ORDERED = 4  # with more stakeholders than this there are too many orders of them


@dataclass(frozen=True)
class StakeholderMetric(SumMetric):
    """A metric about one stakeholder.

    Parameters
    ----------
    stakeholder
        Its name.
    total
        Sum over contexts (γ = 0) instead of the average (γ = 1).
    """

    stakeholder: str
    total: bool = False

    @property
    def gamma(self) -> Literal[0, 1]:
        """0 for a total."""
        return 0 if self.total else 1

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return None; an unknown stakeholder is an error."""
        position("stakeholder", self.stakeholder, problem.stakeholder_names)
        return None

    def range(self, evidence: Evidence) -> Range:
        """Return [0, 1], for a total up to the number of contexts."""
        return 0.0, float(evidence.n_contexts if self.total else 1)

    def withheld(self, evidence: Evidence) -> str:
        """Return that rewards are the models' alone, or nothing."""
        return UNKNOWN if evidence.modelled and not evidence.knows(self.index(evidence)) else ""

    def rewards(self, evidence: Evidence) -> Values:
        """Return the stakeholder's realised rewards, shape (1, action, context)."""
        index = self.index(evidence)
        return evidence.rewards[index : index + 1]

    def index(self, evidence: Evidence) -> int:
        """Return the stakeholder's position."""
        return position("stakeholder", self.stakeholder, evidence.problem.stakeholder_names)


@register("stakeholder_reward")
class StakeholderReward(StakeholderMetric):
    """Realised reward of one stakeholder."""

    goal: ClassVar[Goal] = "max"

    def theta(self, evidence: Evidence) -> Values:
        """Return its realised rewards."""
        return self.rewards(evidence)


@register("stakeholder_regret")
class StakeholderRegret(StakeholderMetric):
    """Realised reward that one stakeholder lost against the best action for it in each context.

    Best with hindsight. Not defined where the rewards of actions not taken are estimates: the mean of the largest
    reward cannot be told from means, and the action that a model calls best need not be.
    """

    goal: ClassVar[Goal] = "min"

    def unavailable(self, evidence: Evidence) -> str | None:
        """Return that rewards of actions not taken are unknown, or None."""
        return super().unavailable(evidence) if evidence.knows(self.index(evidence)) else UNSEEN

    def counterfactual_stakeholders(self, problem: DecisionProblem) -> tuple[str, ...]:
        """Return the stakeholder."""
        del problem
        return (self.stakeholder,)

    def theta(self, evidence: Evidence) -> Values:
        """Return its reward of the best action minus that of each action."""
        rewards = self.rewards(evidence)
        return np.asarray(rewards.max(axis=1, keepdims=True) - rewards)


@dataclass(frozen=True)
class WelfareMetric(SumMetric):
    """A function of the stakeholders' mean realised rewards.

    Parameters
    ----------
    weights
        One weight per stakeholder, at least 0 and not all 0; only ratios matter. None: those that the
        problem declares.
    """

    span = SHARE
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))

    def withheld(self, evidence: Evidence) -> str:
        """Return that rewards are the models' alone, or nothing."""
        return UNKNOWN if evidence.modelled else ""

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return None; wrong weights are an error."""
        self.shares(problem)
        return None

    def shares(self, problem: DecisionProblem) -> Values:
        """Return the weights divided by their sum, shape (stakeholder,)."""
        array = problem.weights if self.weights is None else np.array(self.weights)
        allowed = array.shape == problem.weights.shape and np.isfinite(array).all() and (array >= 0).all()
        if not allowed or array.sum() <= 0:
            count = len(problem.stakeholders)
            raise InputError(
                f"metric {self.name!r}: weights {self.weights} are wrong; allowed: {count} numbers ≥ 0, not all 0"
            )
        return np.asarray(array / array.sum())

    def theta(self, evidence: Evidence) -> Values:
        """Return the realised rewards, shape (stakeholder, action, context)."""
        return evidence.rewards

    def value(self, sums: Sums) -> Values:
        """Return the welfare of the mean rewards, shape (...)."""
        return self.welfare(sums.means, self.shares(sums.problem))

    def expression(self, evidence: Evidence) -> Expression | None:
        """Return the welfare as an expression of the mean rewards; None if the metric does not say."""
        means = columns_of(self.checked_theta(evidence), 1 / evidence.n_contexts)
        return self.combined(means, self.shares(evidence.problem), evidence)

    def combined(self, means: Sequence[Sum], shares: Values, evidence: Evidence) -> Expression | None:
        """Return `welfare` as an expression of the means, one per stakeholder; None if the metric does not say."""
        del means, shares, evidence
        return None

    @abstractmethod
    def welfare(self, means: Values, shares: Values) -> Values:
        """Return the welfare of mean rewards of shape (..., stakeholder) with weights that sum to 1."""


@register("mean_reward", aliases=("utilitarian_welfare",))
class MeanReward(WelfareMetric):
    """Weighted mean of the stakeholders' mean realised rewards (utilitarian welfare)."""

    goal: ClassVar[Goal] = "max"

    def combined(self, means: Sequence[Sum], shares: Values, evidence: Evidence) -> Expression:
        """Return Σ_i w_i r̄_i."""
        del evidence
        return weighed(means, shares)

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return Σ_i w_i r̄_i."""
        return np.asarray(means @ shares)


@register("min_reward", aliases=("egalitarian_welfare",))
class MinReward(WelfareMetric):
    """Smallest mean realised reward of a stakeholder with positive weight (egalitarian welfare)."""

    goal: ClassVar[Goal] = "max"

    def combined(self, means: Sequence[Sum], shares: Values, evidence: Evidence) -> Expression:
        """Return min_i r̄_i over stakeholders with positive weight."""
        del evidence
        return Smallest(tuple(mean for mean, share in zip(means, shares, strict=True) if share > 0))

    def least_of(self, sums: Sums) -> Values:
        """Return the mean rewards of stakeholders with positive weight."""
        return np.asarray(sums.means[..., self.shares(sums.problem) > 0])

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return min_i r̄_i over stakeholders with positive weight (Rawls 1971; Sen 1970)."""
        return np.asarray(means[..., shares > 0].min(axis=-1))


@register("nash_welfare")
class NashWelfare(WelfareMetric):
    """Weighted geometric mean of the stakeholders' mean realised rewards (Nash welfare)."""

    goal: ClassVar[Goal] = "max"

    def combined(self, means: Sequence[Sum], shares: Values, evidence: Evidence) -> Expression:
        """Return Π_i r̄_i^{w_i} over stakeholders with positive weight."""
        del evidence
        counted = [(mean, float(share)) for mean, share in zip(means, shares, strict=True) if share > 0]
        return GeometricMean(tuple(mean for mean, _ in counted), tuple(share for _, share in counted))

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return Π_i r̄_i^{w_i} (Kaneko and Nakamura 1979, as a geometric mean); 0 if somebody's mean is 0."""
        counted = means[..., shares > 0]
        logs = np.log(np.where(counted > 0, counted, 1.0)) @ shares[shares > 0]
        return np.where((counted > 0).all(axis=-1), np.exp(logs), 0.0)


@register("gini_reward")
class GiniReward(WelfareMetric):
    """Gini coefficient of the stakeholders' mean realised rewards: 0 if all are equal."""

    monotone: ClassVar[bool] = False
    goal: ClassVar[Goal] = "min"

    def combined(self, means: Sequence[Sum], shares: Values, evidence: Evidence) -> Expression:
        """Return the Gini coefficient: its largest ratio of sums over the orders of stakeholders.

        In the order of the means, Σ_ij w_i w_j |r̄_i − r̄_j| is 2 Σ_{i before j} w_i w_j (r̄_j − r̄_i); in every other
        order that is smaller. So the coefficient is the largest of the ratios that single orders give, as long as no
        reward is negative.
        """
        counted = np.flatnonzero(shares > 0)
        total = weighed(means, shares)
        if len(counted) > ORDERED or evidence.rewards[counted].min() < 0:
            pairs = list(itertools.combinations(counted.tolist(), 2))
            gaps = [magnitude(means[j].minus(means[i])) for i, j in pairs]
            return Fraction((together(gaps, [shares[i] * shares[j] for i, j in pairs]), total))
        ordered = tuple(
            weighed([means[i] for i in order], [share * rank for share, rank in _ranked(shares[list(order)])])
            for order in itertools.permutations(counted.tolist())
        )
        return Largest((*(divided(top, total) for top in ordered), Sum()))  # never below 0

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return Σ_ij w_i w_j |r̄_i − r̄_j| / (2 Σ_i w_i r̄_i) (Gini 1912; Sen 1973), NaN if all means are 0."""
        gaps = np.abs(means[..., :, None] - means[..., None, :])
        return divide(np.einsum("...ij,i,j->...", gaps, shares, shares), 2 * (means @ shares))

    def reason(self, sums: Sums) -> str:
        """Return that all rewards are zero."""
        return f"every counted reward is 0 on all {sums.n} contexts, so inequality is not defined"


def _ranked(shares: Values) -> list[tuple[float, float]]:
    """Return each share with the shares before it less those behind it."""
    before = np.cumsum(shares) - shares
    return list(zip(shares.tolist(), (2 * before + shares - shares.sum()).tolist(), strict=True))


@register("welfare_regret")
class WelfareRegret(WelfareMetric):
    """Weighted mean realised reward lost against the best action for all together in each context.

    Best with hindsight; not defined where the rewards of actions not taken are estimates, see `StakeholderRegret`.
    """

    goal: ClassVar[Goal] = "min"

    def unavailable(self, evidence: Evidence) -> str | None:
        """Return that rewards of actions not taken are unknown, or None."""
        names = evidence.problem.stakeholder_names
        known = all(evidence.knows(names.index(name)) for name in self.counterfactual_stakeholders(evidence.problem))
        return super().unavailable(evidence) if known else UNSEEN

    def counterfactual_stakeholders(self, problem: DecisionProblem) -> tuple[str, ...]:
        """Return the stakeholders with a weight above 0."""
        names = problem.stakeholder_names
        return tuple(name for name, share in zip(names, self.shares(problem), strict=True) if share > 0)

    def theta(self, evidence: Evidence) -> Values:
        """Return the weighted reward of the best action minus that of each action."""
        shares = self.shares(evidence.problem)
        together = np.asarray(np.tensordot(shares, evidence.rewards, axes=1), dtype=np.float64)
        return np.asarray(together.max(axis=0) - together)[None]

    def combined(self, means: Sequence[Sum], shares: Values, evidence: Evidence) -> Expression:
        """Return the mean regret."""
        del shares, evidence
        return means[0]

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return the mean regret."""
        del shares
        return np.asarray(means[..., 0])
