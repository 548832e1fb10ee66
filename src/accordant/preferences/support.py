"""Support rates: how many of those who compared the same two items prefer the same one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.preferences.records import Comparisons

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SupportRates:
    """How many share a preference.

    Attributes
    ----------
    of_record
        Share of the users who compared the same two items and prefer the same one, shape (record,); NaN where nobody
        else compared them.
    others
        Number of other users who compared the same two items, shape (record,).
    of_user
        Mean over the user's records, by weight, shape (user,); NaN for users without any rate.
    leave_one_out
        Whether the user's own preference is left out.
    source
        Where the rates come from: ``"counts"`` of users on the same pair.
    """

    of_record: Values
    others: NDArray[np.intp]
    of_user: Values
    leave_one_out: bool
    source: str = "counts"

    @property
    def known(self) -> float:
        """Share of records with a rate; NaN without records."""
        return float(np.isfinite(self.of_record).mean()) if len(self.of_record) else float("nan")


def support_rates(comparisons: Comparisons, *, leave_one_out: bool = True) -> SupportRates:
    """Count who shares each preference.

    A user with several records on one pair counts once, by the share of these records (by weight) that prefer an item:
    contradictory records are half a vote for each.

    Parameters
    ----------
    comparisons
        The records.
    leave_one_out
        Leave the user's own preference out. With it in, a lone preference has the rate 1, and every rate is too high by
        1/n on average.
    """
    n_records = len(comparisons)
    low = np.minimum(comparisons.chosen, comparisons.rejected)
    high = np.maximum(comparisons.chosen, comparisons.rejected)
    first = (comparisons.chosen == low).astype(np.float64)  # the item with the lower position is preferred
    _, pair = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    pair = pair.reshape(n_records)
    judges, judge = np.unique(np.stack([pair, comparisons.users]), axis=1, return_inverse=True)
    judge = judge.reshape(n_records)
    weights = np.where(comparisons.record_weights > 0, comparisons.record_weights, 0.0)
    total = np.bincount(judge, weights, minlength=judges.shape[1])
    own = np.divide(
        np.bincount(judge, weights * first, minlength=judges.shape[1]), total,
        out=np.zeros(judges.shape[1]), where=total > 0,
    )  # fmt: skip
    counted = (total > 0).astype(np.float64)
    n_pairs = int(pair.max(initial=-1)) + 1
    voters = np.bincount(judges[0], counted, minlength=n_pairs)
    votes = np.bincount(judges[0], own * counted, minlength=n_pairs)
    less = counted[judge] if leave_one_out else 0.0
    others = voters[pair] - counted[judge]
    asked = voters[pair] - less
    for_first = votes[pair] - own[judge] * less
    share = np.divide(for_first, asked, out=np.full(n_records, np.nan), where=asked > 0)
    rates = np.where(first == 1, share, 1.0 - share)
    return SupportRates(
        rates, np.rint(others).astype(np.intp), _mean_by_user(rates, weights, comparisons), leave_one_out
    )


def _mean_by_user(rates: Values, weights: Values, comparisons: Comparisons) -> Values:
    """Return weighted means of known rates, shape (user,); NaN where there are none."""
    known = np.isfinite(rates)
    counted = np.where(known, weights, 0.0)
    total = np.bincount(comparisons.users, counted, minlength=comparisons.n_users)
    summed = np.bincount(comparisons.users, counted * np.where(known, rates, 0.0), minlength=comparisons.n_users)
    return np.asarray(np.divide(summed, total, out=np.full(comparisons.n_users, np.nan), where=total > 0))
