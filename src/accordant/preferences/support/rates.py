"""`SupportRates`: what every estimator of support returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.preferences.records import Comparisons

Source = Literal["counts", "pooled", "mixture"]


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
