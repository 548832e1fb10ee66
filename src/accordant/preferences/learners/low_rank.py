"""Low rank: users' rewards are combinations of a few rewards that all users share.

    normal    θ_u = θ_0 + V a_u
              minimise  Σ_r w_r [softplus(D_r) − D_r] + ½ n ridge |θ_0|² + ½ prior (s² |V|² + |A|²)
    simplex   θ_u = V softmax(a_u)
              the same with s² |V − θ_pooled 1ᵀ|², and without θ_0

s² is the weighted mean square of the features of a record, n the sum of the weights. The second form is that of LoRe
(arXiv 2504.14439), re-implemented from the formulas; its fixed factor 1/100 on margins sets the scale of V and is left
out. At its best the penalty of the first is prior · s times the nuclear norm of V Aᵀ (Srebro, Rennie and Jaakkola
2005). A user who comes later is fitted with V frozen. Both are solved by L-BFGS from the directions in which users
differ most, so that nothing is random. [ours] The weights of a user whose records share items are lowered to what
independent records would weigh that say as much (`independent_weights`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.preferences.checks import check_positive, check_whole
from accordant.preferences.learners.bradley_terry import pooled_coefficients
from accordant.preferences.learners.learner import PreferenceLearner, checked_records, register
from accordant.preferences.learners.logistic import log_loss, log_softmax, sigmoid
from accordant.preferences.learners.shared_items import independent_weights
from accordant.preferences.learners.user_effects import (
    AdaptableReward,
    PlacedReward,
    UserRecords,
    near_common,
    records_along,
    user_directions,
)
from accordant.preferences.records import Comparisons

MOST_ITERATIONS = 500  # of L-BFGS


class Factors(NamedTuple):
    """Unknowns of the problem: θ_0 of shape (feature,), V of shape (feature, rank), A of shape (user, rank)."""

    common: Values
    basis: Values
    loads: Values


@dataclass(frozen=True, eq=False)
class LowRankProblem:
    """The problem above, divided by the sum of the records' weights, or by the prior if that is more.

    Attributes
    ----------
    differences
        x, shape (record, feature).
    users
        Position of each record's user, shape (record,).
    weights
        At least 0, not all 0, shape (record,).
    n_users, rank
        Rows and columns of A.
    ridge, prior
        As above.
    centre
        θ_pooled that each column of V is drawn towards under ``simplex``, shape (feature,).
    simplex
        Which form.
    """

    differences: Values
    users: Codes
    weights: Values
    n_users: int
    rank: int
    ridge: float
    prior: float
    centre: Values
    simplex: bool

    def __post_init__(self) -> None:
        n_records, n_features = self.differences.shape
        for name, size in (("users", n_records), ("weights", n_records), ("centre", n_features)):
            vector = getattr(self, name)
            if vector.shape != (size,):
                raise InputError(f"{name} have shape {vector.shape}; allowed: ({size},)")

    def split(self, flat: Values) -> Factors:
        """Return the unknowns in a flat array."""
        n_features = self.differences.shape[1]
        sizes = np.cumsum([n_features, n_features * self.rank])
        common, basis, loads = np.split(flat, sizes)
        return Factors(common, basis.reshape(n_features, self.rank), loads.reshape(self.n_users, self.rank))

    def value_and_gradient(self, flat: Values) -> tuple[float, Values]:
        """Return the value, and the gradient of the same shape as the unknowns."""
        factors, total = self.split(flat), float(self.weights.sum())
        whole = max(total, self.prior)
        places = softmax(factors.loads) if self.simplex else factors.loads
        columns = factors.basis if self.simplex else np.column_stack([factors.basis, factors.common])
        seen = self.differences @ columns  # the records' features are read once here, and once for the gradient
        along = seen[:, : self.rank]
        margins = np.einsum("rk,rk->r", along, places[self.users])
        if not self.simplex:
            margins += seen[:, -1]
        pulls = self.weights * (sigmoid(margins) - 1.0)
        away = factors.basis - (self.centre[:, None] if self.simplex else 0.0)
        value = float(self.weights @ log_loss(margins))
        value += 0.5 * self.prior * (self._size * float((away**2).sum()) + float((factors.loads**2).sum()))
        value += 0.5 * total * self.ridge * float(factors.common @ factors.common)
        pulled = pulls[:, None] * places[self.users]
        back = self.differences.T @ (pulled if self.simplex else np.column_stack([pulled, pulls]))
        by_common = total * self.ridge * factors.common + (0.0 if self.simplex else back[:, -1])
        by_basis = back[:, : self.rank] + self.prior * self._size * away
        by_loads = sums_of_users(pulls[:, None] * along, self.users, self.n_users)
        if self.simplex:
            by_loads = through_softmax(places, by_loads)
        by_loads = by_loads + self.prior * factors.loads
        return value / whole, np.concatenate([by_common, by_basis.ravel(), by_loads.ravel()]) / whole

    @cached_property
    def _size(self) -> float:
        """s², without a copy of the features."""
        squares = np.einsum("rf,rf->r", self.differences, self.differences)
        return float(self.weights @ squares / self.weights.sum() / max(self.differences.shape[1], 1))

    def solve(self, start: Factors, tolerance: float) -> Factors:
        """Return a minimum near a start, by L-BFGS with the exact gradient."""
        from scipy.optimize import minimize

        flat = np.concatenate([part.ravel() for part in start])
        options = {"maxiter": MOST_ITERATIONS, "gtol": tolerance, "ftol": 1e-12}
        return self.split(
            minimize(self.value_and_gradient, flat, jac=True, method="L-BFGS-B", options=options).x
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SimplexReward(PlacedReward):
    """Users' rewards are means of shared ones, the columns of B.

    Attributes
    ----------
    prior
        Multiplies half the squared length of a user's a.
    """

    prior: float

    def adapted(self, comparisons: Comparisons) -> SimplexReward:
        """Return the rewards of other users, with the shared ones as they are."""
        records = records_along(comparisons, self.common, self.directions)
        return replace(self, places=softmax(simplex_loads(records, self.prior)))


@register("low_rank")
@dataclass(frozen=True)
class LowRank(PreferenceLearner):
    """Learn few rewards that users share, and how much each user has of them.

    Parameters
    ----------
    rank
        How many shared rewards, at least 1.
    simplex
        Whether users' rewards are means of the shared ones, instead of sums around a common one.
    prior
        Strength of the penalty on V and A, in units of records, above 0.
    ridge, tolerance
        Of the pooled reward, see `BradleyTerry`; the tolerance holds for the joint problem, too.
    """

    rank: int = 2
    simplex: bool = False
    prior: float = 3.0
    ridge: float = 1e-4
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        check_whole(rank=self.rank)
        check_positive(prior=self.prior, ridge=self.ridge, tolerance=self.tolerance)

    def fit(
        self, comparisons: Comparisons, *, generator: np.random.Generator | None = None
    ) -> AdaptableReward | SimplexReward:
        """Learn shared rewards and users' parts; deterministic."""
        del generator
        checked_records(comparisons)
        pooled = pooled_coefficients(comparisons, ridge=self.ridge, tolerance=self.tolerance)
        independent = replace(comparisons, weights=independent_weights(comparisons))
        differences = comparisons.differences()
        start = self._start(independent, differences, pooled)
        problem = LowRankProblem(
            differences, comparisons.users, independent.record_weights, comparisons.n_users, start.basis.shape[1],
            self.ridge, self.prior, pooled, self.simplex,
        )  # fmt: skip
        solution = problem.solve(start, self.tolerance)
        records = records_along(comparisons, solution.common, solution.basis)
        unknown = np.zeros(problem.rank)
        if self.simplex:
            places = softmax(simplex_loads(records, self.prior))
            return SimplexReward(solution.common, solution.basis, places, softmax(unknown[None])[0], self.prior)
        places = near_common(records, self.prior)
        return AdaptableReward(solution.common, solution.basis, places, unknown, self.prior)

    def _start(self, comparisons: Comparisons, differences: Values, pooled: Values) -> Factors:
        """Return the pooled reward and the directions in which users differ most; under `simplex`, either way."""
        if self.simplex:
            directions = user_directions(comparisons, differences, pooled, (self.rank + 1) // 2)
            way = np.arange(self.rank)
            signs = np.where(way % 2, -1.0, 1.0)
            basis = pooled[:, None] + directions[:, (way // 2) % directions.shape[1]] * signs
            return Factors(np.zeros_like(pooled), basis, np.zeros((comparisons.n_users, self.rank)))
        basis = user_directions(comparisons, differences, pooled, self.rank)
        return Factors(pooled, basis, near_common(records_along(comparisons, pooled, basis), self.prior))


def simplex_loads(records: UserRecords, prior: float) -> Values:
    """Return each user's a under θ_u = V softmax(a_u), from a = 0, shape (user, rank)."""
    from scipy.optimize import minimize

    shape = records.n_users, records.columns.shape[1]

    def loss(flat: Values) -> tuple[float, Values]:
        """Return the sum over users, and its gradient."""
        loads = flat.reshape(shape)
        places = softmax(loads)
        margins = records.margins(places)
        pulls = records.weights * (sigmoid(margins) - 1.0)
        slope = through_softmax(places, records.sums(pulls[:, None] * records.columns)) + prior * loads
        return float(records.weights @ log_loss(margins) + 0.5 * prior * (loads**2).sum()), slope.ravel()

    options = {"maxiter": MOST_ITERATIONS, "gtol": 1e-7, "ftol": 1e-14}
    solution = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(solution.x.reshape(shape))


def softmax(scores: Values) -> Values:
    """Return exp(score) divided by its sum over the last axis."""
    return np.asarray(np.exp(log_softmax(scores)))


def through_softmax(places: Values, slopes: Values) -> Values:
    """Return the gradient by scores from that by their softmax, both of shape (user, rank)."""
    return np.asarray(places * (slopes - np.einsum("uk,uk->u", places, slopes)[:, None]))


def sums_of_users(columns: Values, users: Codes, n_users: int) -> Values:
    """Return sums of columns over the records of each user, shape (user, column)."""
    return np.stack([np.bincount(users, column, minlength=n_users) for column in columns.T], axis=1)
