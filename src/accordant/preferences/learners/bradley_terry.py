"""Bradley–Terry: one linear reward for everybody (Bradley and Terry 1952; with features, McFadden 1974)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.errors import InputError
from accordant.preferences.learners.learner import LinearReward, PreferenceLearner, checked_records, register
from accordant.preferences.learners.logistic import LogisticProblem
from accordant.preferences.records import Comparisons


@register("bradley_terry", aliases=("pooled",))
@dataclass(frozen=True)
class BradleyTerry(PreferenceLearner):
    """Minimise the mean of −log σ(D) over records, plus a ridge.

    Users are pooled: whoever has more records counts more.

    On users with opposed tastes the pooled reward follows the majority; it is the baseline of everything else.

    Parameters
    ----------
    ridge
        Multiplies half the squared length of the coefficients, beside the mean loss; above 0, so that separable records
        have a solution too.
    tolerance
        Largest entry of the gradient at the end.
    """

    control: ClassVar[bool] = True

    ridge: float = 1e-4
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        if not 0 < self.ridge < np.inf:
            raise InputError(f"ridge is {self.ridge}; allowed: above 0")

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> LinearReward:
        """Learn one linear reward; deterministic."""
        del generator
        checked_records(comparisons)
        problem = LogisticProblem(comparisons.differences(), weights=comparisons.weights, ridge=self.ridge)
        return LinearReward(problem.solve(tolerance=self.tolerance).coefficients)


@register("balanced")
@dataclass(frozen=True)
class Balanced(BradleyTerry):
    """Bradley–Terry with every group of users weighing the same, whatever its number of records."""

    needs_groups: ClassVar[bool] = True

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> LinearReward:
        """Learn one linear reward; deterministic."""
        del generator
        checked_records(comparisons, groups=True)
        names, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
        group = of_user[comparisons.users]
        total = np.bincount(group, comparisons.record_weights, minlength=len(names))
        weights = comparisons.record_weights / np.where(total > 0, total, 1.0)[group]
        problem = LogisticProblem(comparisons.differences(), weights=weights, ridge=self.ridge)
        return LinearReward(problem.solve(tolerance=self.tolerance).coefficients)
