"""Support rates: how many other users share a preference, per record and per user.

They are counted from those who compared the same two items, or predicted by a model of the other users together, or
by hidden types of users; `support_rates` calls one of them.

`in_sight` says whether what others compared says anything about a record. A linear model knows nothing of a difference
of features at right angles to every difference that it was trained on: its prediction of ½ would then be the ridge's.
With one feature per item this means that nobody else compared either item; items with equal features are never told
apart.

`pooled_rates`, for labels too sparse to count, are what a pooled model predicts:

    s_r = σ(θ · x_r),   x_r = features of the chosen item less those of the rejected one

θ is a Bradley–Terry reward of the users of other folds, each of whom weighs 1 whatever the number of records, since a
support rate is a share of users. So no user's own records take part in the user's rates. One reward cannot follow
several opposed types: rates are then drawn towards ½, and their order suffers less than their size.

`mixture_rates`, for sparse labels of users who fall into types, are what hidden types predict:

    s_r = Σ_k ρ_k^{−u} σ(θ_k · x_r),   ρ_k^{−u} = Σ_{v≠u} q_vk / (number of other users)

Types θ_k and memberships q come from expectation maximisation over all users; the user's own membership is left out of
the shares. The user's own records do take part in the types: one voice of many where a type has many users and records
outnumber features; a type of this user alone has no share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError, UnknownNameError
from accordant.preferences.learners.bradley_terry import pooled_coefficients
from accordant.preferences.learners.logistic import sigmoid
from accordant.preferences.learners.mixture import Mixture, MixtureReward
from accordant.preferences.records import NO_FOLD, Comparisons, user_folds, weight_of_users

Source = Literal["counts", "pooled", "mixture"]
BLIND = 1e-12  # a mean squared cosine below which two differences have nothing but rounding in common
TOLERANCE = 1e-8  # largest entry of the gradient: rates are then exact to about seven digits
Estimator = Literal["counts", "pooled", "mixture", "auto"]
ENOUGH = 0.5  # share of records with another labeller from which "auto" counts: then most rates rest on people


@dataclass(frozen=True, eq=False)
class SupportRates:
    """How many share a preference.

    Attributes
    ----------
    of_record
        Share in [0, 1] of users who prefer the chosen item to the rejected one, counted or predicted, shape (record,);
        NaN where nothing is known of it.
    others
        Number of other users who compared the same two items, shape (record,).
    of_user
        Mean over the user's records, by weight, shape (user,); NaN for users without any rate.
    leave_one_out
        Whether the user's own preferences are left out.
    source
        Where the rates come from: ``"counts"`` of users on the same two items, a ``"pooled"`` model, or a ``"mixture"``
        of types.
    warnings
        Sentences that a reader of the result must see.
    """

    of_record: Values
    others: NDArray[np.intp]
    of_user: Values
    leave_one_out: bool
    source: Source = "counts"
    warnings: tuple[str, ...] = ()

    @property
    def known(self) -> float:
        """Share of records with a rate; NaN without records."""
        return float(np.isfinite(self.of_record).mean()) if len(self.of_record) else float("nan")


def mean_by_user(rates: Values, comparisons: Comparisons) -> Values:
    """Return means of known rates by weight, shape (user,); NaN where there are none."""
    known = np.isfinite(rates)
    counted = np.where(known, comparisons.record_weights, 0.0)
    total = np.bincount(comparisons.users, counted, minlength=comparisons.n_users)
    summed = np.bincount(comparisons.users, counted * np.where(known, rates, 0.0), minlength=comparisons.n_users)
    return np.asarray(np.divide(summed, total, out=np.full(comparisons.n_users, np.nan), where=total > 0))


def in_sight(training: Comparisons, differences: Values) -> NDArray[np.bool_]:
    """Return whether training compared anything that is not at right angles to each difference, shape (record,)."""
    seen = training.differences(np.flatnonzero(training.record_weights > 0))
    return _above_rounding(_squared_products(seen, differences), seen, differences)


def in_sight_of_others(comparisons: Comparisons) -> NDArray[np.bool_]:
    """Return the same for each record and the records of all other users, shape (record,)."""
    weighing = comparisons.record_weights > 0
    differences = comparisons.differences()
    common = _squared_products(differences[weighing], differences)
    order = np.argsort(comparisons.users, kind="stable")
    for rows in np.split(order, np.cumsum(comparisons.counts)[:-1]):
        own = differences[rows]
        common[rows] -= ((own @ own[weighing[rows]].T) ** 2).sum(axis=1)
    return _above_rounding(common, differences[weighing], differences)


def _squared_products(seen: Values, differences: Values) -> Values:
    """Return Σ_s (x_s · x_r)², shape (record,)."""
    return np.asarray(np.einsum("rk,rk->r", differences @ (seen.T @ seen), differences))


def _above_rounding(common: Values, seen: Values, differences: Values) -> NDArray[np.bool_]:
    return np.asarray(common > BLIND * (seen**2).sum() * (differences**2).sum(axis=1))


def counted_rates(comparisons: Comparisons, *, leave_one_out: bool = True) -> SupportRates:
    """Count who shares each preference.

    A user with several records on one pair counts once, by the share of these records (by weight) that prefer an item:
    contradictory records are half a vote for each. Where nobody else compared the two items, there is no rate.

    Parameters
    ----------
    comparisons
        The records.
    leave_one_out
        Leave the user's own preference out. With it in, a lone preference has the rate 1, and every rate is too high by
        1/n on average.
    """
    n_records = len(comparisons)
    first, pair, judge, pair_of_judge = _judges(comparisons)
    weights = comparisons.record_weights
    total = np.bincount(judge, weights, minlength=len(pair_of_judge))
    own = np.divide(
        np.bincount(judge, weights * first, minlength=len(pair_of_judge)), total,
        out=np.zeros(len(pair_of_judge)), where=total > 0,
    )  # fmt: skip
    counted = (total > 0).astype(np.float64)
    n_pairs = int(pair.max(initial=-1)) + 1
    voters = np.bincount(pair_of_judge, counted, minlength=n_pairs)
    votes = np.bincount(pair_of_judge, own * counted, minlength=n_pairs)
    less = counted[judge] if leave_one_out else 0.0
    others = voters[pair] - counted[judge]
    asked = voters[pair] - less
    for_first = votes[pair] - own[judge] * less
    share = np.divide(for_first, asked, out=np.full(n_records, np.nan), where=asked > 0)
    rates = np.clip(np.where(first == 1, share, 1.0 - share), 0.0, 1.0)  # sums of thirds leave rounding
    return SupportRates(rates, np.rint(others).astype(np.intp), mean_by_user(rates, comparisons), leave_one_out)


def other_labellers(comparisons: Comparisons) -> Codes:
    """Return how many other users compared the two items of each record, shape (record,)."""
    return counted_rates(comparisons).others


def _judges(comparisons: Comparisons) -> tuple[Values, Codes, Codes, Codes]:
    """Number the pairs of items, whichever is chosen, and who compared them.

    Returns
    -------
    tuple
        1.0 where the item of lower position is preferred, the number of the pair, and the number of the pair and user,
        all of shape (record,); and the pair behind each of the latter numbers, shape (number,).
    """
    low = np.minimum(comparisons.chosen, comparisons.rejected)
    high = np.maximum(comparisons.chosen, comparisons.rejected)
    first = (comparisons.chosen == low).astype(np.float64)
    _, pair = np.unique(low * len(comparisons.features) + high, return_inverse=True)
    judges, judge = np.unique(pair * comparisons.n_users + comparisons.users, return_inverse=True)
    return first, pair, judge, judges // max(1, comparisons.n_users)


def pooled_rates(
    comparisons: Comparisons, generator: np.random.Generator, *, leave_one_out: bool, folds: int, ridge: float
) -> SupportRates:
    """Predict the share of users with each preference; see `support_rates` for the parameters.

    A record has no rate where no other user has records, or where what they compared says nothing about it.
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
    splits = [(every[(of_record != k) & (of_record != NO_FOLD)], every[of_record == k]) for k in np.unique(of_record)]
    return [(training, rated) for training, rated in splits if len(training)]


def mixture_rates(
    comparisons: Comparisons, generator: np.random.Generator, *, leave_one_out: bool, types: int, ridge: float
) -> SupportRates:
    """Predict the share of users with each preference; see `support_rates` for the parameters.

    A record has no rate where no other user has records, or where what they compared says nothing about it.
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


def support_rates(
    comparisons: Comparisons,
    *,
    estimator: Estimator = "counts",
    leave_one_out: bool = True,
    generator: np.random.Generator | None = None,
    folds: int = 5,
    types: int = 2,
    ridge: float = 1e-4,
) -> SupportRates:
    """Estimate how many share each preference.

    Parameters
    ----------
    comparisons
        The records. Users without records get no rate; a user with one record gets that record's.
    estimator
        ``"counts"`` of those who compared the same two items: assumes nothing, and knows nothing where nobody else did.
        ``"pooled"``: predicted by one Bradley–Terry reward of users in other folds. ``"mixture"``: predicted by hidden
        types of users. ``"auto"``: counts if at least half of the records have another labeller, else pooled; `source`
        of the result says which.
    leave_one_out
        Leave the user's own preferences out: the own vote (counts), the own records (pooled), the own membership
        (mixture).
    generator
        Source of folds (pooled) and starts (mixture); None seeds one with 0. The same state gives the same rates.
    folds
        Of users, for the pooled model, at least 2; with fewer users every user is a fold.
    types
        Number of types of the mixture; `choose_types` finds one.
    ridge
        Of the models, above 0, see `BradleyTerry`: the larger, the nearer are rates to ½.

    Raises
    ------
    InputError, UnknownNameError
        If a parameter is out of range.
    """
    if estimator not in get_args(Estimator):
        raise UnknownNameError("estimator", estimator, get_args(Estimator))
    if not 0 < ridge < np.inf:
        raise InputError(f"ridge is {ridge}; allowed: above 0")
    if estimator == "auto":
        labelled = other_labellers(comparisons) > 0
        estimator = "counts" if len(labelled) and labelled.mean() >= ENOUGH else "pooled"
    if estimator == "counts":
        return counted_rates(comparisons, leave_one_out=leave_one_out)
    generator = np.random.default_rng(0) if generator is None else generator
    if estimator == "pooled":
        return pooled_rates(comparisons, generator, leave_one_out=leave_one_out, folds=folds, ridge=ridge)
    return mixture_rates(comparisons, generator, leave_one_out=leave_one_out, types=types, ridge=ridge)
