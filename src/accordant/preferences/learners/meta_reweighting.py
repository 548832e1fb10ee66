"""Meta-reweighted: a start from which few records lead to each user's reward, and most of all to hard users'.

    θ_u = θ_0 + B z_u,   z_u = argmin Σ_{support of u} w_r [softplus(D_r) − D_r] + ½ prior |z|²
    minimise over θ_0    Σ_u ω_u L_u(θ_u) / Σ_u ω_u + ½ ridge |θ_0|²,   L_u the mean log-loss on the query of u
    ω_u = σ((L_u − τ) / γ),   τ the (1 − ρ)-quantile of L

The loss after adaptation is that of meta-learning (Finn, Abbeel and Levine 2017), the weights are those of MRM-RPO
(arXiv 2601.18731, re-implemented from the formulas). [ours] Adaptation goes to the exact minimum, so that the gradient
is that of the implicit function (Rajeswaran et al. 2019), instead of a few steps; weights are held while θ_0 moves and
then set halfway to their new values, a fixed number of times. Records of a user go in turn to query and support, which
share no item (`item_folds`): a user with one record has no support, and counts with the loss of θ_0 itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.checks import check_positive, check_whole
from accordant.preferences.learners.bradley_terry import pooled_coefficients
from accordant.preferences.learners.learner import PreferenceLearner, checked_records, register
from accordant.preferences.learners.logistic import log_loss, sigmoid
from accordant.preferences.learners.shared_items import independent_weights, item_folds
from accordant.preferences.learners.user_effects import (
    AdaptableReward,
    UserRecords,
    likeliest_places,
    near_common,
    records_along,
    user_directions,
)
from accordant.preferences.records import Comparisons

MOST_ITERATIONS = 100  # of L-BFGS between two changes of the weights


@dataclass(frozen=True, eq=False)
class MetaProblem:
    """The problem in θ_0, with the weights of users held.

    Attributes
    ----------
    support, query
        Records along directions, in the order of users.
    support_differences, query_differences
        Their x, in the same order, shape (record, feature).
    prior, ridge
        As above.
    """

    support: UserRecords
    query: UserRecords
    support_differences: Values
    query_differences: Values
    prior: float
    ridge: float

    def user_losses(self, common: Values) -> Values:
        """Return L_u after adaptation, shape (user,); NaN for users without a query."""
        return self._adapted(common)[0]

    def value_and_gradient(self, common: Values, user_weights: Values) -> tuple[float, Values]:
        """Return the value and its gradient by θ_0, shape (feature,).

        Parameters
        ----------
        common
            θ_0, shape (feature,).
        user_weights
            ω, at least 0, shape (user,); those of users without a query do not count.
        """
        losses, query, margins, support, places, curvatures = self._adapted(common)
        asked = np.isfinite(losses)
        shares = np.where(asked, user_weights, 0.0)
        shares = shares / shares.sum()
        value = float(shares[asked] @ losses[asked] + 0.5 * self.ridge * common @ common)
        totals = query.sums(query.weights)
        pulls = query.weights * (shares / np.where(asked, totals, 1.0))[query.users] * (sigmoid(margins) - 1.0)
        moved = np.linalg.solve(curvatures, query.sums(pulls[:, None] * query.columns)[:, :, None])[:, :, 0]
        likely = sigmoid(support.margins(places))
        bends = support.weights * likely * (1.0 - likely)
        back = bends * np.einsum("rk,rk->r", support.columns, moved[support.users])
        gradient = pulls @ self.query_differences - back @ self.support_differences + self.ridge * common
        return value, np.asarray(gradient)

    def _adapted(self, common: Values) -> tuple[Values, UserRecords, Values, UserRecords, Values, Values]:
        """Return losses, query records, their margins, support records, places, and curvatures at them."""
        support = replace(self.support, offsets=self.support_differences @ common)
        query = replace(self.query, offsets=self.query_differences @ common)
        size = support.columns.shape[1]
        places = likeliest_places(
            support, np.zeros((support.n_users, size)), self.prior * np.eye(size), tolerance=1e-10
        )
        margins, totals = query.margins(places.modes), query.sums(query.weights)
        summed = query.sums(query.weights * log_loss(margins))
        losses = np.where(totals > 0, summed / np.where(totals > 0, totals, 1.0), np.nan)
        return losses, query, margins, support, places.modes, places.curvatures


def hard_user_weights(losses: Values, share: float, softness: float) -> Values:
    """Return ω_u = σ((L_u − τ) / γ), τ the (1 − ρ)-quantile of L, shape (user,); 0 where L is NaN.

    Parameters
    ----------
    losses
        L, shape (user,), perhaps NaN but not everywhere.
    share
        ρ in (0, 1]: the share of users above the threshold.
    softness
        γ, above 0.
    """
    asked = np.isfinite(losses)
    threshold = np.quantile(losses[asked], 1.0 - share)
    return np.where(asked, sigmoid((np.where(asked, losses, threshold) - threshold) / softness), 0.0)


@register("meta_reweighted")
@dataclass(frozen=True)
class MetaReweighted(PreferenceLearner):
    """Learn the start of adaptation, weighing users more who are served badly after it.

    Parameters
    ----------
    share
        ρ in (0, 1].
    softness
        γ, above 0.
    prior
        How many records the start is worth, above 0.
    directions
        Most directions of adaptation, at least 1.
    rounds
        Changes of the weights, at least 1.
    ridge, tolerance
        Of the start, see `BradleyTerry`.
    """

    share: float = 0.5
    softness: float = 0.5
    prior: float = 1.0
    directions: int = 2
    rounds: int = 5
    ridge: float = 1e-4
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        check_whole(directions=self.directions, rounds=self.rounds)
        if not 0 < self.share <= 1:
            raise InputError(f"share is {self.share}; allowed: above 0, at most 1")
        check_positive(softness=self.softness, prior=self.prior, ridge=self.ridge, tolerance=self.tolerance)

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> AdaptableReward:
        """Learn the start, then each user's reward from all of the user's records; the generator deals items."""
        from scipy.optimize import minimize

        generator = np.random.default_rng(0) if generator is None else generator
        checked_records(comparisons)
        common = pooled_coefficients(comparisons, ridge=self.ridge, tolerance=self.tolerance)
        independent = replace(comparisons, weights=independent_weights(comparisons))
        directions = user_directions(independent, comparisons.differences(), common, self.directions)
        problem = self.problem(comparisons, common, directions, generator)
        weights = np.ones(comparisons.n_users)
        options = {"maxiter": MOST_ITERATIONS, "gtol": self.tolerance}
        for _ in range(self.rounds):
            weights = (weights + hard_user_weights(problem.user_losses(common), self.share, self.softness)) / 2
            common = minimize(
                problem.value_and_gradient, common, (weights,), jac=True, method="L-BFGS-B", options=options
            ).x
        places = near_common(records_along(comparisons, common, directions), self.prior)
        return AdaptableReward(common, directions, places, np.zeros(directions.shape[1]), self.prior)

    def problem(
        self, comparisons: Comparisons, common: Values, directions: Values, generator: np.random.Generator
    ) -> MetaProblem:
        """Return the problem: of each user's records that count, every other one from the first is the query.

        Records that share items stay on one side, or their items are dealt, see `item_folds`.
        """
        rows = np.argsort(comparisons.users, kind="stable")
        counted = comparisons.take(rows[comparisons.record_weights[rows] > 0])
        parts, first = item_folds(counted, 2, generator), counted.users % 2
        query = counted.take(np.flatnonzero(parts.held_out(first)))
        support = counted.take(np.flatnonzero(parts.known(first)))
        return MetaProblem(
            records_along(support, common, directions), records_along(query, common, directions),
            support.differences(), query.differences(), self.prior, self.ridge,
        )  # fmt: skip
