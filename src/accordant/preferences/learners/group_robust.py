"""Group-robust: one reward whose worst group is as well served as possible.

    min_θ max_q Σ_g q_g L_g(θ) + ½ ridge |θ|²,   L_g the mean log-loss of group g, q a distribution over groups

(Sagawa et al. 2020, group DRO; for preferences Ramesh et al. 2024). Groups with higher loss gain weight,
q_g ← q_g exp(η L_g), and the reward is the exact minimiser for the weights at hand. The best θ met is returned.

What an exact minimiser reaches under its own weights, Σ_g q_g L_g(θ) + ½ ridge |θ|², is never above the best worst
group: the distance between the two is known in every round, and ends them. [ours]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.preferences.learners.learner import (
    LinearReward,
    checked_from_one,
    checked_positive,
    checked_records,
    register,
)
from accordant.preferences.learners.shared import ContextualReward, Design, SharedLearner
from accordant.preferences.learners.solving.logistic import log_loss
from accordant.preferences.records import Comparisons

FASTER, SLOWER = 1.5, 0.5  # change of the rate after a round that raised, or lowered, what the weights reach


def reweighted(shares: Values, losses: Values, rate: float) -> Values:
    """Return q_g exp(η L_g) / Σ, shape (group,)."""
    logs = np.log(np.maximum(shares, np.finfo(float).tiny)) + rate * losses
    raised = np.exp(logs - logs.max())
    return np.asarray(raised / raised.sum())


@dataclass(frozen=True, eq=False)
class RobustSolution:
    """Coefficients, and how far from the best possible they can be at most.

    Attributes
    ----------
    coefficients
        θ, shape (coefficient,).
    worst
        Mean log-loss of the worst group + ½ ridge |θ|².
    gap
        `worst` less the largest lower bound met: no coefficients have a `worst` that is lower by more.
    rounds
        Weights of groups that were tried.
    """

    coefficients: Values
    worst: float
    gap: float
    rounds: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Robustness:
    """How far from the best worst group a reward is at most.

    Attributes
    ----------
    gap
        See `RobustSolution`.
    warnings
        Sentences that a reader of the result must see.
    """

    gap: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RobustReward(LinearReward, Robustness):
    """The same linear reward for everybody, with its gap."""


@dataclass(frozen=True, eq=False)
class RobustContextualReward(ContextualReward, Robustness):
    """A linear reward that reads the user's context, with its gap."""


@register("group_robust")
@dataclass(frozen=True)
class GroupRobust(SharedLearner):
    """Minimise the loss of the worst group; groups are read in training only.

    Parameters
    ----------
    ridge, tolerance, context, directions
        See `SharedLearner`.
    rate
        η of the first round, above 0; it grows while the lower bound rises, and falls where it does not [ours].
    rounds
        Most weights of groups that are tried, at least 1.
    gap
        Rounds end when the worst group's loss is at most this above the best possible, above 0; the model warns if they
        end before.
    """

    control: ClassVar[bool] = True
    needs_groups: ClassVar[bool] = True

    rate: float = 1.0
    rounds: int = 200
    gap: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_positive(rate=self.rate, gap=self.gap)
        checked_from_one(rounds=self.rounds)

    def fit(
        self, comparisons: Comparisons, *, generator: np.random.Generator | None = None
    ) -> RobustReward | RobustContextualReward:
        """Learn one linear reward; deterministic."""
        del generator
        checked_records(comparisons, groups=True)
        design = self.design(comparisons)
        found = self.solved(comparisons, design)
        warnings: tuple[str, ...] = ()
        if found.gap > self.gap:
            said = (
                f"after {found.rounds} rounds the worst group's loss may be {found.gap:.2g} above the best possible; "
            )
            warnings = (said + f"allowed: {self.gap:g}; more rounds or another rate may help",)
        reward = design.reward(found.coefficients)
        if isinstance(reward, LinearReward):
            return RobustReward(reward.coefficients, gap=found.gap, warnings=warnings)
        return RobustContextualReward(reward.coefficients, reward.contexts, gap=found.gap, warnings=warnings)

    def solved(self, comparisons: Comparisons, design: Design) -> RobustSolution:
        """Return the best coefficients met, and how far from the best possible they are at most."""
        names, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
        group, weights = of_user[comparisons.users], comparisons.record_weights
        totals = np.bincount(group, weights, minlength=len(names))
        heard = totals > 0
        divisors = np.where(heard, totals, 1.0)
        shares, theta, best, lowest = heard / heard.sum(), None, None, np.inf
        reached, bound, rate = -np.inf, -np.inf, self.rate / FASTER
        for rounds in range(1, self.rounds + 1):  # noqa: B007 (told in the result)
            problem = design.problem(weights=weights * (shares / divisors)[group], ridge=self.ridge)
            found = problem.solve(theta, tolerance=self.tolerance)
            theta = found.coefficients
            rate *= FASTER if found.loss > reached else SLOWER
            reached = found.loss
            # the ridge alone bends this much, so that the minimum is at most this below (Boyd and Vandenberghe 2004)
            bound = max(bound, found.loss - len(theta) * found.gradient**2 / (2 * self.ridge))
            losses = np.bincount(group, weights * log_loss(problem.predictions(theta)), minlength=len(names)) / divisors
            worst = float(losses[heard].max() + 0.5 * self.ridge * theta @ theta)
            if best is None or worst < lowest:
                best, lowest = theta, worst
            if lowest - bound <= self.gap:
                break
            shares = np.where(heard, reweighted(shares, losses, rate), 0.0)
            shares = shares / shares.sum()
        assert best is not None
        return RobustSolution(best, lowest, max(lowest - bound, 0.0), rounds)
