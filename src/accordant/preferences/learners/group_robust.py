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
from accordant.preferences.learners.learner import LinearReward, PreferenceLearner, checked_records, register
from accordant.preferences.learners.logistic import LogisticProblem, log_loss
from accordant.preferences.records import Comparisons

Values = NDArray[np.float64]


def reweighted(shares: Values, losses: Values, rate: float) -> Values:
    """Return q_g exp(η L_g) / Σ, shape (group,)."""
    logs = np.log(np.maximum(shares, np.finfo(float).tiny)) + rate * losses
    raised = np.exp(logs - logs.max())
    return np.asarray(raised / raised.sum())


@register("group_robust")
@dataclass(frozen=True)
class GroupRobust(PreferenceLearner):
    """Minimise the loss of the worst group; groups are read in training only.

    Parameters
    ----------
    rate
        η, above 0.
    rounds
        Changes of the weights, at least 1.
    ridge, tolerance
        See `BradleyTerry`.
    """

    control: ClassVar[bool] = True
    needs_groups: ClassVar[bool] = True

    rate: float = 1.0
    rounds: int = 50
    ridge: float = 1e-4
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        for name, least in (("rate", 0.0), ("ridge", 0.0), ("tolerance", 0.0)):
            if not least < getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: above {least:g}")
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}; allowed: at least 1")

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> LinearReward:
        """Learn one linear reward; deterministic."""
        del generator
        checked_records(comparisons, groups=True)
        names, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
        group, weights = of_user[comparisons.users], comparisons.record_weights
        totals = np.bincount(group, weights, minlength=len(names))
        heard = totals > 0
        differences = comparisons.differences()
        shares, theta = heard / heard.sum(), np.zeros(differences.shape[1])
        best, lowest = theta, np.inf
        for _ in range(self.rounds):
            scaled = weights * (shares / np.where(heard, totals, 1.0))[group]
            theta = (
                LogisticProblem(differences, weights=scaled, ridge=self.ridge)
                .solve(theta, tolerance=self.tolerance)
                .coefficients
            )
            losses = np.bincount(group, weights * log_loss(differences @ theta), minlength=len(names))
            losses = np.where(heard, losses / np.where(heard, totals, 1.0), -np.inf)
            worst = float(losses.max() + 0.5 * self.ridge * theta @ theta)
            if worst < lowest:
                best, lowest = theta, worst
            shares = np.where(heard, reweighted(shares, np.where(heard, losses, 0.0), self.rate), 0.0)
            shares = shares / shares.sum()
        return LinearReward(best)
