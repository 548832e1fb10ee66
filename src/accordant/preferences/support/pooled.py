"""Support as a pooled model predicts it: for labels too sparse to count.

    s_r = σ(θ · x_r),   x_r = features of the chosen item less those of the rejected one

θ is a Bradley–Terry reward of the users of other folds, each of whom weighs 1 whatever the number of records, since a
support rate is a share of users. So no user's own records take part in the user's rates. One reward cannot follow
several opposed types: rates are then drawn towards ½, and their order suffers less than their size.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from accordant.arrays import Codes
from accordant.preferences.learners.bradley_terry import pooled_coefficients
from accordant.preferences.learners.solving.logistic import sigmoid
from accordant.preferences.learners.users.user_folds import NO_FOLD, user_folds, weight_of_users
from accordant.preferences.records import Comparisons
from accordant.preferences.support.counts import other_labellers
from accordant.preferences.support.rates import SupportRates, mean_by_user
from accordant.preferences.support.sight import in_sight

TOLERANCE = 1e-8  # largest entry of the gradient: rates are then exact to about seven digits


def pooled_rates(
    comparisons: Comparisons, generator: np.random.Generator, *, leave_one_out: bool, folds: int, ridge: float
) -> SupportRates:
    """Predict the share of users with each preference; see `support_rates` for the parameters.

    A record has no rate where no other user has records, or where what they compared says nothing about it (sight.py).
    The two directions of a contradiction have rates that sum to 1.
    """
    rates = np.full(len(comparisons), np.nan)
    for training, rated in _splits(comparisons, generator, leave_one_out=leave_one_out, folds=folds):
        theirs = each_user_alike(comparisons.take(training))
        differences = comparisons.differences(rated)
        predicted = sigmoid(differences @ pooled_coefficients(theirs, ridge=ridge, tolerance=TOLERANCE))
        rates[rated] = np.where(in_sight(theirs, differences), predicted, np.nan)
    return SupportRates(rates, other_labellers(comparisons), mean_by_user(rates, comparisons), leave_one_out, "pooled")


def each_user_alike(comparisons: Comparisons) -> Comparisons:
    """Return the same records, the weights of each user's summing to 1, or to 0."""
    total = weight_of_users(comparisons)[comparisons.users]
    shares = np.divide(comparisons.record_weights, total, out=np.zeros(len(comparisons)), where=total > 0)
    return replace(comparisons, weights=shares)


def _splits(
    comparisons: Comparisons, generator: np.random.Generator, *, leave_one_out: bool, folds: int
) -> list[tuple[Codes, Codes]]:
    """Return rows to train on and rows to rate, none if there is nobody to learn from."""
    weights = weight_of_users(comparisons)
    present = weights > 0
    every = np.arange(len(comparisons))
    if not leave_one_out:
        return [(every, every)] if present.any() else []
    fold = user_folds(weights, folds, generator) if present.sum() > 1 else np.where(present, 0, NO_FOLD)
    of_record = fold[comparisons.users]
    found = [(every[(of_record != k) & (of_record != NO_FOLD)], every[of_record == k]) for k in np.unique(of_record)]
    return [(training, rated) for training, rated in found if len(training)]
