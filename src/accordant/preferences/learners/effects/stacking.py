"""Stacking: a sum of several rewards whose weights predict held-out records best (Wolpert 1992; Breiman 1996).

    minimise over a ≥ 0   Σ_r w_r [softplus(D_r) − D_r],   D_r = Σ_j a_j D_rj

D_rj comes from a fit that never saw record r.

For logarithmic scores see Yao et al. (2018); margins are added here instead of probabilities, so that the sum of linear
rewards is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.learners.learner import RewardModel
from accordant.preferences.learners.solving.logistic import log_loss, sigmoid
from accordant.preferences.records import Comparisons

NEGLIGIBLE = 1e-3  # a weight below this is 0
CLEAR = 1.645  # standard errors: a normal error exceeds them on one side in 5 % of draws


@dataclass(frozen=True, eq=False)
class StackedReward(RewardModel):
    """A sum of rewards.

    Attributes
    ----------
    models
        The rewards.
    weights
        Of each, at least 0, shape (model,).
    """

    models: tuple[RewardModel, ...]
    weights: Values

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        found = np.zeros(len(features))
        for weight, model in zip(self.weights, self.models, strict=True):
            found += weight * model.rewards(features, user)
        return found

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        found = np.zeros(len(comparisons))
        for weight, model in zip(self.weights, self.models, strict=True):
            found += weight * model.margins(comparisons)
        return found

    def adapted(self, comparisons: Comparisons) -> StackedReward:
        """Return the same sum of rewards that are each adapted to other users."""
        return StackedReward(tuple(model.adapted(comparisons) for model in self.models), self.weights)


def stacking_weights(margins: Values, weights: Values) -> Values:
    """Return a, shape (model,).

    Parameters
    ----------
    margins
        Held-out margins of each model, shape (record, model).
    weights
        Of records, at least 0 and not all 0, shape (record,).
    """
    from scipy.optimize import minimize

    if margins.ndim != 2 or weights.shape != (len(margins),):
        raise InputError(
            f"margins have shape {margins.shape} and weights {weights.shape}; allowed: (record, model) and (record,)"
        )
    shares = weights / weights.max()  # no sum of weights overflows
    shares = shares / shares.sum()

    def loss(found: Values) -> tuple[float, Values]:
        """Return the value and its gradient."""
        total = margins @ found
        return float(shares @ log_loss(total)), (shares * (sigmoid(total) - 1.0)) @ margins

    n_models = margins.shape[1]
    start = np.full(n_models, 1.0 / n_models)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * n_models).x
    return np.where(found < NEGLIGIBLE, 0.0, found)


@dataclass(frozen=True)
class Gain:
    """How much better one prediction is than another on held-out records, per record, in nats.

    Attributes
    ----------
    mean
        Positive if the first is better.
    standard_error
        From the users' own differences; infinite with fewer than two users.
    """

    mean: float
    standard_error: float

    @property
    def clear(self) -> bool:
        """Whether the gain exceeds `CLEAR` standard errors."""
        return self.exceeds(CLEAR)

    def exceeds(self, errors: float) -> bool:
        """Return whether the gain is larger than so many standard errors."""
        return bool(np.isfinite(self.standard_error)) and self.mean > errors * self.standard_error


def gain(better: Values, worse: Values, comparisons: Comparisons) -> Gain:
    """Return by how much held-out margins, shape (record,), predict better than others."""
    weights, n_users = comparisons.record_weights, comparisons.n_users
    apart = weights * (log_loss(worse) - log_loss(better))
    by_user, totals = (np.bincount(comparisons.users, each, minlength=n_users) for each in (apart, weights))
    return user_gain(by_user.astype(np.float64), totals.astype(np.float64))


def user_gain(differences: Values, weights: Values) -> Gain:
    """Return the gain from each user's difference in log-likelihood and weight of records, both of shape (user,)."""
    heard = weights > 0
    largest, heaviest = float(np.abs(differences[heard]).max()) or 1.0, float(weights.max())
    apart, totals, unit = differences[heard] / largest, weights[heard] / heaviest, largest / heaviest
    mean, n_users = float(apart.sum() / totals.sum()), len(totals)
    if n_users < 2:
        return Gain(unit * mean, np.inf)
    residuals = apart - mean * totals
    # users differ in their weight, so this is the error of a ratio (Cochran 1977, section 6.4)
    error = float(np.sqrt(n_users / (n_users - 1) * (residuals @ residuals)) / totals.sum())
    return Gain(unit * mean, unit * error)
