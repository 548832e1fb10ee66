"""One reward for everybody: pooled, with groups weighing alike, or for the group that is served worst.

`BradleyTerry` pools all records, `Balanced` weighs groups alike, and `GroupRobust` serves the worst group as well as
possible:

    min_θ max_q Σ_g q_g L_g(θ) + ½ ridge |θ|²,   L_g the mean log-loss of group g, q a distribution over groups

(Sagawa et al. 2020, group DRO; for preferences Ramesh et al. 2024). Groups with higher loss gain weight,
q_g ← q_g exp(η L_g), and the reward is the exact minimiser for the weights at hand. The best θ met is returned.

What an exact minimiser reaches under its own weights, Σ_g q_g L_g(θ) + ½ ridge |θ|², is never above the best worst
group: the distance between the two is known in every round, and ends them. [ours]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.preferences.checks import check_positive, check_whole
from accordant.preferences.learners.learner import (
    LinearReward,
    PreferenceLearner,
    UserRewards,
    checked_features,
    checked_records,
    register,
)
from accordant.preferences.learners.logistic import LogisticProblem, log_loss
from accordant.preferences.learners.user_contexts import Source, UserContexts, user_contexts
from accordant.preferences.records import Comparisons

FASTER, SLOWER = 1.5, 0.5  # change of the rate after a round that raised, or lowered, what the weights reach


@dataclass(frozen=True, eq=False)
class ContextualReward(UserRewards):
    """A linear reward whose coefficients are linear in the user's context.

    Attributes
    ----------
    coefficients
        θ_j of the context's constant 1 and of each of its entries, shape (1 + k, feature).
    contexts
        Where contexts come from.
    """

    coefficients: Values
    contexts: UserContexts

    def of_user(self, user: int | None) -> Values:
        """Return the coefficients for a user, shape (feature,)."""
        return np.asarray(self.contexts.of_user(user) @ self.coefficients)

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        by_scale = checked_features(comparisons.features, self.coefficients.shape[1]) @ self.coefficients.T
        gaps = by_scale[comparisons.chosen] - by_scale[comparisons.rejected]
        return np.asarray(np.einsum("rj,rj->r", gaps, self.contexts.of_users(comparisons)[comparisons.users]))

    def adapted(self, comparisons: Comparisons) -> ContextualReward:
        """Return the same reward for other users, who are known by their features or by these records."""
        return replace(self, contexts=self.contexts.adapted(comparisons))


@dataclass(frozen=True, eq=False)
class Design:
    """How shared coefficients become margins of training records.

    Attributes
    ----------
    differences
        x, shape (record, feature).
    contexts
        What the reward knows of users; None for nothing.
    scales
        (1, c) of each record, shape (record, 1 + k); None without contexts.
    """

    differences: Values
    contexts: UserContexts | None
    scales: Values | None

    def problem(self, **terms: Any) -> LogisticProblem:
        """Return the convex problem with these terms; see `LogisticProblem`."""
        return LogisticProblem(self.differences, scales=self.scales, **terms)

    def reward(self, coefficients: Values) -> LinearReward | ContextualReward:
        """Return the reward model of coefficients, shape (coefficient,)."""
        if self.contexts is None:
            return LinearReward(coefficients)
        return ContextualReward(coefficients.reshape(-1, self.differences.shape[1]), self.contexts)


@dataclass(frozen=True)
class SharedLearner(PreferenceLearner):
    """A learner of one linear reward for everybody.

    Parameters
    ----------
    ridge
        Multiplies half the squared length of the coefficients, beside the mean loss; above 0, so that separable records
        have a solution too.
    tolerance
        Largest entry of the gradient at the end.
    context
        What the reward may know of a user: nothing, the user's given features, or a summary of the user's records.
    directions
        Most directions of a summary of records, at least 1.
    """

    ridge: float = 1e-4
    tolerance: float = 1e-8
    context: Source = "none"
    directions: int = 8

    def __post_init__(self) -> None:
        check_positive(ridge=self.ridge, tolerance=self.tolerance)
        check_whole(directions=self.directions)

    def design(self, comparisons: Comparisons) -> Design:
        """Return how coefficients become margins of these records."""
        contexts = user_contexts(self.context, comparisons, directions=self.directions)
        scales = None if contexts is None else contexts.of_training_records(comparisons)
        return Design(comparisons.differences(), contexts, scales)


@register("bradley_terry", aliases=("pooled",))
@dataclass(frozen=True)
class BradleyTerry(SharedLearner):
    """Minimise the mean of −log σ(D) over records, plus a ridge.

    Users are pooled: whoever has more records counts more.

    On users with opposed tastes the pooled reward follows the majority; it is the baseline of everything else. For
    parameters see `SharedLearner`.
    """

    control: ClassVar[bool] = True

    def fit(
        self, comparisons: Comparisons, *, generator: np.random.Generator | None = None
    ) -> LinearReward | ContextualReward:
        """Learn one linear reward; deterministic."""
        del generator
        checked_records(comparisons, groups=self.needs_groups)
        design = self.design(comparisons)
        problem = design.problem(weights=self.weights(comparisons), ridge=self.ridge)
        return design.reward(problem.solve(tolerance=self.tolerance).coefficients)

    def weights(self, comparisons: Comparisons) -> Values | None:
        """Return weights of records, shape (record,); None for 1 each."""
        return comparisons.weights


def pooled_coefficients(comparisons: Comparisons, *, ridge: float, tolerance: float) -> NDArray[np.float64]:
    """Return the coefficients of the pooled reward that knows nothing of users, shape (feature,)."""
    checked_records(comparisons)
    problem = LogisticProblem(comparisons.differences(), weights=comparisons.weights, ridge=ridge)
    return problem.solve(tolerance=tolerance).coefficients


@register("balanced")
@dataclass(frozen=True)
class Balanced(BradleyTerry):
    """Bradley–Terry with every group of users weighing the same, whatever its number of records."""

    needs_groups: ClassVar[bool] = True

    def weights(self, comparisons: Comparisons) -> Values:
        """Return weights under which every group with records weighs 1, shape (record,)."""
        return balanced_weights(comparisons)


def balanced_weights(comparisons: Comparisons) -> NDArray[np.float64]:
    """Return weights of records under which every group with records weighs 1, shape (record,)."""
    names, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
    group = of_user[comparisons.users]
    total = np.bincount(group, comparisons.record_weights, minlength=len(names))
    return np.asarray(comparisons.record_weights / np.where(total > 0, total, 1.0)[group])


def reweight(shares: Values, losses: Values, rate: float) -> Values:
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
        check_positive(rate=self.rate, gap=self.gap)
        check_whole(rounds=self.rounds)

    def fit(
        self, comparisons: Comparisons, *, generator: np.random.Generator | None = None
    ) -> RobustReward | RobustContextualReward:
        """Learn one linear reward; deterministic."""
        del generator
        checked_records(comparisons, groups=True)
        design = self.design(comparisons)
        best = self.solved(comparisons, design)
        warnings: tuple[str, ...] = ()
        if best.gap > self.gap:
            said = f"after {best.rounds} rounds the worst group's loss may be {best.gap:.2g} above the best possible; "
            warnings = (said + f"allowed: {self.gap:g}; more rounds or another rate may help",)
        reward = design.reward(best.coefficients)
        if isinstance(reward, LinearReward):
            return RobustReward(reward.coefficients, gap=best.gap, warnings=warnings)
        return RobustContextualReward(reward.coefficients, reward.contexts, gap=best.gap, warnings=warnings)

    def solved(self, comparisons: Comparisons, design: Design) -> RobustSolution:
        """Return the best coefficients met, and how far from the best possible they are at most."""
        names, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
        group, weights = of_user[comparisons.users], comparisons.record_weights
        totals = np.bincount(group, weights, minlength=len(names))
        has_weight = totals > 0
        divisors = np.where(has_weight, totals, 1.0)
        shares, theta, best, lowest = has_weight / has_weight.sum(), None, None, np.inf
        reached, bound, rate = -np.inf, -np.inf, self.rate / FASTER
        for rounds in range(1, self.rounds + 1):  # noqa: B007 (told in the result)
            problem = design.problem(weights=weights * (shares / divisors)[group], ridge=self.ridge)
            solution = problem.solve(theta, tolerance=self.tolerance)
            theta = solution.coefficients
            rate *= FASTER if solution.loss > reached else SLOWER
            reached = solution.loss
            # the ridge alone bends this much, so that the minimum is at most this below (Boyd and Vandenberghe 2004)
            bound = max(bound, solution.loss - len(theta) * solution.gradient**2 / (2 * self.ridge))
            losses = np.bincount(group, weights * log_loss(problem.predictions(theta)), minlength=len(names)) / divisors
            worst = float(losses[has_weight].max() + 0.5 * self.ridge * theta @ theta)
            if best is None or worst < lowest:
                best, lowest = theta, worst
            if lowest - bound <= self.gap:
                break
            shares = np.where(has_weight, reweight(shares, losses, rate), 0.0)
            shares = shares / shares.sum()
        assert best is not None
        return RobustSolution(best, lowest, max(lowest - bound, 0.0), rounds)
