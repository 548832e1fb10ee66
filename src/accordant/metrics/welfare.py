"""Welfare metrics: what the decisions gave the stakeholders, and how evenly.

The realised reward of an action is its reward given what really followed (`Evidence.rewards`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.metrics.metric import Goal, SumMetric, register
from accordant.metrics.statistics import Sums, divide, position
from accordant.problem import DecisionProblem

Values = NDArray[np.float64]


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

    def rewards(self, evidence: Evidence) -> Values:
        """Return the stakeholder's realised rewards, shape (1, action, context)."""
        index = position("stakeholder", self.stakeholder, evidence.problem.stakeholder_names)
        return evidence.rewards[index : index + 1]


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

    Best with hindsight, or by expected reward where rewards of actions not taken are estimates.
    """

    goal: ClassVar[Goal] = "min"

    def theta(self, evidence: Evidence) -> Values:
        """Return its reward of the best action minus that of each action."""
        rewards = self.rewards(evidence)
        return np.asarray(
            evidence.best_reward(rewards[0], evidence.expected.of(self.stakeholder).astype(np.float64)) - rewards
        )


@dataclass(frozen=True)
class WelfareMetric(SumMetric):
    """A function of the stakeholders' mean realised rewards.

    Parameters
    ----------
    weights
        One weight per stakeholder, at least 0 and not all 0; only ratios matter. None: those that the
        problem declares.
    """

    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))

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

    @abstractmethod
    def welfare(self, means: Values, shares: Values) -> Values:
        """Return the welfare of mean rewards of shape (..., stakeholder) with weights that sum to 1."""


@register("mean_reward", aliases=("utilitarian_welfare",))
class MeanReward(WelfareMetric):
    """Weighted mean of the stakeholders' mean realised rewards (utilitarian welfare)."""

    goal: ClassVar[Goal] = "max"

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return Σ_i w_i r̄_i."""
        return np.asarray(means @ shares)


@register("min_reward", aliases=("egalitarian_welfare",))
class MinReward(WelfareMetric):
    """Smallest mean realised reward of a stakeholder with positive weight (egalitarian welfare)."""

    goal: ClassVar[Goal] = "max"

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return min_i r̄_i over stakeholders with positive weight (Rawls 1971; Sen 1970)."""
        return np.asarray(means[..., shares > 0].min(axis=-1))


@register("nash_welfare")
class NashWelfare(WelfareMetric):
    """Weighted geometric mean of the stakeholders' mean realised rewards (Nash welfare)."""

    goal: ClassVar[Goal] = "max"

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return Π_i r̄_i^{w_i} (Kaneko and Nakamura 1979, as a geometric mean); 0 if somebody's mean is 0."""
        counted = means[..., shares > 0]
        logs = np.log(np.where(counted > 0, counted, 1.0)) @ shares[shares > 0]
        return np.where((counted > 0).all(axis=-1), np.exp(logs), 0.0)


@register("gini_reward")
class GiniReward(WelfareMetric):
    """Gini coefficient of the stakeholders' mean realised rewards: 0 if all are equal."""

    goal: ClassVar[Goal] = "min"

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return Σ_ij w_i w_j |r̄_i − r̄_j| / (2 Σ_i w_i r̄_i) (Gini 1912; Sen 1973), NaN if all means are 0."""
        gaps = np.abs(means[..., :, None] - means[..., None, :])
        return divide(np.einsum("...ij,i,j->...", gaps, shares, shares), 2 * (means @ shares))

    def reason(self, sums: Sums) -> str:
        """Return that all rewards are zero."""
        return f"every counted reward is 0 on all {sums.n} contexts, so inequality is not defined"


@register("welfare_regret")
class WelfareRegret(WelfareMetric):
    """Weighted mean realised reward lost against the best action for all together in each context."""

    goal: ClassVar[Goal] = "min"

    def theta(self, evidence: Evidence) -> Values:
        """Return the weighted reward of the best action minus that of each action."""
        shares = self.shares(evidence.problem)
        together = np.asarray(np.tensordot(shares, evidence.rewards, axes=1), dtype=np.float64)
        expected = np.tensordot(shares, evidence.expected.values, axes=1).astype(np.float64)
        return np.asarray(evidence.best_reward(together, expected) - together)[None]

    def welfare(self, means: Values, shares: Values) -> Values:
        """Return the mean regret."""
        del shares
        return np.asarray(means[..., 0])
