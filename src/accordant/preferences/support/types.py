"""Support as hidden types of users predict it: for sparse labels of users who fall into types.

    s_r = Σ_k ρ_k^{−u} σ(θ_k · x_r),   ρ_k^{−u} = Σ_{v≠u} q_vk / (number of other users)

Types θ_k and memberships q come from expectation maximisation over all users; the user's own membership is left out of
the shares. The user's own records do take part in the types: one voice of many where a type has many users and records
outnumber features; a type of this user alone has no share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.preferences.learners.mixture.mixture import Mixture, MixtureReward
from accordant.preferences.learners.solving.logistic import sigmoid
from accordant.preferences.learners.users.user_folds import weight_of_users
from accordant.preferences.records import Comparisons
from accordant.preferences.support.counts import other_labellers
from accordant.preferences.support.rates import SupportRates, mean_by_user
from accordant.preferences.support.sight import in_sight, in_sight_of_others


def mixture_rates(
    comparisons: Comparisons, generator: np.random.Generator, *, leave_one_out: bool, types: int, ridge: float
) -> SupportRates:
    """Predict the share of users with each preference; see `support_rates` for the parameters.

    A record has no rate where no other user has records, or where what they compared says nothing about it (sight.py).
    The two directions of a contradiction have rates that sum to 1.
    """
    present = weight_of_users(comparisons) > 0
    rates: Values = np.full(len(comparisons), np.nan)
    warnings: tuple[str, ...] = ()
    if present.any():
        model = Mixture(types, ridge=ridge).fit(comparisons, generator=generator)
        shares = _shares_of_others(model, present, leave_one_out=leave_one_out)
        by_type = sigmoid(comparisons.differences() @ model.coefficients.T)
        seen = in_sight_of_others(comparisons) if leave_one_out else in_sight(comparisons, comparisons.differences())
        rates = np.where(seen, (shares[comparisons.users] * by_type).sum(axis=1), np.nan)
        warnings = model.warnings
    return SupportRates(
        rates, other_labellers(comparisons), mean_by_user(rates, comparisons), leave_one_out, "mixture", warnings
    )


def _shares_of_others(model: MixtureReward, present: NDArray[np.bool_], *, leave_one_out: bool) -> Values:
    """Return ρ without each user, shape (user, type); NaN for somebody who is alone."""
    memberships = model.memberships * present[:, None]
    own = memberships if leave_one_out else np.zeros_like(memberships)
    left = present.sum() - (present if leave_one_out else np.zeros(len(present)))
    summed = np.clip(memberships.sum(axis=0) - own, 0.0, None)
    return np.asarray(np.divide(summed, left[:, None], out=np.full_like(summed, np.nan), where=left[:, None] > 0))
