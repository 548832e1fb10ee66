"""`support_rates`: one call for every way to estimate support."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from accordant.errors import InputError, UnknownNameError
from accordant.preferences.records import Comparisons
from accordant.preferences.support.counts import counted_rates, other_labellers
from accordant.preferences.support.pooled import pooled_rates
from accordant.preferences.support.rates import SupportRates
from accordant.preferences.support.types import mixture_rates

Estimator = Literal["counts", "pooled", "mixture", "auto"]

ENOUGH = 0.5  # share of records with another labeller from which "auto" counts: then most rates rest on people


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
