"""Support by counting: users who compared the same two items."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Codes, Values
from accordant.preferences.records import Comparisons
from accordant.preferences.support.rates import SupportRates, mean_by_user


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
