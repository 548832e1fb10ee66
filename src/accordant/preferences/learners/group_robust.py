"""Group-robust: one reward whose worst group is as well served as possible.

    min_θ max_q Σ_g q_g L_g(θ) + ½ ridge |θ|²,   L_g the mean log-loss of group g, q a distribution over groups

(Sagawa et al. 2020, group DRO; for preferences Ramesh et al. 2024). Groups with higher loss gain weight,
q_g ← q_g exp(η L_g), and the reward is the exact minimiser for the weights at hand. The best θ met is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.preferences.learners.learner import LinearReward, checked_records, register
from accordant.preferences.learners.logistic import log_loss
from accordant.preferences.learners.shared import ContextualReward, SharedLearner
from accordant.preferences.records import Comparisons

Values = NDArray[np.float64]


def reweighted(shares: Values, losses: Values, rate: float) -> Values:
    """Return q_g exp(η L_g) / Σ, shape (group,)."""
    logs = np.log(np.maximum(shares, np.finfo(float).tiny)) + rate * losses
    raised = np.exp(logs - logs.max())
    return np.asarray(raised / raised.sum())


@register("group_robust")
@dataclass(frozen=True)
class GroupRobust(SharedLearner):
    """Minimise the loss of the worst group; groups are read in training only.

    Parameters
    ----------
    ridge, tolerance, context, directions
        See `SharedLearner`.
    rate
        η, above 0.
    rounds
        Changes of the weights, at least 1.
    """

    control: ClassVar[bool] = True
    needs_groups: ClassVar[bool] = True

    rate: float = 1.0
    rounds: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.rate < np.inf:
            raise InputError(f"rate is {self.rate}; allowed: above 0")
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}; allowed: at least 1")

    def fit(
        self, comparisons: Comparisons, *, generator: np.random.Generator | None = None
    ) -> LinearReward | ContextualReward:
        """Learn one linear reward; deterministic."""
        del generator
        checked_records(comparisons, groups=True)
        names, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
        group, weights = of_user[comparisons.users], comparisons.record_weights
        totals = np.bincount(group, weights, minlength=len(names))
        heard = totals > 0
        design = self.design(comparisons)
        shares, theta, best, lowest = heard / heard.sum(), None, None, np.inf
        for _ in range(self.rounds):
            scaled = weights * (shares / np.where(heard, totals, 1.0))[group]
            problem = design.problem(weights=scaled, ridge=self.ridge)
            theta = problem.solve(theta, tolerance=self.tolerance).coefficients
            losses = np.bincount(group, weights * log_loss(problem.predictions(theta)), minlength=len(names))
            losses = np.where(heard, losses / np.where(heard, totals, 1.0), -np.inf)
            worst = float(losses.max() + 0.5 * self.ridge * theta @ theta)
            if best is None or worst < lowest:
                best, lowest = theta, worst
            shares = np.where(heard, reweighted(shares, np.where(heard, losses, 0.0), self.rate), 0.0)
            shares = shares / shares.sum()
        assert best is not None
        return design.reward(best)
