"""Bradley–Terry: one linear reward for everybody (Bradley and Terry 1952; with features, McFadden 1974)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.preferences.learners.learner import LinearReward, checked_records, register
from accordant.preferences.learners.shared import ContextualReward, SharedLearner
from accordant.preferences.learners.solving.logistic import LogisticProblem
from accordant.preferences.records import Comparisons


@register("bradley_terry", aliases=("pooled",))
@dataclass(frozen=True)
class BradleyTerry(SharedLearner):
    """Minimise the mean of −log σ(D) over records, plus a ridge.

    Users are pooled: whoever has more records counts more.

    On users with opposed tastes the pooled reward follows the majority; it is the baseline of everything else.

    Parameters
    ----------
    ridge, tolerance, context, directions
        See `SharedLearner`.
    """

    control: ClassVar[bool] = True

    def fit(
        self, comparisons: Comparisons, *, generator: np.random.Generator | None = None
    ) -> LinearReward | ContextualReward:
        """Learn one linear reward; deterministic."""
        del generator
        checked_records(comparisons)
        design = self.design(comparisons)
        problem = design.problem(weights=comparisons.weights, ridge=self.ridge)
        return design.reward(problem.solve(tolerance=self.tolerance).coefficients)


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

    def fit(
        self, comparisons: Comparisons, *, generator: np.random.Generator | None = None
    ) -> LinearReward | ContextualReward:
        """Learn one linear reward; deterministic."""
        del generator
        checked_records(comparisons, groups=True)
        design = self.design(comparisons)
        problem = design.problem(weights=balanced_weights(comparisons), ridge=self.ridge)
        return design.reward(problem.solve(tolerance=self.tolerance).coefficients)


def balanced_weights(comparisons: Comparisons) -> NDArray[np.float64]:
    """Return weights of records under which every group with records weighs 1, shape (record,)."""
    names, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
    group = of_user[comparisons.users]
    total = np.bincount(group, comparisons.record_weights, minlength=len(names))
    return np.asarray(comparisons.record_weights / np.where(total > 0, total, 1.0)[group])
